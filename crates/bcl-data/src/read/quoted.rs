//! CSV records with quotes, by the rules of RFC 4180. `csv-core` parses them, while [`Lines`](super::lines::Lines) reads and counts lines.
//! Records without quotes, which are nearly all, take a faster path.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

/// A record, fed line by line.
pub(super) struct QuotedRecord {
    reader: Reader,
    /// The fields without their quotes, concatenated.
    text: Vec<u8>,
    length: usize,
    /// The end of each field in `text`.
    ends: Vec<usize>,
    num_fields: usize,
}

impl QuotedRecord {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            // A carriage return within a line is text, as in records without quotes.
            reader: ReaderBuilder::new()
                .delimiter(delimiter)
                .terminator(Terminator::Any(b'\n'))
                .build(),
            text: Vec::new(),
            length: 0,
            ends: Vec::new(),
            num_fields: 0,
        }
    }

    /// Forgets the previous record.
    pub(super) fn clear(&mut self) {
        self.reader.reset();
        (self.length, self.num_fields) = (0, 0);
    }

    /// Adds a line, without its line break. Returns whether the record is complete; within quotes it continues on the next line.
    pub(super) fn feed(&mut self, line: &[u8]) -> bool {
        // For the parser, an empty input means the end of the file.
        if !line.is_empty() {
            self.read(line);
        }
        self.read(b"\n") == ReadRecordResult::Record
    }

    fn read(&mut self, input: &[u8]) -> ReadRecordResult {
        // Enough room for any output, so that one call consumes the whole input.
        self.text.resize(self.text.len().max(self.length + input.len() + 1), 0);
        self.ends.resize(self.ends.len().max(self.num_fields + input.len() + 1), 0);
        let (text, ends) = (&mut self.text[self.length..], &mut self.ends[self.num_fields..]);
        let (result, _, written, ended) = self.reader.read_record(input, text, ends);
        self.length += written;
        self.num_fields += ended;
        result
    }

    /// The fields, trimmed of spaces.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        // The input was UTF-8, and the parser removes only quotes and delimiters, which are whole characters.
        let text = std::str::from_utf8(&self.text[..self.length]).unwrap_or_default();
        let ends = &self.ends[..self.num_fields];
        let starts = [0].into_iter().chain(ends.iter().copied());
        starts.zip(ends).map(move |(start, &end)| {
            let field = text.get(start..end).unwrap_or_default();
            let trimmed = field.trim();
            // By the standard, quotes after a space are text, but whoever wrote them hardly meant that.
            match trimmed.strip_prefix('"').and_then(|field| field.strip_suffix('"')) {
                Some(inner) if field.starts_with(' ') => inner,
                _ => trimmed,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[&str]) -> Option<Vec<String>> {
        let mut record = QuotedRecord::new(b',');
        record.clear();
        let complete: Vec<bool> = lines.iter().map(|line| record.feed(line.as_bytes())).collect();
        let (last, before) = complete.split_last()?;
        assert!(before.iter().all(|complete| !complete), "{lines:?}");
        last.then(|| record.fields().map(str::to_owned).collect())
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_breaks() {
        let cases: [(&[&str], &[&str]); 6] = [
            (&["\"a, b\",c"], &["a, b", "c"]),
            (&["1,\"say \"\"hi\"\"\",3"], &["1", "say \"hi\"", "3"]),
            (&["\"a", "", "b\",2"], &["a\n\nb", "2"]),
            (&["\"\",5\" nails"], &["", "5\" nails"]),
            (&["1, \"b\" ,3"], &["1", "b", "3"]),
            (&["\"\"\"a\"\"\",b"], &["\"a\"", "b"]),
        ];
        for (lines, expected) in cases {
            assert_eq!(fields(lines).unwrap(), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_record_with_an_unclosed_quote_is_incomplete() {
        assert_eq!(fields(&["1,\"a", "2,b"]), None);
    }

    #[test]
    fn a_record_is_used_again() {
        let mut record = QuotedRecord::new(b',');
        for line in ["\"a,b,c\",d,e", "\"x\""] {
            record.clear();
            assert!(record.feed(line.as_bytes()));
        }
        assert_eq!(record.fields().collect::<Vec<_>>(), ["x"]);
    }
}
