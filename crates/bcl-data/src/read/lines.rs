//! Reads numbered lines from a plain or gzipped text file.

use super::problem;
use super::quoted::{QuotedRecord, escapes_quotes};
use crate::DataError;
use crate::error::{CARRIAGE_RETURNS, LineLocation, excerpt};
use bcl_files::content::Content;
use bcl_files::input::{self, DecompressionBomb};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Maximum length of a line in bytes; fits one user with a million items with ids of ten digits.
const LONGEST_LINE: usize = 16 << 20;
/// The mark with which some programs begin text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes of text that are used to detect the format.
const HEAD: u64 = 1 << 16;

/// A file that is read line by line, in memory that does not grow with its size.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    gzipped: bool,
    head: Vec<u8>,
    number: u64,
    buffer: Vec<u8>,
    /// Parses lines with quotes, in formats where quotes have a meaning.
    quoted: Option<QuotedRecord>,
    /// Whether lines that are not UTF-8 are read as Latin-1.
    latin1: bool,
}

/// A line that is not blank. In CSV it is a record, which may span several lines in quotes.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(super) path: &'a Path,
    /// Line number; for a record, its first line's.
    pub(super) number: u64,
    pub(super) text: &'a str,
    /// The parsed record, if the line contains quotes.
    pub(super) quoted: Option<&'a QuotedRecord>,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let fail = |source| DataError::opening(path, &source);
        let mut file = BufReader::with_capacity(1 << 16, input::open(path).map_err(fail)?);
        let magic = file.fill_buf().map_err(fail)?;
        let gzipped = magic.starts_with(input::GZIP);
        let mut text: Box<dyn BufRead> = if gzipped {
            Box::new(BufReader::with_capacity(1 << 16, input::gunzip(file)))
        } else {
            Box::new(file)
        };

        let mut head = Vec::new();
        let read = text.by_ref().take(HEAD).read_to_end(&mut head);
        let mut lines = Self {
            path: path.to_path_buf(),
            reader: Box::new(Cursor::new(head.clone()).chain(text)),
            gzipped,
            head,
            number: 0,
            buffer: Vec::new(),
            quoted: None,
            latin1: false,
        };
        if let Err(source) = read {
            lines.number = lines.head.split(|&byte| byte == b'\n').count() as u64 - 1;
            return Err(lines.read_error(source));
        }
        if let Some(content) = Content::of(&lines.head) {
            return Err(DataError::file(path, content.to_string()));
        }
        if lines.head.trim_ascii_end().contains(&b'\r') && !lines.head.contains(&b'\n') {
            return Err(DataError::file(path, format!("the text {CARRIAGE_RETURNS}")));
        }
        Ok(lines)
    }

    /// The beginning of the text, cut off after a complete line.
    pub(super) fn head(&self) -> &[u8] {
        let whole = (self.head.len() as u64) < HEAD;
        match self.head.iter().rposition(|&byte| byte == b'\n') {
            Some(end) if !whole => &self.head[..end],
            _ => &self.head,
        }
    }

    /// The first lines that are not blank, as many as the beginning of the text contains, and at most `count`.
    pub(super) fn peek(&self, count: usize) -> Vec<String> {
        let head = String::from_utf8_lossy(self.head());
        let head = head.trim_start_matches('\u{feff}');
        head.lines()
            .filter(|line| !line.trim().is_empty())
            .take(count)
            .map(str::to_string)
            .collect()
    }

    /// Switches to CSV records: from here on, delimiters and line breaks within quotes are text.
    pub(super) fn unquote(&mut self, delimiter: u8) {
        let escapes = self
            .head()
            .split(|&byte| byte == b'\n')
            .any(|line| escapes_quotes(line, delimiter));
        self.quoted = Some(QuotedRecord::new(delimiter, escapes));
    }

    /// From here on, lines that are not UTF-8 are read as Latin-1, in which every byte is a character.
    pub(super) fn accept_latin1(&mut self) {
        self.latin1 = true;
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the last line read, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, DataError> {
        loop {
            self.buffer.clear();
            if !self.append()? {
                return Ok(None);
            }
            if self.number == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let number = self.number;
        self.check_characters()?;
        let has_quotes = self.quoted.is_some() && self.buffer.contains(&b'"');
        if has_quotes {
            self.take_apart()?;
        }
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| DataError::not_utf8(LineLocation::new(&self.path, number), error.valid_up_to() + 1))?;
        Ok(Some(Line {
            path: &self.path,
            number,
            text: text.trim_end_matches(['\n', '\r']),
            quoted: self.quoted.as_ref().filter(|_| has_quotes),
        }))
    }

    /// Refuses characters that would become an invisible part of an id.
    fn check_characters(&self) -> Result<(), DataError> {
        let line = self.buffer.as_slice();
        // Nearly all lines have neither byte; one pass without branches finds that out.
        if line
            .iter()
            .fold(true, |fine, &byte| fine && (byte != 0) && (byte != BYTE_ORDER_MARK[0]))
        {
            return Ok(());
        }
        let problem = if line.contains(&0) {
            "the line contains a zero byte, so the file is no text in UTF-8. Save it as UTF-8, or delete the zeros: `tr -d '\\000' < OLD > NEW`"
        } else if line.windows(BYTE_ORDER_MARK.len()).any(|bytes| bytes == BYTE_ORDER_MARK) {
            "the line contains a byte order mark, as the first line of another file does. If files were joined here, delete the mark and a \
             repeated header, or name the files one by one in `data.files`"
        } else {
            return Ok(());
        };
        Err(DataError::at(self.location(), problem))
    }

    /// Appends the next line with its line break to the buffer; returns false at the end of the file.
    fn append(&mut self) -> Result<bool, DataError> {
        let room = (LONGEST_LINE + 1).saturating_sub(self.buffer.len());
        let mut limited = self.reader.by_ref().take(room as u64);
        let length = match limited.read_until(b'\n', &mut self.buffer) {
            Ok(length) => length,
            Err(source) => return Err(self.read_error(source)),
        };
        if length == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.latin1 {
            self.decode_from(self.buffer.len() - length);
        }
        if self.buffer.len() > LONGEST_LINE {
            return Err(DataError::line_too_long(self.location(), LONGEST_LINE));
        }
        Ok(true)
    }

    /// Decodes the line that begins at `start` of the buffer from Latin-1, unless it is UTF-8. UTF-16, with its zeros, is left to fail.
    fn decode_from(&mut self, start: usize) {
        let line = &self.buffer[start..];
        if std::str::from_utf8(line).is_err() && !line.contains(&0) {
            let decoded: String = line.iter().map(|&byte| char::from(byte)).collect();
            self.buffer.truncate(start);
            self.buffer.extend_from_slice(decoded.as_bytes());
        }
    }

    /// Parses the record that begins with the line in the buffer, and reads further lines while it is within quotes.
    fn take_apart(&mut self) -> Result<(), DataError> {
        let Some(mut record) = self.quoted.take() else {
            return Ok(());
        };
        let at = self.location();
        record.clear();
        let mut fed = 0;
        loop {
            let line = &self.buffer[fed..];
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if record.is_escaped_otherwise(line) {
                let problem = "a backslash stands before a quote (\\\"), but not in the lines before";
                return Err(DataError::at(
                    at,
                    format!("{problem}. Write a quote within a field in quotes as \"\" in all lines"),
                ));
            }
            if record.feed(line) {
                break;
            }
            fed = self.buffer.len();
            match self.append() {
                Ok(true) => {}
                Err(error) if self.buffer.len() <= LONGEST_LINE => return Err(error),
                Ok(false) | Err(_) => {
                    let problem = "the quote (\") that opens here is never closed";
                    let remedy = "Close it, or write a quote within a field in quotes as \"\"";
                    return Err(DataError::at(at, format!("{problem}. {remedy}")));
                }
            }
        }
        self.quoted = Some(record);
        Ok(())
    }

    fn location(&self) -> LineLocation {
        LineLocation::new(&self.path, self.number)
    }

    fn read_error(&self, source: io::Error) -> DataError {
        if DecompressionBomb::of(&source).is_some() {
            return DataError::bomb(&self.path);
        }
        let damaged = |what: &str| DataError::at(self.location(), format!("the gzip file is {what}. Fetch or copy it again"));
        if self.gzipped && !self.head.is_empty() && has_other_data(&self.path) {
            let problem = "other data follow the end of the gzip data";
            let remedy = "Fetch or copy it again, or remove them: `gunzip < OLD | gzip > NEW`";
            return DataError::at(self.location(), format!("{problem}. {remedy}"));
        }
        match source.kind() {
            ErrorKind::UnexpectedEof if self.gzipped => damaged("truncated here"),
            ErrorKind::InvalidInput | ErrorKind::InvalidData if self.gzipped => damaged(&format!("damaged here ({source})")),
            ErrorKind::IsADirectory => DataError::is_folder(&self.path),
            _ => DataError::unreadable(&self.path, &source),
        }
    }
}

/// Whether bytes that are no gzip data follow the complete gzip data of a file that cannot be read to its end. Reading takes them for a header, so
/// that a few of them look like a truncated one; with more bytes behind, it is a wrong one. The first header of the file has been read already.
fn has_other_data(path: &Path) -> bool {
    /// As long as a header.
    const PADDING: &[u8] = &[0; 10];
    let Ok(file) = input::open(path) else { return false };
    let padded = BufReader::new(file.chain(PADDING));
    let end = io::copy(&mut input::gunzip(padded), &mut io::sink());
    // The text of `flate2` for a wrong header.
    end.is_err_and(|error| error.to_string() == "invalid gzip header")
}

impl Line<'_> {
    pub(crate) fn location(&self) -> LineLocation {
        LineLocation::new(self.path, self.number)
    }

    /// The line's number; for a record, its first line's.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Checks that `raw` is a valid id.
    pub(super) fn id<'r>(&self, field: &'static str, raw: &'r str) -> Result<&'r str, DataError> {
        if raw.is_empty() {
            return Err(self.bad_field(field, raw, problem::EMPTY));
        }
        if let Some(swallowed) = self.quoted.and_then(|record| record.swallowed_row(raw)) {
            let problem = format!(
                "the quote (\") that opens here makes {field} hold whole lines, such as `{}`",
                excerpt(swallowed)
            );
            let remedy = "Close it, or write a quote that is text as \"\" within a field in quotes";
            return Err(self.error(format!("{problem}. {remedy}")));
        }
        // Text ids may begin with a dash; only numbers count as negative.
        match raw.strip_prefix('-') {
            Some(rest) if rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
                Err(self.bad_field(field, raw, problem::NEGATIVE))
            }
            _ => Ok(raw),
        }
    }

    /// Parses `raw` as a finite number.
    pub(super) fn float(&self, field: &'static str, raw: &str) -> Result<f64, DataError> {
        match raw.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => Err(self.bad_field(field, raw, problem::NOT_FINITE)),
            Err(_) if raw.is_empty() => Err(self.bad_field(field, raw, problem::EMPTY)),
            Err(_) => self.decimal_comma(field, raw),
        }
    }

    /// Parses a number with a comma as decimal mark, as spreadsheets write it in most of Europe.
    fn decimal_comma(&self, field: &'static str, raw: &str) -> Result<f64, DataError> {
        let Some((whole, fraction)) = raw.split_once(',') else {
            return Err(self.bad_field(field, raw, problem::NOT_A_NUMBER));
        };
        let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = format!("{whole}.{fraction}").parse::<f64>();
        match number {
            Ok(number) if is_plain(fraction) && fraction.len() < 3 && is_plain(whole.trim_start_matches('-')) => Ok(number),
            _ => Err(self.bad_field(field, raw, problem::DECIMAL_COMMA)),
        }
    }

    /// The error for this line: what is wrong, and what to do about it.
    pub(crate) fn error(&self, problem: String) -> DataError {
        DataError::at(self.location(), problem)
    }

    pub(super) fn bad_field(&self, field: &str, raw: &str, problem: &str) -> DataError {
        self.error(format!("{field} `{}` {problem}", excerpt(raw)))
    }
}
