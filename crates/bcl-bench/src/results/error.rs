//! Errors in files of results.

use super::Kind;
use std::{io, path::PathBuf};

/// What is wrong with a file of results, or with two of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum ResultsError {
    #[error("cannot read {path}: {error}", path = path.display())]
    Unreadable { path: PathBuf, error: io::Error },

    #[error("{path} is empty, because its measurement has not finished; measure again", path = path.display())]
    Empty { path: PathBuf },

    #[error("{path} ends in line {line}, in the middle of a value: it was cut off; measure again", path = path.display())]
    Truncated { path: PathBuf, line: usize },

    #[error("{path} is not JSON: {error}", path = path.display())]
    NotJson { path: PathBuf, error: serde_json::Error },

    #[error("{path} is not a file of {kind}: {error}; measure again, or move it elsewhere", path = path.display())]
    Foreign {
        path: PathBuf,
        kind: Kind,
        error: serde_json::Error,
    },

    #[error("{path}: the time of {name} is {seconds} s, which is impossible; measure again", path = path.display())]
    Impossible { path: PathBuf, name: String, seconds: f64 },

    #[error("{path} contains no measurements", path = path.display())]
    NoCases { path: PathBuf },

    #[error("{folder} has no result called {name}; {remedy}", folder = folder.display())]
    NotSaved { folder: PathBuf, name: String, remedy: String },

    #[error(
        "{name} is {} in {}, but {} in {}: they measured different things",
        values[0], paths[0].display(), values[1], paths[1].display()
    )]
    OtherSetting {
        paths: [PathBuf; 2],
        name: String,
        values: [String; 2],
    },

    #[error("{} and {} have no measurement in common", paths[0].display(), paths[1].display())]
    NothingShared { paths: [PathBuf; 2] },
}
