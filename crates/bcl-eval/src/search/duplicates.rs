//! Groups of near-duplicates.

use super::{
    UnitRows,
    groups::{Duplicate, Groups},
    pivots::{Pivots, Scratch},
};
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Number of rows per block; a block of similarities takes 4 MiB.
const BLOCK: usize = 1024;

/// With fewer rows, comparing all pairs takes less time than grouping the rows.
const FEW: usize = 8192;

/// Rounding errors of a cosine in `f32`, so that a threshold of 1 finds equal vectors.
const ROUNDING: f32 = 1e-6;

/// Groups rows by the pairs whose cosine is at least `threshold`: two rows are in one group if a chain of such pairs connects them.
///
/// Returns only groups of two or more, the largest first, then by their first row; members are in the order of the rows. The result is exact: it equals
/// [`near_duplicates_of_all_pairs`] to the last bit.
///
/// With many rows, most pairs are never compared. About `4 √num_rows` of the rows are pivots. The angle of two rows is at least the difference of their angles
/// with a pivot, by the triangle inequality on the sphere, so rows are only compared if these differ by less than the angle of the threshold. Time depends on the
/// data: the better rows form clusters, and the higher the threshold, the fewer pairs are left. The rows are copied once; other memory grows with the number
/// of rows, not of pairs.
pub fn near_duplicates(rows: &UnitRows, threshold: f32) -> Vec<Vec<Duplicate>> {
    if rows.len() < FEW {
        near_duplicates_of_all_pairs(rows, threshold)
    } else {
        by_pivots(rows, threshold)
    }
}

/// Groups rows like [`near_duplicates`] by comparing all pairs, which takes `num_rows² · dim` operations whatever the data are.
pub fn near_duplicates_of_all_pairs(rows: &UnitRows, threshold: f32) -> Vec<Vec<Duplicate>> {
    let ranges = rows.ranges(BLOCK);
    let pairs: Vec<(&Range<usize>, &Range<usize>)> = ranges
        .iter()
        .enumerate()
        .flat_map(|(index, a)| ranges[index..].iter().map(move |b| (a, b)))
        .collect();
    let similar = Similar::new(rows, threshold);
    pairs.par_iter().for_each_init(
        || (Vec::new(), Vec::new()),
        |(cosines, found), &(a, b)| {
            rows.cosines(a, rows, b, cosines);
            found.clear();
            for (i, row) in a.clone().zip(cosines.chunks(b.len())) {
                let close = |(j, &cosine): (usize, &f32)| (j > i && cosine >= similar.bar()).then_some((i, j));
                found.extend(b.clone().zip(row).filter_map(close));
            }
            similar.connect(found);
        },
    );
    similar.finish()
}

fn by_pivots(rows: &UnitRows, threshold: f32) -> Vec<Vec<Duplicate>> {
    let pivots = Pivots::new(rows);
    let similar = Similar::new(rows, threshold);
    pivots
        .blocks()
        .into_par_iter()
        .for_each_init(Scratch::default, |scratch, block| {
            pivots.close_pairs(&block, similar.bar(), scratch, |found| similar.connect(found));
        });
    similar.finish()
}

/// Collects the pairs of all threads. The result does not depend on their order.
struct Similar<'a> {
    rows: &'a UnitRows,
    least: f32,
    groups: Mutex<Groups>,
}

impl<'a> Similar<'a> {
    fn new(rows: &'a UnitRows, threshold: f32) -> Self {
        Self {
            rows,
            least: threshold - ROUNDING,
            groups: Mutex::new(Groups::new(rows.len())),
        }
    }

    /// The cosine from which a pair is a candidate. A product of blocks rounds in an order of its own.
    fn bar(&self) -> f32 {
        self.least - ROUNDING
    }

    /// Connects the candidates that are similar. It computes their cosines again, one by one, so the bits do not depend on how a pair was found.
    fn connect(&self, candidates: &[(usize, usize)]) {
        let cosine = |&(i, j): &(usize, usize)| (i, j, self.rows.cosine(i, j));
        let pairs = candidates.iter().map(cosine).filter(|(_, _, cosine)| *cosine >= self.least);
        let pairs: Vec<(usize, usize, f32)> = pairs.collect();
        if !pairs.is_empty() {
            let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            for (i, j, cosine) in pairs {
                groups.connect(i, j, cosine.min(1.0));
            }
        }
    }

    fn finish(self) -> Vec<Vec<Duplicate>> {
        self.groups.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit_rows::tests::random;
    use super::*;
    use bcl_data::Seed;
    use rand::RngExt;
    use std::collections::BTreeMap;

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
            pool.install(|| by_pivots(&rows, 0.9))
        };
        let found = with(1);
        assert_eq!((found.len(), found[0].len()), (1, 2 * BLOCK + 5));
        assert_eq!((found[0][0].nearest, found[0][1].nearest), (1, 0));
        assert_eq!(found, with(4));
        assert_eq!(found, near_duplicates_of_all_pairs(&rows, 0.9));
    }

    /// Rows around random centres, one in eight of them beside an earlier one.
    fn clustered(num_rows: usize, dim: usize, spread: f32) -> UnitRows {
        let mut rng = Seed(8).rng();
        let centres = random(20, dim, 9);
        let mut values: Vec<f32> = Vec::new();
        for row in 0..num_rows {
            let (centre, spread) = if row % 8 == 7 {
                let earlier = rng.random_range(0..row);
                (values[earlier * dim..(earlier + 1) * dim].to_vec(), 0.01)
            } else {
                (centres.row(rng.random_range(0..20)).to_vec(), spread)
            };
            values.extend(centre.iter().map(|value| value + spread * (rng.random::<f32>() - 0.5)));
        }
        UnitRows::new(values, dim).unwrap()
    }

    #[test]
    fn pivots_miss_no_pair_in_clusters_in_a_cone_and_without_structure() {
        for (spread, dim) in [(0.3, 24), (0.05, 24), (30.0, 24), (0.5, 3)] {
            let rows = clustered(3000, dim, spread);
            for threshold in [1.0, 0.99, 0.9, 0.5] {
                let found = by_pivots(&rows, threshold);
                assert_eq!(
                    found,
                    near_duplicates_of_all_pairs(&rows, threshold),
                    "{spread} {dim} {threshold}"
                );
            }
            assert!(by_pivots(&rows, 0.99).len() > 1, "the test is empty");
        }
    }

    #[test]
    fn rows_of_zeros_are_no_duplicates_and_disturb_no_others() {
        let mut values: Vec<f32> = (0..600).flat_map(|row| random(1, 8, row / 2).row(0).to_vec()).collect();
        values[..8 * 50].fill(0.0);
        let rows = UnitRows::new(values, 8).unwrap();
        let found = by_pivots(&rows, 0.999);
        assert_eq!(found, near_duplicates_of_all_pairs(&rows, 0.999));
        assert_eq!((found.len(), found[0][0].row), (275, 50));
    }
}
