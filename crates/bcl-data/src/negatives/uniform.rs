//! Uniform negatives that the user has not interacted with.

use super::{NegativeSource, NegativesError, item_set::ItemSet, stream::Stream};
use crate::Interactions;
use serde::{Deserialize, Serialize};

/// Average number of tries per negative in a row, before the rest of the row is drawn exactly.
const TRIES: usize = 8;

/// Draws every negative uniformly from the items that the user has not interacted with in training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Uniform {
    /// Draws per anchor.
    pub count: usize,
}

impl Default for Uniform {
    fn default() -> Self {
        Self { count: 128 }
    }
}

#[derive(Debug)]
struct Source {
    train: Interactions,
}

pub(crate) fn source(train: &Interactions) -> Result<Box<dyn NegativeSource>, NegativesError> {
    let num_items = train.num_items();
    for user in 0..train.num_users() as u32 {
        if train.items_of(user).len() == num_items {
            return Err(NegativesError::NothingLeft { user, num_items });
        }
    }
    Ok(Box::new(Source { train: train.clone() }))
}

impl NegativeSource for Source {
    fn draw(&self, user: u32, stream: &mut Stream, excluded: &mut ItemSet, out: &mut [i32]) {
        let known = self.train.items_of(user);
        let num_items = self.train.num_items() as u32;
        excluded.insert(known);
        // A known item is written like any other and overwritten by the next draw. A branch here would be mispredicted as often
        // as items are rejected, which costs more than the draw.
        let mut filled = 0;
        for _ in 0..TRIES * out.len() {
            if filled == out.len() {
                break;
            }
            let (item, _) = stream.below(num_items);
            out[filled] = item as i32;
            filled += usize::from(!excluded.contains(item));
        }
        excluded.remove(known);
        out[filled..].fill_with(|| draw_unknown(known, num_items, stream));
    }
}

/// Draws an unknown item with one random number and a binary search.
fn draw_unknown(known: &[u32], num_items: u32, stream: &mut Stream) -> i32 {
    let (rank, _) = stream.below(num_items - known.len() as u32);
    nth_unknown(known, rank) as i32
}

/// The item that has exactly `rank` unknown items below it, given the sorted known ones.
///
/// There are `known[j] - j` unknown items below `known[j]`. That count never falls, so the known items below the answer are a
/// prefix.
fn nth_unknown(known: &[u32], rank: u32) -> u32 {
    let (mut low, mut high) = (0, known.len());
    while low < high {
        let middle = low.midpoint(high);
        if known[middle] - middle as u32 <= rank {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    rank + low as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranks_enumerate_the_unknown_items_in_order(known in proptest::collection::btree_set(0_u32..40, 0..40)) {
            let sorted: Vec<u32> = known.iter().copied().collect();
            let unknown: Vec<u32> = (0..40).filter(|item| !known.contains(item)).collect();
            let found: Vec<u32> = (0..unknown.len() as u32).map(|rank| nth_unknown(&sorted, rank)).collect();
            prop_assert_eq!(found, unknown);
        }
    }

    #[test]
    fn a_row_leaves_the_set_empty() {
        let train = Interactions::from_pairs(1, 200, [(0, 0), (0, 63), (0, 64), (0, 199)]);
        let mut excluded = ItemSet::new(200);
        let mut out = [0; 16];
        source(&train)
            .unwrap()
            .draw(0, &mut Stream::new(Seed(1)), &mut excluded, &mut out);
        assert!((0..200).all(|item| !excluded.contains(item)));
    }

    #[test]
    fn users_with_few_and_with_many_items_both_reach_every_unknown_item() {
        // User 0 is drawn for by rejection, user 1 mostly by the exact map.
        let pairs = [(0, 3), (0, 7)].into_iter().chain((0..98).map(|item| (1, item)));
        let train = Interactions::from_pairs(2, 100, pairs);
        let source = source(&train).unwrap();
        for user in 0..2 {
            let mut out = [0; 2000];
            source.draw(user, &mut Stream::new(Seed(1)), &mut ItemSet::new(100), &mut out);
            let drawn: BTreeSet<u32> = out.iter().map(|&item| item as u32).collect();
            let unknown = (0..100).filter(|&item| !train.contains(user, item)).collect();
            assert_eq!(drawn, unknown);
        }
    }
}
