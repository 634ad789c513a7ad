//! CSV records with quotes, by the rules of RFC 4180, or with a backslash before quotes within quotes. `csv-core` parses them, while [`Lines`](super::lines::Lines) reads and counts lines.
//! Records without quotes, which are nearly all, take a faster path.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

/// A record, fed line by line.
pub(super) struct QuotedRecord {
    reader: Reader,
    delimiter: u8,
    /// Whether a backslash before a quote makes it text.
    escapes: bool,
    /// The fields without their quotes, concatenated.
    text: Vec<u8>,
    length: usize,
    /// The end of each field in `text`.
    ends: Vec<usize>,
    num_fields: usize,
}

impl QuotedRecord {
    pub(super) fn new(delimiter: u8, escapes: bool) -> Self {
        Self {
            // A carriage return within a line is text, as in records without quotes.
            reader: ReaderBuilder::new()
                .delimiter(delimiter)
                .escape(escapes.then_some(b'\\'))
                .terminator(Terminator::Any(b'\n'))
                .build(),
            delimiter,
            escapes,
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

    /// Whether a line has a backslash before a quote, though this file's quotes are doubled.
    pub(super) fn is_escaped_otherwise(&self, line: &[u8]) -> bool {
        !self.escapes && escapes_quotes(line, self.delimiter)
    }

    /// A line after the first of `field`, a field of the record, that contains the delimiter: the quote before it holds rows of the file.
    pub(super) fn swallowed_row<'f>(&self, field: &'f str) -> Option<&'f str> {
        field.lines().skip(1).find(|line| line.contains(char::from(self.delimiter)))
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

/// Whether a backslash makes a quote of the line text: within a field in quotes, the quote after it neither ends the field nor is doubled.
pub(super) fn escapes_quotes(line: &[u8], delimiter: u8) -> bool {
    // Few lines get past this.
    if !line.windows(2).any(|pair| pair == b"\\\"") {
        return false;
    }
    let is_end = |next: Option<&u8>| next.is_none_or(|&byte| byte == delimiter || byte == b'\r');
    let mut in_quotes = false;
    let mut at_start = true;
    let mut index = 0;
    while let Some(&byte) = line.get(index) {
        let next = line.get(index + 1);
        match byte {
            b'"' if in_quotes && next == Some(&b'"') => index += 1,
            b'"' if in_quotes => in_quotes = false,
            b'"' if at_start => in_quotes = true,
            b'\\' if in_quotes && next == Some(&b'\\') => index += 1,
            b'\\' if in_quotes && next == Some(&b'"') && !is_end(line.get(index + 2)) => {
                // `\""` is a backslash and a doubled quote, unless the second quote ends the field.
                return line.get(index + 2) != Some(&b'"') || is_end(line.get(index + 3));
            }
            _ => {}
        }
        at_start = !in_quotes && (byte == delimiter || at_start && byte == b' ');
        index += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[&str]) -> Option<Vec<String>> {
        let mut record = QuotedRecord::new(b',', false);
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
        let mut record = QuotedRecord::new(b',', false);
        for line in ["\"a,b,c\",d,e", "\"x\""] {
            record.clear();
            assert!(record.feed(line.as_bytes()));
        }
        assert_eq!(record.fields().collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn backslashes_escape_quotes_in_files_that_use_them_so() {
        for (line, expected) in [
            (r#""Clara \"Cal\" Callan";1"#, true),
            (r#"1;"say \"hi\"""#, true),
            (r#""a\"";1"#, true),
            (r#""C:\";1"#, false),
            (r#""C:\""#, false),
            (r#""a \""b"" c";1"#, false),
            (r#""Caf\\";1"#, false),
            (r#"5\" nails;1"#, false),
            (r#""plain";"text""#, false),
        ] {
            assert_eq!(escapes_quotes(line.as_bytes(), b';'), expected, "{line}");
        }
        let mut record = QuotedRecord::new(b';', true);
        record.clear();
        assert!(record.feed(br#""Clara \"Cal\" Callan";"Caf\\";7"#));
        assert_eq!(record.fields().collect::<Vec<_>>(), [r#"Clara "Cal" Callan"#, "Caf\\", "7"]);
    }

    #[test]
    fn rows_within_quotes_are_noticed() {
        let record = QuotedRecord::new(b',', false);
        assert_eq!(record.swallowed_row("Heroes\n2,jam\n3,"), Some("2,jam"));
        assert_eq!(record.swallowed_row("two\nlines"), None);
        assert_eq!(record.swallowed_row("a, b\nlines"), None);
    }
}
