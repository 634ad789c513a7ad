//! Loads files into an [`InteractionData`].

use crate::error::shown;
use crate::read::{FileReport, read};
use crate::{DataError, IdMap, InteractionData, Interactions, KnownIds, ReadOptions, Seed, SplitOptions, split_per_user};
use std::collections::HashSet;
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
    /// One file, split when it is loaded.
    Whole {
        /// File with all interactions.
        file: PathBuf,
        /// How to split them.
        split: SplitOptions,
    },
}

/// Counts of what a load read and left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Interactions in the files.
    pub rows: usize,
    /// Interactions left out because their rating is below the threshold.
    pub below_min_rating: usize,
    /// Interactions left out because the same pair occurred before in the same file.
    pub repeats: usize,
    /// Test users without a training interaction; nothing can be learned about them.
    pub untrained_users: usize,
    /// Test items without a training interaction.
    pub untrained_items: usize,
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
/// let source = Source::Whole { file, split: SplitOptions { test_ratio: 0.3, seed: 0 } };
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
///     let source = Source::Whole { file, split: SplitOptions { test_ratio: 0.3, seed: 0 } };
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
    let mut loader = Loader {
        users,
        items,
        report: LoadReport::default(),
    };
    let (train, test) = match source {
        Source::Split { train, test } => loader.split(train, test, options)?,
        Source::Whole { file, split } => loader.whole(file, *split, options)?,
    };

    let mut report = loader.report;
    (report.untrained_users, report.untrained_items) = untrained(&train);
    let data = InteractionData {
        name: name.to_string(),
        train,
        test,
        users: loader.users,
        items: loader.items,
        truth: None,
    };
    Ok((data, report))
}

/// State of a load: the id maps that the files share, and the counts so far.
struct Loader {
    users: IdMap,
    items: IdMap,
    report: LoadReport,
}

impl Loader {
    fn whole(
        &mut self,
        file: &Path,
        split: SplitOptions,
        options: &ReadOptions,
    ) -> Result<(Interactions, Interactions), DataError> {
        let all = self.first_file(file, options)?;
        let seed = Seed(split.seed).named("test");
        let (train, test) = split_per_user(&all, split.test_ratio, seed);
        if test.is_empty() {
            let rows = all.offsets().windows(2).map(|row| row[1] - row[0]);
            return Err(DataError::NoTestItems {
                path: file.to_path_buf(),
                test_ratio: split.test_ratio,
                most: rows.max().unwrap_or(0),
            });
        }
        Ok((train, test))
    }

    fn split(
        &mut self,
        train_file: &Path,
        test_file: &Path,
        options: &ReadOptions,
    ) -> Result<(Interactions, Interactions), DataError> {
        let train = self.first_file(train_file, options)?;

        let mut pairs = Vec::new();
        let mut first_leak = None;
        let mut leaks = HashSet::new();
        let rows = read(test_file, options, |line, user, item| {
            let pair = (self.users.get_or_insert(user), self.items.get_or_insert(item));
            pairs.push(pair);
            if (pair.0 as usize) < train.num_users() && train.contains(pair.0, pair.1) {
                leaks.insert(pair);
                first_leak.get_or_insert_with(|| (line.location(), user.to_string(), item.to_string()));
            }
        })?;
        if let Some((at, user, item)) = first_leak {
            return Err(DataError::Leakage {
                at,
                train: train_file.to_path_buf(),
                user,
                item,
                count: leaks.len(),
            });
        }

        let test = self.collect(pairs, rows);
        if test.pairs().all(|(user, _)| user as usize >= train.num_users()) {
            return Err(DataError::UnrelatedSplit {
                train: train_file.to_path_buf(),
                test: test_file.to_path_buf(),
                user: self.users.raw(train.num_users() as u32).to_string(),
                users: self.users.len() - train.num_users(),
            });
        }
        Ok((train.widened(self.users.len(), self.items.len()), test))
    }

    /// Reads the training file, or the only one.
    fn first_file(&mut self, file: &Path, options: &ReadOptions) -> Result<Interactions, DataError> {
        let mut pairs = Vec::new();
        let rows = read(file, options, |_, user, item| {
            pairs.push((self.users.get_or_insert(user), self.items.get_or_insert(item)));
        })?;
        let interactions = self.collect(pairs, rows);
        if self.users.len() == 1 {
            return Err(DataError::OneUser {
                path: file.to_path_buf(),
                user: self.users.raw(0).to_string(),
                interactions: interactions.len(),
            });
        }
        Ok(interactions)
    }

    fn collect(&mut self, pairs: Vec<(u32, u32)>, rows: FileReport) -> Interactions {
        let given = pairs.len();
        let interactions = Interactions::from_pairs(self.users.len(), self.items.len(), pairs);
        self.report.rows += rows.rows;
        self.report.below_min_rating += rows.below_min_rating;
        self.report.repeats += given - interactions.len();
        interactions
    }
}

fn check_options(source: &Source, options: &ReadOptions) -> Result<(), DataError> {
    if let Source::Whole { split, .. } = source {
        split.check()?;
    }
    match options.min_rating {
        Some(value) if !value.is_finite() => Err(DataError::OutOfRange {
            name: "data.min_rating".into(),
            value: shown(value),
            range: "(-inf, inf)".into(),
        }),
        _ => Ok(()),
    }
}

/// Numbers of users and items that are only in test.
fn untrained(train: &Interactions) -> (usize, usize) {
    let users = train.offsets().windows(2).filter(|row| row[0] == row[1]);
    let items = train.item_counts().into_iter().filter(|&count| count == 0);
    (users.count(), items.count())
}
