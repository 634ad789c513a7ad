//! What can go wrong when runs are read or a report is written.

use crate::files::FileError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a report could not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder holds no result.
    #[error(
        "{}: there is no result.json, so this is not the folder of a finished run; give a folder like runs/NAME-SEED or one with \
         such folders in it, or finish the run with --resume",
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
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file could not be written, or is not the one that was written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file is not what a run writes.
    #[error("{}:{line}: {message}; the file was changed or cut short, run the recipe again", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// The layout of a result is of another version of the program.
    #[error(
        "{}: schema is {found}, but this program reads {supported}; use the version of the program that wrote it ({version})",
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
