//! The k-core of interactions: users and items with too few interactions are left out, again and again, until none is left.

use crate::{DataError, Interactions};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The largest threshold.
const MOST: usize = 1_000_000;

/// How many interactions users and items need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoreOptions {
    /// Users with fewer different items are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_user_interactions: Option<usize>,
    /// Items with fewer different users are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_item_interactions: Option<usize>,
}

impl CoreOptions {
    /// Whether anything may be left out.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// The given thresholds by their names in recipes.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let users = self.min_user_interactions.map(|least| ("data.min_user_interactions", least));
        let items = self.min_item_interactions.map(|least| ("data.min_item_interactions", least));
        users.into_iter().chain(items)
    }

    /// Checks that the thresholds are in their range.
    ///
    /// # Errors
    /// Returns an error if one is not in [1, 1000000].
    pub fn check(&self) -> Result<(), DataError> {
        match self.named().find(|(_, least)| !(1..=MOST).contains(least)) {
            None => Ok(()),
            Some((name, least)) => Err(DataError::out_of_range(name, least, &format!("[1, {MOST}]"))),
        }
    }

    /// The error for a core of fewer than two users, with the numbers of users and items in the file.
    pub(crate) fn left_too_little(&self, path: &Path, [users, items]: [usize; 2], is_empty: bool) -> DataError {
        let settings: Vec<String> = self.named().map(|(name, least)| format!("{name} {least}")).collect();
        let names: Vec<&str> = self.named().map(|(name, _)| name).collect();
        let left = if is_empty { "none" } else { "a single user" };
        let (settings, lower) = (settings.join(" and "), names.join(" or "));
        let problem = format!(
            "{settings} leave {left} of {users} users with {items} items: without the rare ones, others become rare, too. Lower {lower}, or \
             use more data"
        );
        DataError::file(path, problem)
    }

    /// Finds what these thresholds leave.
    ///
    /// The result does not depend on the order in which users and items are left out, so each is looked at once.
    pub(crate) fn apply(&self, data: &Interactions) -> Core {
        let least = [self.min_user_interactions, self.min_item_interactions].map(|least| least.unwrap_or(1));
        let graph = Bipartite::new(data);
        let mut kept = vec![true; data.len()];
        let mut counts = [graph.degrees(0), graph.degrees(1)];
        let mut rare: Vec<(usize, u32)> = [0, 1].into_iter().flat_map(|side| graph.below(side, least[side])).collect();
        while let Some((side, node)) = rare.pop() {
            let other = 1 - side;
            for &entry in graph.entries(side, node) {
                if std::mem::replace(&mut kept[entry as usize], false) {
                    let neighbour = graph.node(other, entry);
                    let count = &mut counts[other][neighbour as usize];
                    *count -= 1;
                    // Exactly once: it was enough before.
                    if *count + 1 == least[other] {
                        rare.push((other, neighbour));
                    }
                }
            }
            counts[side][node as usize] = 0;
        }
        let gone = |side: usize| graph.present(side) - counts[side].iter().filter(|count| **count > 0).count();
        Core {
            users: gone(0),
            items: gone(1),
            interactions: kept.iter().filter(|kept| !**kept).count(),
            kept,
        }
    }
}

/// What is left, and the numbers of those left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Core {
    pub(crate) users: usize,
    pub(crate) items: usize,
    pub(crate) interactions: usize,
    /// Whether each interaction is kept, in the order of [`Interactions::pairs`].
    pub(crate) kept: Vec<bool>,
}

/// Interactions as a graph of users (side 0) and items (side 1), whose edges are numbered in the order of [`Interactions::pairs`].
struct Bipartite {
    nodes: [Vec<u32>; 2],
    offsets: [Vec<usize>; 2],
    edges: [Vec<u32>; 2],
}

impl Bipartite {
    fn new(data: &Interactions) -> Self {
        let users: Vec<u32> = data.pairs().map(|(user, _)| user).collect();
        let items = data.items().to_vec();
        let mut by_item: Vec<u32> = (0..data.len() as u32).collect();
        by_item.sort_by_key(|&edge| items[edge as usize]);
        let mut item_offsets = vec![0; data.num_items() + 1];
        for (item, count) in data.item_counts().into_iter().enumerate() {
            item_offsets[item + 1] = item_offsets[item] + count as usize;
        }
        Self {
            nodes: [users, items],
            offsets: [data.offsets().to_vec(), item_offsets],
            edges: [(0..data.len() as u32).collect(), by_item],
        }
    }

    fn degrees(&self, side: usize) -> Vec<usize> {
        self.offsets[side].windows(2).map(|row| row[1] - row[0]).collect()
    }

    /// Number of nodes with an edge.
    fn present(&self, side: usize) -> usize {
        self.offsets[side].windows(2).filter(|row| row[0] < row[1]).count()
    }

    /// The nodes with fewer edges than `least`.
    fn below(&self, side: usize, least: usize) -> Vec<(usize, u32)> {
        let degrees = (0..).zip(self.degrees(side));
        degrees
            .filter(|(_, degree)| *degree < least)
            .map(|(node, _)| (side, node))
            .collect()
    }

    fn entries(&self, side: usize, node: u32) -> &[u32] {
        let node = node as usize;
        &self.edges[side][self.offsets[side][node]..self.offsets[side][node + 1]]
    }

    fn node(&self, side: usize, edge: u32) -> u32 {
        self.nodes[side][edge as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divide;
    use proptest::prelude::*;

    fn core(users: usize, items: usize) -> CoreOptions {
        CoreOptions {
            min_user_interactions: Some(users),
            min_item_interactions: Some(items),
        }
    }

    /// Leaves out by passes over everything, as the definition says.
    fn by_passes(data: &Interactions, options: CoreOptions) -> Interactions {
        let mut left = data.clone();
        loop {
            let counts = left.item_counts();
            let enough = |&(user, item): &(u32, u32)| {
                left.items_of(user).len() >= options.min_user_interactions.unwrap_or(1)
                    && counts[item as usize] as usize >= options.min_item_interactions.unwrap_or(1)
            };
            let next = Interactions::from_pairs(left.num_users(), left.num_items(), left.pairs().filter(enough));
            if next == left {
                return left;
            }
            left = next;
        }
    }

    #[test]
    fn leaving_out_one_may_leave_another_with_too_few() {
        // User 2 has one item; without it item 2 has one user, and so on down the chain.
        let chain = Interactions::from_pairs(4, 4, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 0), (3, 1)]);
        let core = core(2, 2).apply(&chain);
        assert_eq!(core.kept, [true, true, false, false, false, true, true]);
        assert_eq!((core.users, core.items, core.interactions), (2, 1, 3));
    }

    #[test]
    fn thresholds_have_a_range() {
        for least in [0, 1_000_001, usize::MAX] {
            let error = core(least, 1).check().unwrap_err().to_string();
            assert!(
                error.contains("data.min_user_interactions") && error.contains("[1, 1000000]"),
                "{error}"
            );
            assert!(core(1, least).check().is_err());
        }
        core(1, 1_000_000).check().unwrap();
        CoreOptions::default().check().unwrap();
    }

    proptest! {
        #[test]
        fn the_core_is_that_of_repeated_passes(
            pairs in proptest::collection::vec((0..12_u32, 0..10_u32), 0..80),
            users in 1..5_usize,
            items in 1..5_usize,
        ) {
            let data = Interactions::from_pairs(12, 10, pairs);
            let core = core(users, items).apply(&data);
            let expected = by_passes(&data, self::core(users, items));
            prop_assert_eq!(divide(&data, &core.kept).1, expected.clone());
            let present = |data: &Interactions| data.offsets().windows(2).filter(|row| row[0] < row[1]).count();
            prop_assert_eq!(core.users, present(&data) - present(&expected));
        }
    }
}
