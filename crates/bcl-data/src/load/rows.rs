//! The interactions of files as they are read, with their times if a split needs them.

use crate::read::{Line, Moment, Row};
use crate::split::Times;
use crate::{DataError, IdMap, Interactions, SplitKind, SplitOptions};

/// Interactions in the order of the files, repeats included.
pub(super) struct Rows {
    pairs: Vec<(u32, u32)>,
    /// One moment per pair; `None` if they are not needed, or not all rows have one.
    times: Option<Vec<Moment>>,
    split: SplitOptions,
}

/// Numbers of users and items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) users: usize,
    pub(super) items: usize,
}

impl Rows {
    pub(super) fn new(split: SplitOptions) -> Self {
        let times = (split.times() != Times::Ignored).then(Vec::new);
        Self {
            pairs: Vec::new(),
            times,
            split,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Adds an interaction and returns its ids, which may be new.
    pub(super) fn push(
        &mut self,
        line: &Line<'_>,
        row: &Row<'_>,
        users: &mut IdMap,
        items: &mut IdMap,
    ) -> Result<(u32, u32), DataError> {
        let pair = (users.get_or_insert(row.user), items.get_or_insert(row.item));
        self.pairs.push(pair);
        match (&mut self.times, row.time) {
            (None, _) => {}
            (Some(times), Some(time)) => {
                let moment = line.moment(time)?;
                if times.last().is_some_and(|before| !before.compares_with(moment)) {
                    return Err(line.error(format!(
                        "timestamp `{time}` does not compare with the timestamps before: some are dates, some are numbers. Write all in one way"
                    )));
                }
                times.push(moment);
            }
            (Some(_), None) if self.split.times() == Times::IfPresent => self.times = None,
            (Some(_), None) => return Err(self.no_timestamps(line)),
        }
        Ok(pair)
    }

    /// The different pairs, with the times at which they first occurred, in the order of [`Interactions::pairs`].
    pub(super) fn merge(self, sizes: Sizes) -> (Interactions, Option<Vec<Moment>>) {
        let Self { pairs, times, .. } = self;
        let Some(times) = times else {
            return (Interactions::from_pairs(sizes.users, sizes.items, pairs), None);
        };
        let mut timed: Vec<((u32, u32), Moment)> = pairs.into_iter().zip(times).collect();
        timed.sort_unstable();
        timed.dedup_by_key(|(pair, _)| *pair);
        let interactions = Interactions::from_pairs(sizes.users, sizes.items, timed.iter().map(|(pair, _)| *pair));
        (interactions, Some(timed.into_iter().map(|(_, time)| time).collect()))
    }

    fn no_timestamps(&self, line: &Line<'_>) -> DataError {
        let (reason, remedy) = match self.split.kind {
            SplitKind::Temporal => ("data.split.kind = \"temporal\"", "data.split.kind = \"ratio\""),
            _ => ("data.split.order = \"time\"", "data.split.order = \"random\""),
        };
        line.error(format!(
            "the split is by time ({reason}), but the row has no timestamp. Name its column in `data.columns.timestamp`, or split without \
             times: {remedy}"
        ))
    }
}
