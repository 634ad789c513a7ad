//! Reads the lines of a file of numbers.

use super::files::{PackedFile, reading};
use crate::DataError;
use crate::error::{CARRIAGE_RETURNS, LineLocation, excerpt};
use bcl_files::content::{Content, HEAD};
use bcl_files::input;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Maximum length of a line in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// The mark with which some programs begin text in UTF-8; files that were joined have it in the middle, too.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Up to here, every integer is a floating-point number.
const LARGEST_EXACT: f64 = (1_u64 << 53) as f64;

/// What is wrong with a value, and what to do about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem(&'static str, &'static str);

/// No value between two separators.
const EMPTY: Problem = Problem("is empty", "Fill it in");
/// Something else where an integer is needed.
pub(super) const NOT_AN_INTEGER: Problem = Problem(
    "is not an integer",
    "Correct it; ids and labels are integers, and real numbers belong in `_node_attributes.txt`",
);
/// A graph label that is text or a real number.
pub(super) const NOT_A_CLASS: Problem = Problem(
    "is not an integer",
    "Number the classes, such as 0 and 1; real numbers, as for regression, are no classes: remove the file to train without evaluation",
);
/// Text where a number is needed.
const NOT_A_NUMBER: Problem = Problem("is not a number", "Correct it; decimals have a point");
/// NaN, infinite, or too large for 32 bits.
const NOT_FINITE: Problem = Problem("is not a finite 32-bit number", "Replace it by a finite one");
/// The remedy for a line with too few or too many values.
pub(super) const CORRECT: &str = "Correct the line";
/// The remedy for text in the first line.
const HEADER: &str = "Delete the line if it is a header, or correct it";

/// The lines of a file.
pub(super) struct Rows<'a> {
    at: PathBuf,
    reader: Box<dyn BufRead + 'a>,
    line: u64,
    /// Number of lines at the top that are comments.
    comments: u64,
    buffer: Vec<u8>,
    /// What the lines stand for, in the plural.
    unit: &'static str,
}

/// A line that is not blank.
pub(super) struct Row<'a> {
    path: &'a Path,
    line: u64,
    is_first: bool,
    pub(super) text: &'a str,
}

impl<'a> Rows<'a> {
    pub(super) fn open(file: PackedFile<'a>, unit: &'static str) -> Result<Self, DataError> {
        let PackedFile { at, content } = file;
        let mut reader = unpacked(&at, content)?;
        let head = head(&at, &mut reader)?;
        if let Some(content) = Content::of(&head) {
            return Err(not_text(&at, content));
        }
        Ok(Self {
            at,
            reader: Box::new(Cursor::new(head).chain(reader)),
            line: 0,
            comments: 0,
            buffer: Vec::new(),
            unit,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.at
    }

    /// The line of the first row.
    pub(super) fn first_line(&self) -> u64 {
        self.comments + 1
    }

    /// Reads the next line. Comments are allowed at the top only, and blank lines at the end only: elsewhere they would shift all values
    /// after them.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>, DataError> {
        let mut blank = None;
        loop {
            if !self.fill()? {
                return Ok(None);
            }
            match self.buffer.trim_ascii().first() {
                None => drop(blank.get_or_insert(self.line)),
                Some(b'#' | b'%') if self.line == self.first_line() => self.comments += 1,
                Some(b'#' | b'%') => {
                    return Err(self.problem("is a comment, which may only stand at the top. Delete it or move it there"));
                }
                Some(_) => break,
            }
        }
        if let Some(line) = blank {
            let what = format!("the line is blank, so values after it would belong to other {}", self.unit);
            let at = LineLocation::new(&self.at, line);
            return Err(DataError::at(at, format!("{what}. Fill it in or delete it")));
        }
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| DataError::not_utf8(LineLocation::new(&self.at, self.line), error.valid_up_to() + 1))?;
        let text = text.trim();
        if text.contains('\r') {
            return Err(self.old_line_ends());
        }
        Ok(Some(Row {
            path: &self.at,
            line: self.line,
            is_first: self.line == self.first_line(),
            text,
        }))
    }

    /// Reads a line into the buffer; returns false at the end of the file.
    fn fill(&mut self) -> Result<bool, DataError> {
        self.buffer.clear();
        let mut limited = self.reader.by_ref().take(LONGEST_LINE as u64 + 1);
        let read = limited.read_until(b'\n', &mut self.buffer);
        let length = read.map_err(|error| reading(&self.at, error))?;
        if length == 0 {
            return Ok(false);
        }
        self.line += 1;
        if length > LONGEST_LINE {
            return Err(if self.buffer.contains(&b'\r') {
                self.old_line_ends()
            } else {
                DataError::line_too_long(LineLocation::new(&self.at, self.line), LONGEST_LINE)
            });
        }
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(true)
    }

    fn old_line_ends(&self) -> DataError {
        self.problem(CARRIAGE_RETURNS)
    }

    fn problem(&self, what: &str) -> DataError {
        DataError::at(LineLocation::new(&self.at, self.line), format!("the line {what}"))
    }
}

/// Unpacks a file that is packed with gzip.
fn unpacked<'a>(at: &Path, content: &'a mut dyn Read) -> Result<Box<dyn BufRead + 'a>, DataError> {
    let mut reader = BufReader::with_capacity(1 << 16, content);
    let magic = reader.fill_buf().map_err(|error| reading(at, error))?;
    Ok(if magic.starts_with(input::GZIP) {
        Box::new(BufReader::with_capacity(1 << 16, input::gunzip(reader)))
    } else {
        Box::new(reader)
    })
}

/// The first bytes of a file, which [`Content`] recognises.
fn head(at: &Path, reader: &mut dyn BufRead) -> Result<Vec<u8>, DataError> {
    let mut head = Vec::new();
    let read = reader.take(HEAD as u64).read_to_end(&mut head);
    read.map(|_| head).map_err(|error| reading(at, error))
}

/// Refuses a file called, for example, `NAME_A.csv` or `NAME_A.txt.bz2`, which stands in place of the file `name`.
pub(super) fn misnamed(file: PackedFile, name: &str) -> DataError {
    let PackedFile { at, content } = file;
    let head = unpacked(&at, content).and_then(|mut reader| head(&at, &mut reader));
    match head.map(|head| Content::of(&head)) {
        Err(error) => error,
        Ok(Some(content)) => DataError::file(&at, refusal(content, name)),
        Ok(None) => DataError::file(&at, format!("is not read under this name. Call it `{name}`, or remove it")),
    }
}

/// Refuses a file that is not text in UTF-8.
fn not_text(at: &Path, content: Content) -> DataError {
    let name = at.file_name().unwrap_or_default().to_string_lossy();
    DataError::file(at, refusal(content, name.strip_suffix(".gz").unwrap_or(&name)))
}

fn refusal(content: Content, name: &str) -> String {
    let remedy = content
        .general_remedy()
        .unwrap_or("Write it as text, with one row per line and commas between values");
    format!("{}. {remedy}; the text belongs in `{name}`", content.what())
}

impl Row<'_> {
    /// The values of the line, separated by semicolons; if there are none, by commas; by tabs; or else by blanks. A separator at the end
    /// separates nothing.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        let separator = [';', ',', '\t'].into_iter().find(|&separator| self.text.contains(separator));
        let text = separator.map_or(self.text, |separator| self.text.strip_suffix(separator).unwrap_or(self.text));
        let is_separator = move |character: char| separator.map_or(character.is_whitespace(), |separator| character == separator);
        let values = text.split(is_separator).map(str::trim);
        // Several blanks are one separator.
        values.filter(move |value| separator.is_some() || !value.is_empty())
    }

    /// Parses one integer per field. `surplus` is the remedy for more values.
    pub(super) fn integers<const N: usize>(
        &self,
        fields: [&'static str; N],
        problem: Problem,
        surplus: &str,
    ) -> Result<[i64; N], DataError> {
        let mut integers = [0; N];
        let mut found = 0;
        for value in self.values() {
            if let Some(field) = fields.get(found) {
                integers[found] = self.integer(field, value, problem)?;
            }
            found += 1;
        }
        if found == N {
            return Ok(integers);
        }
        let remedy = if found > N { surplus } else { CORRECT };
        Err(self.value_count(&format!("{N}: {}", fields.join(" and ")), found, remedy))
    }

    /// Parses an integer, which may be written as `1.0`.
    pub(super) fn integer(&self, field: &'static str, value: &str, problem: Problem) -> Result<i64, DataError> {
        let of_float = || {
            let number: f64 = value.parse().ok()?;
            (number.fract() == 0.0 && number.abs() <= LARGEST_EXACT).then_some(number as i64)
        };
        let integer = value.parse().ok().or_else(of_float);
        integer.ok_or_else(|| self.bad_value(field, value, problem))
    }

    /// Parses a finite number.
    pub(super) fn number(&self, field: &'static str, value: &str) -> Result<f32, DataError> {
        match value.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.bad_value(field, value, NOT_FINITE)),
            Err(_) => Err(self.bad_value(field, value, NOT_A_NUMBER)),
        }
    }

    pub(super) fn value_count(&self, expected: &str, found: usize, remedy: &str) -> DataError {
        let what = format!(
            "{found} value(s) in `{}`, but each line must have {expected}",
            excerpt(self.text)
        );
        let problem = format!("{what}, separated by commas or blanks. {remedy}");
        DataError::at(self.location(), problem)
    }

    fn bad_value(&self, field: &str, value: &str, problem: Problem) -> DataError {
        let Problem(what, remedy) = if value.is_empty() { EMPTY } else { problem };
        let is_text = value.starts_with(char::is_alphabetic) && value.parse::<f64>().is_err();
        let remedy = if self.is_first && is_text { HEADER } else { remedy };
        DataError::at(self.location(), format!("{field} `{}` {what}. {remedy}", excerpt(value)))
    }

    fn location(&self) -> LineLocation {
        LineLocation::new(self.path, self.line)
    }
}
