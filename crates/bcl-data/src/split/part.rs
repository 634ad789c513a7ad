//! Which interactions are held out: by chance or by time, per user or over all.

use super::SplitKind;
use super::per_user::{held_out_count, split_counts};
use crate::read::Moment;
use crate::{Interactions, Seed};

/// The rule by which a part of the interactions is held out. A validation part is held out of train by the rule of the test part, so that
/// what is best on one suits the other.
///
/// The default is a random share of each user's interactions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HoldOut {
    kind: SplitKind,
    /// The place of each interaction in time, in the order of [`Interactions::pairs`]; `None` if they are drawn.
    ranks: Option<Vec<u32>>,
}

impl HoldOut {
    pub(crate) fn new(kind: SplitKind, ranks: Option<Vec<u32>>) -> Self {
        Self { kind, ranks }
    }

    /// What is held out.
    pub fn kind(&self) -> SplitKind {
        self.kind
    }

    /// The place of each interaction in time, if it decides.
    pub fn ranks(&self) -> Option<&[u32]> {
        self.ranks.as_deref()
    }

    /// Whether the newest interactions are held out, rather than random ones.
    pub fn is_by_time(&self) -> bool {
        self.ranks.is_some()
    }

    /// Splits `data` into (kept, held out), with the rule for the part that is kept. `ratio` has no meaning for `leave_one_out`.
    pub(crate) fn split(self, data: &Interactions, ratio: f64, seed: Seed) -> (Interactions, Interactions, Self) {
        let Self { kind, ranks } = self;
        let per_user = |interactions| match kind {
            SplitKind::LeaveOneOut => one_of(interactions),
            SplitKind::Ratio | SplitKind::Temporal => held_out_count(interactions, ratio),
        };
        let Some(ranks) = ranks else {
            let (kept, held_out) = split_counts(data, per_user, seed);
            return (kept, held_out, Self { kind, ranks: None });
        };
        assert_eq!(ranks.len(), data.len(), "there must be one rank per interaction");
        let chosen = match kind {
            SplitKind::Temporal => newest(&ranks, held_out_count(ranks.len(), ratio).max(one_of(ranks.len()))),
            SplitKind::Ratio | SplitKind::LeaveOneOut => newest_of_users(data, &ranks, per_user),
        };
        let (kept, held_out) = divide(data, &chosen);
        let ranks = ranks
            .into_iter()
            .zip(chosen)
            .filter(|(_, chosen)| !chosen)
            .map(|(rank, _)| rank);
        let ranks = Some(ranks.collect());
        (kept, held_out, Self { kind, ranks })
    }
}

/// The place in time of each interaction, in the order of [`Interactions::pairs`]. A draw decides between those at the same time: the order
/// of a file would favour its first users or items.
pub(crate) fn ranks(data: &Interactions, times: &[Moment], seed: Seed) -> Vec<u32> {
    let draws = data
        .pairs()
        .map(|(user, item)| seed.index(u64::from(user) << 32 | u64::from(item)).0);
    let mut order: Vec<(Moment, u64, u32)> = times
        .iter()
        .zip(draws)
        .zip(0..)
        .map(|((time, draw), index)| (*time, draw, index))
        .collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    for ((_, _, index), rank) in order.into_iter().zip(0..) {
        ranks[index as usize] = rank;
    }
    ranks
}

/// Splits interactions into those that are not `chosen` and those that are, in the order of [`Interactions::pairs`].
///
/// # Panics
/// Panics if `chosen` has another length than `data`.
pub fn divide(data: &Interactions, chosen: &[bool]) -> (Interactions, Interactions) {
    assert_eq!(chosen.len(), data.len(), "there must be one choice per interaction");
    let part = |wanted: bool| {
        let pairs = data.pairs().zip(chosen).filter(|(_, chosen)| **chosen == wanted);
        Interactions::from_pairs(data.num_users(), data.num_items(), pairs.map(|(pair, _)| pair))
    };
    (part(false), part(true))
}

/// One interaction, unless it is the only one.
fn one_of(interactions: usize) -> usize {
    interactions.saturating_sub(1).min(1)
}

/// Marks the `count` newest interactions.
fn newest(ranks: &[u32], count: usize) -> Vec<bool> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let first = sorted.len() - count;
    ranks.iter().map(|rank| count > 0 && *rank >= sorted[first]).collect()
}

fn newest_of_users(data: &Interactions, ranks: &[u32], count: impl Fn(usize) -> usize) -> Vec<bool> {
    let rows = data.offsets().windows(2).map(|row| &ranks[row[0]..row[1]]);
    rows.flat_map(|row| newest(row, count(row.len()))).collect()
}

#[cfg(test)]
mod tests;
