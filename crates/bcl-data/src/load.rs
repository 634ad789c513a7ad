//! From files to an [`InteractionData`].

use crate::{DataError, InteractionData, ReadOptions, SplitOptions};
use std::path::PathBuf;

/// Where a data set lies.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Split by whoever published it.
    Split {
        /// What is learned from.
        train: PathBuf,
        /// What is held out.
        test: PathBuf,
    },
    /// One file, to be split here.
    Whole {
        /// All interactions.
        file: PathBuf,
        /// How to split them.
        split: SplitOptions,
    },
}

/// What was met on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Interactions in the files, before anything was left out.
    pub rows: usize,
    /// Those left out because their rating is below the threshold.
    pub below_min_rating: usize,
    /// Those left out because the same pair had come before.
    pub repeats: usize,
}

/// Reads a data set.
///
/// # Errors
/// If a file cannot be read or what it holds cannot be learned from.
pub fn load(
    name: &str,
    source: &Source,
    options: &ReadOptions,
) -> Result<InteractionData, DataError> {
    load_with_report(name, source, options).map(|(data, _)| data)
}

/// Reads a data set and tells what was left out.
///
/// # Errors
/// As [`load`].
pub fn load_with_report(
    name: &str,
    source: &Source,
    options: &ReadOptions,
) -> Result<(InteractionData, LoadReport), DataError> {
    let _ = (name, source, options);
    todo!()
}
