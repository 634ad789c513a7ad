//! Reads the lines of a file of numbers.

use super::files::{PackedFile, reading};
use crate::DataError;
use crate::error::{LineLocation, excerpt};
use bcl_files::input;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Maximum length of a line in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// No value between two commas, or at the end of a line.
const EMPTY: &str = "is empty. Fill it in";
/// Something else where an integer is needed.
pub(super) const NOT_AN_INTEGER: &str =
    "is not an integer. Correct it; ids and labels are integers, and real numbers belong in `_node_attributes.txt`";
/// A graph label that is a real number.
pub(super) const NOT_A_CLASS: &str =
    "is not an integer. Classes are integers; a data set with real numbers here is for regression and has no classes";
/// Text where a number is needed.
const NOT_A_NUMBER: &str = "is not a number. Correct it";
/// NaN, infinite, or too large for 32 bits.
const NOT_FINITE: &str = "is not a finite 32-bit number. Replace it by a finite one";

/// The lines of a file.
pub(super) struct Rows<'a> {
    at: PathBuf,
    reader: Box<dyn BufRead + 'a>,
    line: u64,
    buffer: Vec<u8>,
    /// What the lines stand for, in the plural.
    unit: &'static str,
}

/// A line that is not blank.
pub(super) struct Row<'a> {
    path: &'a Path,
    line: u64,
    pub(super) text: &'a str,
}

impl<'a> Rows<'a> {
    pub(super) fn open(file: PackedFile<'a>, unit: &'static str) -> Result<Self, DataError> {
        let PackedFile { at, content } = file;
        let mut reader = BufReader::with_capacity(1 << 16, content);
        let magic = reader.fill_buf().map_err(|error| reading(&at, error))?;
        let reader: Box<dyn BufRead> = if magic.starts_with(&[0x1f, 0x8b]) {
            Box::new(BufReader::with_capacity(1 << 16, input::gunzip(reader)))
        } else {
            Box::new(reader)
        };
        Ok(Self {
            at,
            reader,
            line: 0,
            buffer: Vec::new(),
            unit,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.at
    }

    /// Reads the next line. Blank lines are allowed at the end only: elsewhere they would shift all values after them.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>, DataError> {
        let mut blank = None;
        loop {
            if !self.fill()? {
                return Ok(None);
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
            blank.get_or_insert(self.line);
        }
        if let Some(line) = blank {
            let what = format!("the line is blank, so values after it would belong to other {}", self.unit);
            let at = LineLocation::new(&self.at, line);
            return Err(DataError::at(at, format!("{what}. Fill it in or delete it")));
        }
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| DataError::not_utf8(LineLocation::new(&self.at, self.line), error.valid_up_to() + 1))?;
        Ok(Some(Row {
            path: &self.at,
            line: self.line,
            text: text.trim(),
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
            return Err(DataError::line_too_long(LineLocation::new(&self.at, self.line), LONGEST_LINE));
        }
        if self.line == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        Ok(true)
    }
}

impl Row<'_> {
    /// The values of the line.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.text.split(',').map(str::trim)
    }

    /// Parses one integer per field.
    pub(super) fn integers<const N: usize>(&self, fields: [&'static str; N], problem: &str) -> Result<[i64; N], DataError> {
        let mut integers = [0; N];
        let mut found = 0;
        for value in self.values() {
            if let Some(field) = fields.get(found) {
                integers[found] = value.parse().map_err(|_| self.bad_value(field, value, problem))?;
            }
            found += 1;
        }
        if found == N {
            Ok(integers)
        } else {
            Err(self.value_count(&format!("{N}: {}", fields.join(" and ")), found))
        }
    }

    /// Parses a finite number.
    pub(super) fn number(&self, field: &'static str, value: &str) -> Result<f32, DataError> {
        match value.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.bad_value(field, value, NOT_FINITE)),
            Err(_) => Err(self.bad_value(field, value, NOT_A_NUMBER)),
        }
    }

    pub(super) fn value_count(&self, expected: &str, found: usize) -> DataError {
        let what = format!(
            "{found} value(s) in `{}`, but each line must have {expected}",
            excerpt(self.text)
        );
        DataError::at(self.location(), format!("{what}, separated by commas. Correct the line"))
    }

    fn bad_value(&self, field: &str, value: &str, problem: &str) -> DataError {
        let problem = if value.is_empty() { EMPTY } else { problem };
        DataError::at(self.location(), format!("{field} `{}` {problem}", excerpt(value)))
    }

    fn location(&self) -> LineLocation {
        LineLocation::new(self.path, self.line)
    }
}
