//! Lloyd's steps: each point to its nearest mean, each mean to the centre of its points.

use crate::points::{BLOCK, Points};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

/// The nearest mean of each point, and their squared distance.
pub(crate) struct Assignment {
    pub(crate) labels: Vec<u32>,
    pub(crate) distances: Vec<f64>,
}

/// Finds the nearest mean of each point; the first of several that are equally near.
pub(crate) fn assign(points: &Points, means: &Points) -> Assignment {
    let (dim, num_means) = (points.dim(), means.len());
    let halves: Vec<f64> = means
        .values()
        .chunks_exact(dim)
        .map(|mean| 0.5 * squared_length(mean))
        .collect();
    let right = MatRef::from_row_major_slice(means.values(), num_means, dim).transpose();
    let (mut labels, mut distances) = (vec![0; points.len()], vec![0.0; points.len()]);
    let outputs = labels.par_chunks_mut(BLOCK).zip(distances.par_chunks_mut(BLOCK));
    let blocks = outputs.zip(points.values().par_chunks(BLOCK * dim));
    blocks.for_each_init(
        || vec![0.0; BLOCK * num_means],
        |products, ((labels, distances), rows)| {
            let count = labels.len();
            let products = &mut products[..count * num_means];
            let left = MatRef::from_row_major_slice(rows, count, dim);
            let out = MatMut::from_row_major_slice_mut(&mut *products, count, num_means);
            matmul(out, Accum::Replace, left, right, 1.0, Par::Seq);
            for (index, (products, row)) in products.chunks_exact(num_means).zip(rows.chunks_exact(dim)).enumerate() {
                // |x - m|² = |x|² - 2 (x·m - |m|²/2), so the nearest mean has the largest parenthesis.
                let (mut label, mut best) = (0, f64::NEG_INFINITY);
                for (mean, (product, half)) in products.iter().zip(&halves).enumerate() {
                    let score = product - half;
                    if score > best {
                        (label, best) = (mean, score);
                    }
                }
                labels[index] = label as u32;
                distances[index] = (squared_length(row) - 2.0 * best).max(0.0);
            }
        },
    );
    Assignment { labels, distances }
}

fn squared_length(row: &[f64]) -> f64 {
    row.iter().map(|value| value * value).sum()
}

/// The centre of each cluster. An empty one gets a point that is farthest from its own mean, a different point each; with none left, it stays at the first point.
pub(crate) fn centres(points: &Points, assignment: &Assignment, num_clusters: usize) -> Points {
    let dim = points.dim();
    let (mut sums, mut counts) = (vec![0.0; num_clusters * dim], vec![0_usize; num_clusters]);
    for (row, &label) in points.values().chunks_exact(dim).zip(&assignment.labels) {
        counts[label as usize] += 1;
        for (sum, value) in sums[label as usize * dim..][..dim].iter_mut().zip(row) {
            *sum += value;
        }
    }
    let num_empty = counts.iter().filter(|&&count| count == 0).count();
    let mut farthest = farthest(&assignment.distances, num_empty).into_iter();
    for (mean, &count) in sums.chunks_exact_mut(dim).zip(&counts) {
        if count > 0 {
            for value in mean {
                *value /= count as f64;
            }
        } else {
            mean.copy_from_slice(points.row(farthest.next().unwrap_or(0)));
        }
    }
    Points::of_rows(sums, dim)
}

/// The indices of the largest distances, in descending order; lower indices first among equals.
fn farthest(distances: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = if count == 0 {
        Vec::new()
    } else {
        (0..distances.len()).collect()
    };
    order.sort_by(|&left, &right| distances[right].total_cmp(&distances[left]));
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_go_to_the_nearest_mean_and_means_to_the_centre() {
        let points = Points::new(vec![0.0, 0.0, 0.0, 2.0, 10.0, 0.0], 2).unwrap();
        let means = Points::new(vec![9.0, 0.0, 0.0, 1.0], 2).unwrap();
        let found = assign(&points, &means);
        assert_eq!(
            (found.labels.as_slice(), found.distances.as_slice()),
            ([1, 1, 0].as_slice(), [1.0; 3].as_slice())
        );
        assert_eq!(centres(&points, &found, 2).values(), [10.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn empty_clusters_start_again_at_the_farthest_points() {
        let points = Points::new(vec![0.0, 1.0, 9.0, 20.0], 1).unwrap();
        let means = Points::new(vec![0.0, 1000.0, 1000.0], 1).unwrap();
        let found = centres(&points, &assign(&points, &means), 3);
        assert_eq!(found.values(), [7.5, 20.0, 9.0]);
    }

    #[test]
    fn blocks_do_not_change_labels() {
        let values: Vec<f64> = (0..4 * 3 * BLOCK + 8).map(|index| (1.3 * index as f64).sin()).collect();
        let points = Points::new(values, 4).unwrap();
        let means = points.select(&[3, 50, 100, 400, 500]);
        let found = assign(&points, &means);
        for (point, &label) in found.labels.iter().enumerate() {
            let distance = |mean: usize| crate::seeding::squared_distance(points.row(point), means.row(mean));
            let nearest = (0..5).map(distance).fold(f64::INFINITY, f64::min);
            assert!((distance(label as usize) - nearest).abs() < 1e-12);
        }
    }
}
