//! Loads files into an [`InteractionData`].

mod loader;
mod rows;

use crate::error::shown;
use crate::{DataError, InteractionData, KnownIds, LoadReport, ReadOptions, SplitOptions};
use loader::Loader;
use std::path::{Path, PathBuf};

/// The files of a data set.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Split by the publisher.
    Split {
        /// Training file.
        train: PathBuf,
        /// Test file.
        test: PathBuf,
    },
    /// Files that are split when they are loaded.
    Whole {
        /// The files, which together have all interactions. There must be at least one.
        files: Vec<PathBuf>,
        /// How to split them.
        split: SplitOptions,
    },
}

impl Source {
    /// One file, split when it is loaded.
    pub fn whole(file: impl Into<PathBuf>, split: SplitOptions) -> Self {
        Self::Whole {
            files: vec![file.into()],
            split,
        }
    }

    /// The files in the order in which they are read.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Self::Split { train, test } => vec![train, test],
            Self::Whole { files, .. } => files.iter().map(PathBuf::as_path).collect(),
        }
    }
}

/// Reads a data set.
///
/// # Errors
/// Returns an error if a file cannot be read or is of no use: a single user, no test items, or a test file that overlaps train.
///
/// ```
/// use bcl_data::{Format, ReadOptions, Source, SplitOptions, load};
///
/// let dir = tempfile::tempdir()?;
/// let file = dir.path().join("likes.csv");
/// std::fs::write(&file, "user,item\nann,tea\nann,milk\nann,bread\nbob,tea\nbob,jam\nbob,rice\n")?;
///
/// let source = Source::whole(file, SplitOptions::ratio(0.3, 0));
/// let data = load("likes", &source, &ReadOptions::default())?;
/// assert_eq!((data.train.len(), data.test.len()), (4, 2));
/// assert_eq!(data.users.get("bob"), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(name: &str, source: &Source, options: &ReadOptions) -> Result<InteractionData, DataError> {
    load_with_report(name, source, options).map(|(data, _)| data)
}

/// Reads a data set with the ids of an earlier load: files with the same interactions in any order give equal data.
///
/// # Errors
/// Returns the errors of [`load`].
///
/// ```
/// use bcl_data::{KnownIds, ReadOptions, Source, SplitOptions, load, load_with_ids};
///
/// let dir = tempfile::tempdir()?;
/// let read = |text: &str, ids: KnownIds| {
///     let file = dir.path().join("likes.csv");
///     std::fs::write(&file, text)?;
///     let source = Source::whole(file, SplitOptions::ratio(0.3, 0));
///     load_with_ids("likes", &source, &ReadOptions::default(), ids).map_err(std::io::Error::other)
/// };
/// let first = read("ann,tea\nann,milk\nann,bread\nbob,tea\nbob,jam\nbob,rice\n", KnownIds::default())?;
/// let ids = KnownIds { users: first.users.clone(), items: first.items.clone() };
/// let again = read("bob,rice\nbob,jam\nbob,tea\nann,bread\nann,milk\nann,tea\n", ids)?;
/// assert_eq!(first, again);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_with_ids(name: &str, source: &Source, options: &ReadOptions, ids: KnownIds) -> Result<InteractionData, DataError> {
    load_all(name, source, options, ids).map(|(data, _)| data)
}

/// Reads a data set and reports what was left out.
///
/// # Errors
/// Returns the errors of [`load`].
pub fn load_with_report(name: &str, source: &Source, options: &ReadOptions) -> Result<(InteractionData, LoadReport), DataError> {
    load_all(name, source, options, KnownIds::default())
}

/// Reads a data set; new ids are numbered after the known ones.
pub(crate) fn load_all(
    name: &str,
    source: &Source,
    options: &ReadOptions,
    KnownIds { users, items }: KnownIds,
) -> Result<(InteractionData, LoadReport), DataError> {
    check_options(source, options)?;
    let mut loader = Loader::new(users, items);
    let (train, test, hold_out) = match source {
        Source::Split { train, test } => loader.split(train, test, options)?,
        Source::Whole { files, split } => loader.whole(files, *split, options)?,
    };
    loader.report.add_untrained(&train, &test);
    let report = loader.report;
    let data = InteractionData {
        name: name.to_string(),
        train,
        test,
        users: loader.users,
        items: loader.items,
        truth: None,
        report,
        hold_out,
    };
    Ok((data, report))
}

fn check_options(source: &Source, options: &ReadOptions) -> Result<(), DataError> {
    options.columns.check()?;
    options.core.check()?;
    match source {
        Source::Whole { split, .. } => split.check()?,
        Source::Split { .. } => {
            if let Some((name, _)) = options.core.named().next() {
                let problem = "only works with data.file or data.files, which are not split yet; remove it";
                return Err(DataError::setting(name, problem));
            }
        }
    }
    match options.min_rating {
        Some(value) if !value.is_finite() => Err(DataError::out_of_range("data.min_rating", shown(value), "(-inf, inf)")),
        _ => Ok(()),
    }
}
