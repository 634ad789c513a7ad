//! Running averages of the features of all samples.

use crate::{ClusterError, Points};
use serde::{Deserialize, Serialize};

/// Share of new features in a row.
const SHARE: f32 = 0.3;

/// A running average of the features of each sample over epochs, which averages out views and the drift of the encoder.
///
/// ```text
/// b_i <- 0.7 b_i + 0.3 f_i
/// ```
///
/// Rows start at 0, and [`points`](Self::points) divides by the sum of the shares, so that rows with few updates have the scale of the others. f should have unit length, and
/// be a mean over views; use the layer before the projector of a momentum encoder.
///
/// ```
/// use bcl_clusters::Bank;
///
/// let mut bank = Bank::new(2, 1);
/// bank.update(0, &[1.0])?;
/// bank.update(0, &[2.0])?;
/// bank.update(1, &[5.0])?;
/// let points = bank.points()?;
/// assert!((points.row(0)[0] - (0.7 * 1.0 + 2.0) / 1.7).abs() < 1e-6);
/// assert!((points.row(1)[0] - 5.0).abs() < 1e-6);
/// # Ok::<(), bcl_clusters::ClusterError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bank {
    dim: usize,
    /// `[num_points, dim]`.
    sums: Vec<f32>,
    /// Sum of the shares of each row; 0 before its first update.
    weights: Vec<f32>,
}

impl Bank {
    /// An empty bank of `num_points` rows.
    pub fn new(num_points: usize, dim: usize) -> Self {
        Self {
            dim,
            sums: vec![0.0; num_points * dim],
            weights: vec![0.0; num_points],
        }
    }

    /// A bank with the content of another, as [`sums`](Self::sums) and [`weights`](Self::weights) return it.
    ///
    /// # Errors
    /// Returns an error if the sums are not as many rows as there are weights.
    pub fn of(sums: Vec<f32>, weights: Vec<f32>, dim: usize) -> Result<Self, ClusterError> {
        if sums.len() != weights.len() * dim {
            let values = sums.len();
            return Err(ClusterError::Shape { values, dim });
        }
        Ok(Self { dim, sums, weights })
    }

    /// The sums behind the averages, `[num_points, dim]`, row after row.
    pub fn sums(&self) -> &[f32] {
        &self.sums
    }

    /// The sum of the shares of each row; 0 before its first update.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Averages features into a row. The row stays as it is if there is an error.
    ///
    /// # Errors
    /// Returns an error if there is no such row, if the number of features is another one, and if a feature is not finite.
    pub fn update(&mut self, row: usize, features: &[f32]) -> Result<(), ClusterError> {
        let points = self.len();
        let weight = self.weights.get_mut(row).ok_or(ClusterError::NoRow { row, points })?;
        if features.len() != self.dim {
            let (values, dim) = (features.len(), self.dim);
            return Err(ClusterError::Shape { values, dim });
        }
        if !features.iter().all(|feature| feature.is_finite()) {
            return Err(ClusterError::NotFinite { point: row });
        }
        *weight = (1.0 - SHARE) * *weight + SHARE;
        for (sum, feature) in self.sums[row * self.dim..][..self.dim].iter_mut().zip(features) {
            *sum = (1.0 - SHARE) * *sum + SHARE * feature;
        }
        Ok(())
    }

    /// The averages of all rows.
    ///
    /// # Errors
    /// Returns an error if a row was never updated.
    pub fn points(&self) -> Result<Points, ClusterError> {
        if let Some(row) = self.weights.iter().position(|&weight| weight == 0.0) {
            return Err(ClusterError::EmptyRow { row });
        }
        let rows = self.sums.chunks_exact(self.dim.max(1)).zip(&self.weights);
        let values = rows.flat_map(|(row, weight)| row.iter().map(|sum| f64::from(*sum) / f64::from(*weight)));
        Points::new(values.collect(), self.dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_row_of_features_is_refused_and_changes_nothing() {
        let mut bank = Bank::new(2, 2);
        bank.update(1, &[1.0, 2.0]).unwrap();
        let before = bank.clone();
        assert_eq!(bank.update(2, &[0.0; 2]), Err(ClusterError::NoRow { row: 2, points: 2 }));
        assert_eq!(bank.update(0, &[0.0; 3]), Err(ClusterError::Shape { values: 3, dim: 2 }));
        assert_eq!(bank.update(0, &[0.0, f32::NAN]), Err(ClusterError::NotFinite { point: 0 }));
        assert_eq!(bank, before);
        assert_eq!(bank.points(), Err(ClusterError::EmptyRow { row: 0 }));
    }

    #[test]
    fn a_bank_survives_a_file() {
        let mut bank = Bank::new(2, 1);
        bank.update(0, &[0.1]).unwrap();
        let text = serde_json::to_string(&bank).unwrap();
        assert_eq!(serde_json::from_str::<Bank>(&text).unwrap(), bank);
    }
}
