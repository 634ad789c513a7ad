//! Errors of data from outside.
//!
//! Each message says where (`file:line`), what (field and value), and what to do about it; `tests/bad_input.rs` checks that.

use crate::{Format, search_path::FileNotFound};
use bcl_files::archive::ArchiveError;
use bcl_files::input::{DecompressionBomb, NotRegular};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// What is wrong with a text that has no other line ends, and the remedy.
pub(crate) const CARRIAGE_RETURNS: &str =
    "contains carriage returns, with which lines ended on old Macs. Convert the file: `tr '\\r' '\\n' < OLD > NEW`";

/// A line of a file, shown as `file:line`; a row in formats without lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLocation {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 for the file as a whole. If the file is compressed, a line of the unpacked text.
    pub line: u64,
}

impl fmt::Display for LineLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.line {
            0 => write!(f, "{path}"),
            line => write!(f, "{path}:{line}"),
        }
    }
}

impl LineLocation {
    pub(crate) fn new(path: &Path, line: u64) -> Self {
        Self {
            path: path.to_path_buf(),
            line,
        }
    }
}

/// Why data cannot be used: what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file, or a line of it, cannot be used.
    #[error("{at}: {problem}.")]
    File {
        /// The file or line.
        at: LineLocation,
        /// What is wrong, and what to do about it.
        problem: String,
    },

    /// A file that a recipe names is in none of the folders searched.
    #[error(transparent)]
    NotFound(#[from] Box<FileNotFound>),

    /// A header or a JSON object lacks a column.
    #[error("{at}: {problem}.")]
    MissingColumn {
        /// The header's line.
        at: LineLocation,
        /// The missing column, the file's columns, and what to do.
        problem: String,
    },

    /// A rating threshold is set, but the file has no ratings.
    #[error(
        "{at}: min_rating is {min_rating}, but the file, read as {format}, has no ratings. Remove `min_rating` or use a file with ratings."
    )]
    NoRatings {
        /// The first line without a rating.
        at: LineLocation,
        /// How the file is read.
        format: Format,
        /// The threshold.
        min_rating: f64,
    },

    /// The files of a data set are not in the folders searched.
    #[error("data set `{name}` is not in {problem}")]
    MissingDataset {
        /// The data set.
        name: String,
        /// Where it was searched, and how to get it.
        problem: String,
    },

    /// A data set is unknown, or does not contain what is needed.
    #[error("{0}.")]
    Dataset(String),

    /// A setting is out of range, or contradicts others.
    #[error("{name} {problem}.{remedy}")]
    Setting {
        /// The setting, as in recipes.
        name: String,
        /// What is wrong.
        problem: String,
        /// What to do about it, if the problem does not say so.
        remedy: String,
    },
}

impl DataError {
    /// A line that cannot be used.
    pub(crate) fn at(at: LineLocation, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self::File { at, problem }
    }

    /// A file that cannot be used: what is wrong, and what to do about it.
    pub fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::at(LineLocation::new(path, 0), problem)
    }

    /// A file that the system cannot open or read.
    pub fn unreadable(path: &Path, source: &io::Error) -> Self {
        Self::file(path, format!("cannot be read: {source}. Check its permissions and the disk"))
    }

    /// The error for a file that cannot be opened.
    pub(crate) fn opening(path: &Path, source: &io::Error) -> Self {
        match (source.kind(), NotRegular::of(source)) {
            (io::ErrorKind::NotFound, _) => Self::file(path, "no such file. Check the path"),
            (io::ErrorKind::IsADirectory, _) => Self::is_folder(path),
            (_, Some(NotRegular { found })) => {
                let remedy = "Save its content to a file and pass that file: data are read again when a run is resumed";
                Self::file(path, format!("is {found}, not a file. {remedy}"))
            }
            _ => Self::unreadable(path, source),
        }
    }

    pub(crate) fn is_folder(path: &Path) -> Self {
        Self::file(path, "is a folder. Name the file in it that contains the interactions")
    }

    pub(crate) fn bomb(path: &Path) -> Self {
        Self::file(path, DecompressionBomb.to_string())
    }

    /// A line that is not UTF-8 from byte `column` on, counted from 1.
    pub(crate) fn not_utf8(at: LineLocation, column: usize) -> Self {
        let remedy = "Convert the file, for example with `iconv -f LATIN1 -t UTF-8`";
        Self::at(at, format!("byte {column} of the line is not UTF-8. {remedy}"))
    }

    /// A line of more than `limit` bytes.
    pub(crate) fn line_too_long(at: LineLocation, limit: usize) -> Self {
        let remedy = "Check that this is a text file with one row or user per line";
        Self::at(at, format!("the line is longer than {} MiB. {remedy}", limit >> 20))
    }

    /// A setting that contradicts others; `problem` ends with the remedy.
    pub(crate) fn setting(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Setting {
            name: name.into(),
            problem: problem.into(),
            remedy: String::new(),
        }
    }

    /// A setting out of range.
    pub(crate) fn out_of_range(name: impl Into<String>, value: impl fmt::Display, range: &str) -> Self {
        let name = name.into();
        Self::Setting {
            problem: format!("is {value}, but must be in {range}"),
            remedy: format!(" Change it in the recipe or with `--set {name}=…`."),
            name,
        }
    }

    /// A count of a data set that differs from its manifest.
    pub fn wrong_count(path: &Path, name: &str, found: usize, what: &str, expected: usize) -> Self {
        Self::file(
            path,
            format!(
                "data set `{name}` has {found} {what}, but must have {expected}. The file is incomplete or another version: fetch it \
                 again, or name the files in the recipe to use them as they are"
            ),
        )
    }
}

impl From<ArchiveError> for DataError {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Io { at, source } => Self::opening(&at.as_path(), &source),
            ArchiveError::Bomb { at } => Self::bomb(&at.as_path()),
            ArchiveError::Unusable { at, what, remedy } => Self::file(&at.as_path(), format!("{what}. {remedy}")),
        }
    }
}

/// Formats a number of a recipe; very large and very small ones get an exponent instead of hundreds of digits.
pub(crate) fn shown(value: f64) -> String {
    if value.is_finite() && value != 0.0 && !(1e-4..1e15).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Shortens text from a file, to keep errors readable.
pub(crate) fn excerpt(text: &str) -> String {
    bcl_files::excerpt(text, 60)
}
