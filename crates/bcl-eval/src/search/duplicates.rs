//! Groups of near-duplicates.

use super::UnitRows;
use rayon::prelude::*;
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Number of rows per block; a block of similarities takes 4 MiB.
const BLOCK: usize = 1024;

/// Rounding errors of a cosine in `f32`, so that a threshold of 1 finds equal vectors.
const ROUNDING: f32 = 1e-6;

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

/// Groups rows by the pairs whose cosine is at least `threshold`: two rows are in one group if a chain of such pairs connects them.
///
/// Only groups of two or more are returned, the largest first, then by their first row; members are in the order of the rows. All pairs are compared,
/// which takes `num_rows² · dim` operations; memory grows with the number of rows, not with that of pairs.
pub fn near_duplicates(rows: &UnitRows, threshold: f32) -> Vec<Vec<Duplicate>> {
    let ranges = rows.ranges(BLOCK);
    let pairs: Vec<(&Range<usize>, &Range<usize>)> = ranges
        .iter()
        .enumerate()
        .flat_map(|(index, a)| ranges[index..].iter().map(move |b| (a, b)))
        .collect();
    let groups = Mutex::new(Groups::new(rows.len()));
    pairs.par_iter().for_each_init(
        || (Vec::new(), Vec::new()),
        |(cosines, found), &(a, b)| {
            rows.cosines(a, rows, b, cosines);
            found.clear();
            for (i, row) in a.clone().zip(cosines.chunks(b.len())) {
                let similar = |(j, &cosine): (usize, &f32)| (j > i && cosine >= threshold - ROUNDING).then_some((i, j, cosine));
                found.extend(b.clone().zip(row).filter_map(similar));
            }
            // Neither the groups nor the nearest rows depend on the order of the blocks.
            let mut groups = groups.lock().unwrap_or_else(PoisonError::into_inner);
            for &(i, j, cosine) in &*found {
                groups.connect(i, j, cosine.min(1.0));
            }
        },
    );
    groups.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

/// A forest of rows, whose trees are the groups so far.
struct Groups {
    parents: Vec<usize>,
    /// The most similar row of each and its cosine.
    nearest: Vec<Option<(f32, usize)>>,
}

impl Groups {
    fn new(rows: usize) -> Self {
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

    fn connect(&mut self, a: usize, b: usize, cosine: f32) {
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

    fn finish(mut self) -> Vec<Vec<Duplicate>> {
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
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit_rows::tests::random;
    use super::*;

    fn members(groups: &[Vec<Duplicate>]) -> Vec<Vec<usize>> {
        groups
            .iter()
            .map(|group| group.iter().map(|member| member.row).collect())
            .collect()
    }

    /// Spreads labels until nothing changes.
    fn slow(rows: &UnitRows, threshold: f32) -> Vec<Vec<usize>> {
        let mut labels: Vec<usize> = (0..rows.len()).collect();
        let close = |a: usize, b: usize| a != b && rows.cosine(a, b) >= threshold;
        loop {
            let lowest = |a: usize| (0..rows.len()).filter(|&b| close(a, b)).map(|b| labels[b]).min();
            let next: Vec<usize> = (0..rows.len())
                .map(|a| lowest(a).map_or(labels[a], |low| low.min(labels[a])))
                .collect();
            if next == labels {
                break;
            }
            labels = next;
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        labels
            .iter()
            .enumerate()
            .for_each(|(row, &label)| groups.entry(label).or_default().push(row));
        let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|group| group.len() > 1).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups
    }

    #[test]
    fn groups_across_blocks_are_those_of_comparing_everything() {
        let rows = random(BLOCK + 150, 5, 1);
        let found = near_duplicates(&rows, 0.99);
        assert!(found.len() > 20, "the test is empty");
        assert_eq!(members(&found), slow(&rows, 0.99));
        for member in found.iter().flatten() {
            let best = (0..rows.len())
                .filter(|&other| other != member.row)
                .map(|other| rows.cosine(member.row, other));
            let best = best.fold(f32::MIN, f32::max);
            assert!((member.similarity - best).abs() < 1e-5, "{member:?}, not {best}");
        }
    }

    #[test]
    fn a_threshold_of_one_finds_equal_vectors_of_any_length() {
        let rows = UnitRows::new(vec![0.1, 0.7, 0.3, 5.0, 0.2, 1.4, 0.0, 0.0], 2).unwrap();
        assert_eq!(members(&near_duplicates(&rows, 1.0)), [[0, 2]]);
    }

    #[test]
    fn a_chain_is_one_group() {
        let row = |degrees: f32| [degrees.to_radians().cos(), degrees.to_radians().sin()];
        let rows = UnitRows::new([0.0, 10.0, 20.0, 90.0].map(row).concat(), 2).unwrap();
        assert_eq!(members(&near_duplicates(&rows, 0.98)), [[0, 1, 2]]);
    }

    #[test]
    fn collapsed_features_are_one_group_whatever_the_number_of_threads() {
        let rows = UnitRows::new([1.0, 2.0, 3.0].repeat(2 * BLOCK + 5), 3).unwrap();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| near_duplicates(&rows, 0.9))
        };
        let found = with(1);
        assert_eq!((found.len(), found[0].len()), (1, 2 * BLOCK + 5));
        assert_eq!((found[0][0].nearest, found[0][1].nearest), (1, 0));
        assert_eq!(found, with(4));
    }
}
