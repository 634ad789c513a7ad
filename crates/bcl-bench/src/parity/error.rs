//! Errors in files of reference values.

use std::path::{Path, PathBuf};

/// Why a file of reference values cannot be used. The message names the place and what is expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParityError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Something in the file is missing or wrong.
    #[error("{}: {place}: {problem}", path.display())]
    IllFormed {
        /// The file.
        path: PathBuf,
        /// The case, row or array.
        place: String,
        /// What is wrong, and what is expected.
        problem: String,
    },
}

impl ParityError {
    pub(crate) fn ill_formed(path: &Path, place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::IllFormed {
            path: path.to_owned(),
            place: place.into(),
            problem: problem.into(),
        }
    }
}
