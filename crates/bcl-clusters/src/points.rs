//! Points as rows of one contiguous matrix.

use crate::{ClusterError, whitening};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

/// Rows per block of parallel work. Fixed, so that sums over blocks do not depend on the number of threads.
pub(crate) const BLOCK: usize = 256;
/// Largest absolute value; sums of squares of more would overflow.
const LARGEST: f64 = 1e100;

/// Points to cluster, `[num_points, dim]`, all finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    values: Vec<f64>,
    dim: usize,
}

impl Points {
    /// Takes rows of `dim` values each.
    ///
    /// # Errors
    /// Returns an error if the values do not fill whole rows, and if one is not finite or is beyond ±1e100.
    pub fn new(values: Vec<f64>, dim: usize) -> Result<Self, ClusterError> {
        if dim == 0 || !values.len().is_multiple_of(dim) {
            let values = values.len();
            return Err(ClusterError::Shape { values, dim });
        }
        match values.iter().position(|value| value.is_nan() || value.abs() > LARGEST) {
            Some(position) => Err(ClusterError::NotFinite { point: position / dim }),
            None => Ok(Self { values, dim }),
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Values per point.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// One point.
    ///
    /// # Panics
    /// Panics if there is no such point.
    pub fn row(&self, point: usize) -> &[f64] {
        &self.values[point * self.dim..][..self.dim]
    }

    /// Some points, in the order of the indices.
    ///
    /// # Panics
    /// Panics if there is no such point.
    pub fn select(&self, points: &[usize]) -> Self {
        Self {
            values: points.iter().flat_map(|&point| self.row(point)).copied().collect(),
            dim: self.dim,
        }
    }

    /// Centred points, projected on the `dim` directions of largest variance, not whitened. All directions if there are no more.
    ///
    /// # Errors
    /// Returns an error if eigenvalues do not converge.
    pub fn principal_components(&self, dim: usize) -> Result<Self, ClusterError> {
        let centred = self.minus(&self.mean());
        let (_, vectors) = whitening::eigen(&centred.covariance())?;
        // In ascending order: the last ones are the largest.
        let kept = dim.clamp(1, self.dim);
        let columns: Vec<f64> = vectors
            .chunks_exact(self.dim)
            .flat_map(|row| row.iter().rev().take(kept).copied())
            .collect();
        Ok(centred.times(&columns, kept))
    }

    /// Rows that were computed from finite ones.
    pub(crate) fn of_rows(values: Vec<f64>, dim: usize) -> Self {
        Self { values, dim }
    }

    pub(crate) fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.dim];
        for row in self.values.chunks_exact(self.dim) {
            for (mean, value) in mean.iter_mut().zip(row) {
                *mean += value;
            }
        }
        let count = self.len().max(1) as f64;
        mean.into_iter().map(|sum| sum / count).collect()
    }

    pub(crate) fn minus(&self, shift: &[f64]) -> Self {
        let rows = self.values.chunks_exact(self.dim);
        let values = rows.flat_map(|row| row.iter().zip(shift).map(|(value, shift)| value - shift));
        Self::of_rows(values.collect(), self.dim)
    }

    /// The points times a matrix `[dim, columns]`.
    pub(crate) fn times(&self, matrix: &[f64], columns: usize) -> Self {
        let mut values = vec![0.0; self.len() * columns];
        let right = MatRef::from_row_major_slice(matrix, self.dim, columns);
        let blocks = values
            .par_chunks_mut(BLOCK * columns)
            .zip(self.values.par_chunks(BLOCK * self.dim));
        blocks.for_each(|(out, rows)| {
            let count = rows.len() / self.dim;
            let left = MatRef::from_row_major_slice(rows, count, self.dim);
            let out = MatMut::from_row_major_slice_mut(out, count, columns);
            matmul(out, Accum::Replace, left, right, 1.0, Par::Seq);
        });
        Self::of_rows(values, columns)
    }

    /// `XᵀX / n` of points that are centred already, `[dim, dim]`.
    pub(crate) fn covariance(&self) -> Vec<f64> {
        /// Rows per partial sum, and partial sums that exist at once.
        const ROWS: usize = 2048;
        const AT_ONCE: usize = 16;
        let mut sum = vec![0.0; self.dim * self.dim];
        for group in self.values.chunks(AT_ONCE * ROWS * self.dim) {
            let parts: Vec<Vec<f64>> = group.par_chunks(ROWS * self.dim).map(|rows| gram(rows, self.dim)).collect();
            for part in parts {
                for (sum, value) in sum.iter_mut().zip(part) {
                    *sum += value;
                }
            }
        }
        let count = self.len().max(1) as f64;
        sum.into_iter().map(|value| value / count).collect()
    }
}

fn gram(rows: &[f64], dim: usize) -> Vec<f64> {
    let mut out = vec![0.0; dim * dim];
    let rows = MatRef::from_row_major_slice(rows, rows.len() / dim, dim);
    let target = MatMut::from_row_major_slice_mut(&mut out, dim, dim);
    matmul(target, Accum::Replace, rows.transpose(), rows, 1.0, Par::Seq);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_points_are_refused() {
        assert_eq!(Points::new(vec![0.0; 5], 2), Err(ClusterError::Shape { values: 5, dim: 2 }));
        assert_eq!(Points::new(vec![], 0), Err(ClusterError::Shape { values: 0, dim: 0 }));
        for bad in [f64::NAN, f64::NEG_INFINITY, 1e200] {
            assert_eq!(
                Points::new(vec![0.0, 1.0, 2.0, bad], 2),
                Err(ClusterError::NotFinite { point: 1 })
            );
        }
    }

    #[test]
    fn principal_components_are_centred_and_ordered_by_variance() {
        // Variances 1/4 along (1, -1) and 4 along (1, 1), times the squared lengths.
        let values = [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)];
        let rows = values
            .iter()
            .flat_map(|(long, short)| [7.0 + 2.0 * long + short, 2.0 * long - short]);
        let points = Points::new(rows.collect(), 2).unwrap();
        let both = points.principal_components(5).unwrap();
        assert_eq!(both.dim(), 2);
        let (first, second) = (both.row(0)[0].abs(), both.row(0)[1].abs());
        assert!(
            (first - 8f64.sqrt()).abs() < 1e-12 && (second - 0.5f64.sqrt()).abs() < 1e-12,
            "{both:?}"
        );
        let one = points.principal_components(1).unwrap();
        assert!(one.mean()[0].abs() < 1e-12 && (one.row(0)[0] - both.row(0)[0]).abs() < 1e-12);
    }

    #[test]
    fn blocks_and_their_rest_make_the_whole_covariance() {
        let (count, dim) = (5000, 3);
        let values: Vec<f64> = (0..count * dim).map(|index| (0.7 * index as f64).sin()).collect();
        let points = Points::new(values, dim).unwrap();
        for (index, found) in points.covariance().into_iter().enumerate() {
            let products = (0..count).map(|point| points.row(point)[index / dim] * points.row(point)[index % dim]);
            assert!((found - products.sum::<f64>() / count as f64).abs() < 1e-12);
        }
    }
}
