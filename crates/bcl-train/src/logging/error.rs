//! Errors of loggers.

use bcl_files::FileError;
use std::fmt::Display;

/// Why a logger could not log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoggerError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Any other reason.
    #[error("{logger}: {reason}")]
    Other {
        /// The name of the logger.
        logger: String,
        /// What went wrong.
        reason: String,
    },
}

impl LoggerError {
    /// An error of a logger that writes no files.
    pub fn other(logger: impl Into<String>, reason: impl Display) -> Self {
        Self::Other {
            logger: logger.into(),
            reason: reason.to_string(),
        }
    }
}
