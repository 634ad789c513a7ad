//! Errors of reading runs and writing reports.

use bcl_files::FileError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error while reading runs or writing a report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder has no `result.json`.
    #[error(
        "{}: no result.json, so this is not the folder of a finished run; pass a run folder such as runs/NAME-SEED, a folder that \
         contains run folders, or finish the run with --resume",
        path.display()
    )]
    NotFinished {
        /// The folder.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A file could not be written, or does not match its checksum.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file does not have the format that a run writes.
    #[error("{}:{line}: {message}; the file was edited or truncated: run the recipe again", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The 1-based line.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A result has the schema of another version of the program.
    #[error(
        "{}: schema is {found}, but this program reads {supported}; use the version that wrote the file ({version})",
        path.display()
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The version this program reads.
        supported: u32,
        /// The program that wrote the file.
        version: String,
    },
}

impl ReportError {
    /// A JSON error at a line of a file.
    ///
    /// Replaces serde's line number, which is always 1 within a line of JSON Lines, by `line`.
    pub(crate) fn malformed(path: &Path, line: usize, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let message = text
            .split_once(" at line ")
            .map_or(text.clone(), |(message, _)| format!("{message} (column {})", error.column()));
        Self::Malformed {
            path: path.to_owned(),
            line,
            message,
        }
    }
}
