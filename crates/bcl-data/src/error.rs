//! Everything that data from outside can do wrong.
//!
//! One test holds the texts together: each names the file, the line where there is one, the value, and the remedy.

use std::path::PathBuf;

/// Why data cannot be used: what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file cannot be opened or read.
    #[error("{}: cannot be read: {source}. Check the path and the permissions.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A setting is out of range.
    #[error("{name} is {value}, but must lie in {range}")]
    OutOfRange {
        /// The setting, as in recipes.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        range: String,
    },
}
