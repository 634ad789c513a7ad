//! First means, by greedy k-means++.

use crate::points::{BLOCK, Points};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// Candidates per mean, of which the one that lowers the sum of squared distances most is kept.
const CANDIDATES: usize = 3;

/// Draws `num_clusters` points as means: the first uniformly, each further one with a probability proportional to its squared distance from the nearest mean so far, as the
/// best of three.
///
/// Source: Arthur and Vassilvitskii, k-means++: The Advantages of Careful Seeding (SODA 2007), with the greedy variant of its section 7.
pub(crate) fn seed(points: &Points, num_clusters: usize, rng: &mut (impl Rng + ?Sized)) -> Vec<usize> {
    let count = points.len();
    let mut means = vec![rng.random_range(0..count)];
    let mut distances = vec![f64::INFINITY; count];
    let mut sum = lower(&mut distances, points, means[0]);
    while means.len() < num_clusters {
        let best = (0..CANDIDATES)
            .map(|_| draw(&distances, sum, rng))
            .map(|candidate| (candidate, sum_with(&distances, points, candidate)))
            .reduce(|best, other| if other.1 < best.1 { other } else { best });
        let (candidate, _) = best.expect("there are candidates");
        means.push(candidate);
        sum = lower(&mut distances, points, candidate);
    }
    means
}

/// A point with a probability proportional to its squared distance; any if all are 0.
fn draw(distances: &[f64], sum: f64, rng: &mut (impl Rng + ?Sized)) -> usize {
    let mut left = rng.random::<f64>() * sum;
    if sum > 0.0 {
        for (point, distance) in distances.iter().enumerate() {
            left -= distance;
            if left < 0.0 {
                return point;
            }
        }
    }
    // Rounding, or all points are means: another draw, so that the number of draws differs only there.
    rng.random_range(0..distances.len())
}

/// Lowers each distance to the distance from a point, and returns their sum.
fn lower(distances: &mut [f64], points: &Points, mean: usize) -> f64 {
    let (mean, dim) = (points.row(mean), points.dim());
    let blocks = distances.par_chunks_mut(BLOCK).zip(points.values().par_chunks(BLOCK * dim));
    let sums: Vec<f64> = blocks
        .map(|(distances, rows)| {
            let rows = rows.chunks_exact(dim);
            for (distance, row) in distances.iter_mut().zip(rows) {
                *distance = distance.min(squared_distance(row, mean));
            }
            distances.iter().sum()
        })
        .collect();
    sums.iter().sum()
}

/// The sum that [`lower`] would return.
fn sum_with(distances: &[f64], points: &Points, mean: usize) -> f64 {
    let (mean, dim) = (points.row(mean), points.dim());
    let blocks = distances.par_chunks(BLOCK).zip(points.values().par_chunks(BLOCK * dim));
    let sums: Vec<f64> = blocks
        .map(|(distances, rows)| {
            let rows = rows.chunks_exact(dim);
            let each = distances
                .iter()
                .zip(rows)
                .map(|(distance, row)| distance.min(squared_distance(row, mean)));
            each.sum()
        })
        .collect();
    sums.iter().sum()
}

pub(crate) fn squared_distance(left: &[f64], right: &[f64]) -> f64 {
    // Four sums at once, which the compiler keeps in one register.
    let (left_chunks, left_rest) = left.as_chunks::<4>();
    let (right_chunks, right_rest) = right.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (left, right) in left_chunks.iter().zip(right_chunks) {
        for lane in 0..4 {
            sums[lane] += (left[lane] - right[lane]).powi(2);
        }
    }
    let rest: f64 = left_rest
        .iter()
        .zip(right_rest)
        .map(|(left, right)| (left - right).powi(2))
        .sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    #[test]
    fn far_groups_get_a_mean_each() {
        let values: Vec<f64> = (0..300)
            .map(|index| f64::from(index % 5) * 100.0 + 0.01 * f64::from(index))
            .collect();
        let points = Points::new(values, 1).unwrap();
        for seed_of_rng in 0..20 {
            let means = seed(&points, 5, &mut Xoshiro256PlusPlus::seed_from_u64(seed_of_rng));
            let mut means: Vec<usize> = means.into_iter().map(|mean| mean % 5).collect();
            means.sort_unstable();
            assert_eq!(means, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn identical_points_still_give_means() {
        let points = Points::new(vec![3.0; 8], 1).unwrap();
        assert_eq!(seed(&points, 4, &mut Xoshiro256PlusPlus::seed_from_u64(1)).len(), 4);
    }
}
