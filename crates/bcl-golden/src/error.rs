//! Errors in files of reference values.

use std::path::{Path, PathBuf};

/// Why a file of reference values cannot be used. The message names the file, the case and what is expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Something in the file is missing or wrong.
    #[error("{}: {case}: {problem}", path.display())]
    IllFormed {
        /// The file.
        path: PathBuf,
        /// The case, row or array.
        case: String,
        /// What is wrong, and what is expected.
        problem: String,
    },
}

impl GoldenError {
    pub(crate) fn ill_formed(path: &Path, case: impl Into<String>, problem: impl ToString) -> Self {
        Self::IllFormed {
            path: path.to_owned(),
            case: case.into(),
            problem: problem.to_string(),
        }
    }
}
