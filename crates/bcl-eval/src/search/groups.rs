//! Groups of rows that are connected by pairs, in any order of the pairs.

use std::{cmp::Reverse, collections::BTreeMap};

/// A member of a group of near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicate {
    /// Index of the row.
    pub row: usize,
    /// The most similar other row, which is in the same group; the lowest one if several are equally similar.
    pub nearest: usize,
    /// Its cosine with that row.
    pub similarity: f32,
}

/// A forest of rows, whose trees are the groups so far.
pub(super) struct Groups {
    parents: Vec<usize>,
    /// The most similar row of each and its cosine.
    nearest: Vec<Option<(f32, usize)>>,
}

impl Groups {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            parents: (0..rows).collect(),
            nearest: vec![None; rows],
        }
    }

    fn root(&mut self, mut row: usize) -> usize {
        while self.parents[row] != row {
            self.parents[row] = self.parents[self.parents[row]];
            row = self.parents[row];
        }
        row
    }

    /// Puts two rows into one group.
    pub(super) fn connect(&mut self, a: usize, b: usize, cosine: f32) {
        for (row, other) in [(a, b), (b, a)] {
            let better = |(best, known): (f32, usize)| cosine > best || (cosine.to_bits() == best.to_bits() && other < known);
            if self.nearest[row].is_none_or(better) {
                self.nearest[row] = Some((cosine, other));
            }
        }
        let [a, b] = [a, b].map(|row| self.root(row));
        // The lower row is the root, so the trees do not depend on the order of pairs.
        self.parents[a.max(b)] = a.min(b);
    }

    /// The groups of two or more, the largest first, then by their first row.
    pub(super) fn finish(mut self) -> Vec<Vec<Duplicate>> {
        let mut groups: BTreeMap<usize, Vec<Duplicate>> = BTreeMap::new();
        for row in 0..self.parents.len() {
            if let Some((similarity, nearest)) = self.nearest[row] {
                let root = self.root(row);
                groups.entry(root).or_default().push(Duplicate {
                    row,
                    nearest,
                    similarity,
                });
            }
        }
        let mut groups: Vec<Vec<Duplicate>> = groups.into_values().collect();
        groups.sort_by_key(|group| Reverse(group.len()));
        groups
    }
}
