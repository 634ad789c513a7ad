//! What can be wrong with a file of reference values.

use std::path::{Path, PathBuf};

/// A file of reference values that cannot be used, with the place and the remedy in its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParityError {
    /// The file cannot be read at all.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file can be read, but something in it is missing or wrong.
    #[error("{}: {place}: {problem}", path.display())]
    IllFormed {
        /// The file.
        path: PathBuf,
        /// Which case, row or array.
        place: String,
        /// What is wrong, and what would be right.
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
