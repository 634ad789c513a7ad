//! Reads files one after the other, with the ids that they share, and splits them.

use super::rows::{Rows, Sizes};
use crate::read::{Moment, RowLimit, read};
use crate::split::{Times, ranks};
use crate::{
    CoreOptions, DataError, HoldOut, IdMap, Interactions, LoadReport, ReadOptions, Seed, SplitKind, SplitOptions, divide,
    split_per_user,
};
use bcl_files::notice::note;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Train, test, and the rule by which a validation part is held out of train.
type Parts = (Interactions, Interactions, HoldOut);

/// State of a load: the id maps that the files share, and the counts so far.
pub(super) struct Loader {
    pub(super) users: IdMap,
    pub(super) items: IdMap,
    pub(super) report: LoadReport,
}

impl Loader {
    pub(super) fn new(users: IdMap, items: IdMap) -> Self {
        Self {
            users,
            items,
            report: LoadReport::default(),
        }
    }

    /// Reads files and splits their interactions.
    pub(super) fn whole(&mut self, files: &[PathBuf], split: SplitOptions, options: &ReadOptions) -> Result<Parts, DataError> {
        let (all, times) = self.read_all(files, split, options)?;
        let (all, times) = self.leave_out_rare(&files[0], all, times, &options.core)?;
        let seed = Seed(split.seed);
        let ranks = times.map(|times| ranks(&all, &times, seed.named("ties")));
        if let (SplitKind::Ratio, None) = (split.kind, &ranks) {
            let (train, test) = split_per_user(&all, split.test_ratio(), seed.named("test"));
            no_test_items(&files[0], [&train, &test], split)?;
            return Ok((train, test, HoldOut::default()));
        }
        let (train, test, rule) = HoldOut::new(split.kind, ranks).split(&all, split.test_ratio(), seed.named("test"));
        no_test_items(&files[0], [&train, &test], split)?;
        Ok((train, test, rule))
    }

    /// Reads a training file and a test file.
    pub(super) fn split(&mut self, train_file: &Path, test_file: &Path, options: &ReadOptions) -> Result<Parts, DataError> {
        let (train, _) = self.read_all(&[train_file.to_path_buf()], SplitOptions::default(), options)?;

        let mut rows = Rows::new(SplitOptions::default());
        let mut first_leak = None;
        let mut leaks = HashSet::new();
        let Self { users, items, .. } = self;
        let report = read(test_file, options, RowLimit::now(false), |line, row| {
            let (user, item) = rows.push(line, row, users, items)?;
            if (user as usize) < train.num_users() && train.contains(user, item) {
                leaks.insert((user, item));
                first_leak.get_or_insert_with(|| (line.location(), row.user.to_string(), row.item.to_string()));
            }
            Ok(())
        })?;
        self.report.add(report);
        if let Some((at, user, item)) = first_leak {
            let (train, more) = (train_file.display(), leaks.len() - 1);
            let problem = format!(
                "user `{user}`, item `{item}` is also in {train}, as are {more} more. Remove them from test: a model has already seen them \
                 in training"
            );
            return Err(DataError::at(at, problem));
        }

        let (test, _) = self.merge(rows);
        tell_missing_ids(self, &test);
        if test.pairs().all(|(user, _)| user as usize >= train.num_users()) {
            let problem = format!(
                "none of its {} users, such as `{}`, is in {}. Check that both files are of the same data set and use the same user ids",
                self.users.len() - train.num_users(),
                self.users.raw(train.num_users() as u32),
                train_file.display()
            );
            return Err(DataError::file(test_file, problem));
        }
        let train = train.widened(self.users.len(), self.items.len());
        Ok((train, test, HoldOut::default()))
    }

    /// Reads the training file, or all files that are split together.
    fn read_all(
        &mut self,
        files: &[PathBuf],
        split: SplitOptions,
        options: &ReadOptions,
    ) -> Result<(Interactions, Option<Vec<Moment>>), DataError> {
        let mut rows = Rows::new(split);
        for file in files {
            let limit = RowLimit::now(split.times() != Times::Ignored);
            let Self { users, items, .. } = self;
            let report = read(file, options, limit, |line, row| rows.push(line, row, users, items).map(drop))?;
            self.report.add(report);
        }
        let (interactions, times) = self.merge(rows);
        tell_missing_ids(self, &interactions);
        if self.users.len() == 1 {
            let (user, count) = (self.users.raw(0), interactions.len());
            let remedy = "At least two users are needed; check that the first column contains the users";
            let problem = format!("all {count} interactions are of one user, `{user}`. {remedy}");
            return Err(DataError::file(&files[0], problem));
        }
        Ok((interactions, times))
    }

    fn merge(&mut self, rows: Rows) -> (Interactions, Option<Vec<Moment>>) {
        let given = rows.len();
        let merged = rows.merge(self.sizes());
        self.report.repeats += given - merged.0.len();
        merged
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            users: self.users.len(),
            items: self.items.len(),
        }
    }

    /// Leaves out users and items with too few interactions, and their ids.
    fn leave_out_rare(
        &mut self,
        file: &Path,
        all: Interactions,
        times: Option<Vec<Moment>>,
        options: &CoreOptions,
    ) -> Result<(Interactions, Option<Vec<Moment>>), DataError> {
        if !options.is_given() {
            return Ok((all, times));
        }
        let core = options.apply(&all);
        self.report.add_core(&core);
        let (_, left) = divide(&all, &core.kept);
        let used = |count: &&u32| **count > 0;
        let users_before = self.users.len();
        let user_counts: Vec<u32> = left.offsets().windows(2).map(|row| (row[1] - row[0]) as u32).collect();
        if user_counts.iter().filter(used).count() < 2 {
            let before = [users_before, self.items.len()];
            return Err(options.left_too_little(file, before, left.is_empty()));
        }
        let users = retain(&mut self.users, &user_counts);
        let items = retain(&mut self.items, &left.item_counts());
        // New numbers are in the order of the old ones, so the pairs keep their order, and with it their times.
        let pairs = left.pairs().map(|(user, item)| (users[user as usize], items[item as usize]));
        let left = Interactions::from_pairs(self.users.len(), self.items.len(), pairs);
        let times = times.map(|times| {
            times
                .into_iter()
                .zip(core.kept)
                .filter(|(_, kept)| *kept)
                .map(|(time, _)| time)
                .collect()
        });
        Ok((left, times))
    }
}

/// Text that programs write for a value that is not known.
const MISSING: [&str; 22] = [
    "NULL",
    "null",
    "Null",
    "(null)",
    "nan",
    "NaN",
    "NAN",
    "-nan",
    "None",
    "none",
    "NONE",
    "NA",
    "N/A",
    "n/a",
    "<NA>",
    "nil",
    "undefined",
    "missing",
    "unknown",
    "\\N",
    "?",
    "-",
];

/// Tells of users and items that look like missing ids: many strangers' interactions would be one user's.
fn tell_missing_ids(loader: &Loader, interactions: &Interactions) {
    let counts = interactions.item_counts();
    for id in MISSING {
        let user = loader
            .users
            .get(id)
            .filter(|&user| (user as usize) < interactions.num_users());
        let of_user = user.map_or(0, |user| interactions.items_of(user).len());
        let of_item = loader
            .items
            .get(id)
            .and_then(|item| counts.get(item as usize))
            .map_or(0, |&count| count as usize);
        for (kind, count) in [("user", of_user), ("item", of_item)] {
            if let Some(text) = missing_id(kind, id, count) {
                note(text);
            }
        }
    }
}

fn missing_id(kind: &str, id: &str, count: usize) -> Option<String> {
    (count > 1).then(|| {
        format!("the {kind} `{id}` has {count} interactions. If `{id}` stands for an id that is not known, delete its rows from the file")
    })
}

/// Keeps the ids with a count above 0, and returns the new number of each old one.
fn retain(ids: &mut IdMap, counts: &[u32]) -> Vec<u32> {
    let mut kept = IdMap::default();
    let numbers = ids
        .iter()
        .zip(counts)
        .map(|(raw, count)| if *count > 0 { kept.get_or_insert(raw) } else { 0 });
    let numbers = numbers.collect();
    *ids = kept;
    numbers
}

fn no_test_items(file: &Path, [train, test]: [&Interactions; 2], split: SplitOptions) -> Result<(), DataError> {
    let problem = match split.kind {
        SplitKind::Temporal if test.pairs().all(|(user, _)| train.items_of(user).is_empty()) => format!(
            "the newest {} interactions, which data.split.kind = \"temporal\" holds out, all belong to users without an earlier one, \
             about whom nothing can be learned. Raise data.split.test_ratio, or split per user: data.split = {{ order = \"time\" }}",
            test.len()
        ),
        _ if !test.is_empty() => return Ok(()),
        SplitKind::LeaveOneOut => {
            "no test items: data.split.kind is \"leave_one_out\", but no user has two interactions. Use more data".to_owned()
        }
        SplitKind::Ratio | SplitKind::Temporal => {
            // Nothing was held out, so train is the whole.
            let rows = train.offsets().windows(2).map(|row| row[1] - row[0]);
            let (test_ratio, most) = (split.test_ratio(), rows.max().unwrap_or(0));
            format!(
                "no test items: test_ratio {test_ratio} of at most {most} interactions per user rounds to 0. Raise `test_ratio` or use \
                 more data"
            )
        }
    };
    Err(DataError::file(file, problem))
}
