//! Graph vectors in f64, and their standardisation.

use super::GraphError;

/// Largest magnitude of a value, so that squares of gradients stay finite. All values of an f32 are smaller.
const LARGEST: f64 = 1e50;

/// Vectors of graphs, one row per graph.
///
/// ```
/// use bcl_eval::graphs::Vectors;
///
/// let vectors = Vectors::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2);
/// assert_eq!(vectors.len(), 3);
/// assert_eq!(vectors.row(1), [3.0, 4.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    values: Vec<f64>,
    dim: usize,
}

impl Vectors {
    /// Creates vectors from values in row-major order.
    ///
    /// # Panics
    /// Panics if `dim` is 0 or does not divide the number of values.
    pub fn new(values: Vec<f64>, dim: usize) -> Self {
        assert!(
            dim > 0 && values.len().is_multiple_of(dim),
            "{} values cannot be split into rows of length {dim}",
            values.len()
        );
        Self { values, dim }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Length of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// One row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.dim..][..self.dim]
    }

    /// All rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.dim)
    }

    /// The rows at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        let values = indices.iter().flat_map(|&index| self.row(index)).copied().collect();
        Self { values, dim: self.dim }
    }

    /// The default γ of scikit-learn's RBF kernel (`gamma="scale"`): 1 / (dim · variance of all values), or 1 if all values are
    /// equal.
    pub fn gamma_scale(&self) -> f64 {
        let count = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / count;
        let variance = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        // Without vectors the variance is NaN, and γ is 1, too.
        if variance > 0.0 {
            1.0 / (self.dim as f64 * variance)
        } else {
            1.0
        }
    }

    /// Checks that all values are finite and can be squared.
    pub(super) fn check_finite(&self) -> Result<(), GraphError> {
        let is_broken = |row: &[f64]| !row.iter().all(|value| value.abs() <= LARGEST);
        match self.rows().position(is_broken) {
            Some(graph) => Err(GraphError::NotFinite { graph }),
            None => Ok(()),
        }
    }
}

/// How vectors are scaled before they are classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// Vectors are used as they are.
    None,
    /// Each column gets mean 0 and standard deviation 1 on the training part.
    ZScores,
}

/// The mean and the standard deviation of each column of a training part.
#[derive(Debug, Clone)]
pub(super) struct Standardiser {
    means: Vec<f64>,
    /// 1 for a constant column.
    deviations: Vec<f64>,
}

impl Standardiser {
    /// Measures the columns of `train`, with population standard deviations.
    pub(super) fn fit(train: &Vectors) -> Self {
        let count = train.len() as f64;
        let column_means = |value: &dyn Fn(f64, usize) -> f64| {
            let mut sums = vec![0.0; train.dim];
            for row in train.rows() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum += value(row[column], column);
                }
            }
            sums.into_iter().map(|sum| sum / count).collect::<Vec<_>>()
        };
        let means = column_means(&|value, _| value);
        let variances = column_means(&|value, column| (value - means[column]).powi(2));
        let deviation = |(&variance, &mean): (&f64, &f64)| {
            // The largest variance that rounding alone gives a constant column.
            let rounding = count * f64::EPSILON * variance + (count * mean * f64::EPSILON).powi(2);
            if variance <= rounding { 1.0 } else { variance.sqrt() }
        };
        let deviations = variances.iter().zip(&means).map(deviation).collect();
        Self { means, deviations }
    }

    /// Subtracts the means and divides by the deviations.
    pub(super) fn apply(&self, vectors: &Vectors) -> Vectors {
        let score = |(&value, (mean, deviation)): (&f64, (&f64, &f64))| (value - mean) / deviation;
        let scores = |row: &[f64]| {
            row.iter()
                .zip(self.means.iter().zip(&self.deviations))
                .map(score)
                .collect::<Vec<_>>()
        };
        Vectors {
            values: vectors.rows().flat_map(scores).collect(),
            dim: vectors.dim,
        }
    }
}

impl Scaling {
    /// Scales both parts with the statistics of the training part.
    pub(super) fn of_parts(self, train: Vectors, test: Vectors) -> [Vectors; 2] {
        match self {
            Self::None => [train, test],
            Self::ZScores => {
                let standardiser = Standardiser::fit(&train);
                [train, test].map(|part| standardiser.apply(&part))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_scores_of_the_training_part_have_mean_zero_and_deviation_one() {
        let train = Vectors::new(vec![1.0, 10.0, 7.0, 2.0, -10.0, 7.0, 6.0, 30.0, 7.0], 3);
        let test = Vectors::new(vec![3.0, 10.0, 8.0], 3);
        let [train, test] = Scaling::ZScores.of_parts(train, test);
        for column in 0..2 {
            let values: Vec<f64> = train.rows().map(|row| row[column]).collect();
            assert!(values.iter().sum::<f64>().abs() < 1e-12);
            assert!((values.iter().map(|value| value * value).sum::<f64>() / 3.0 - 1.0).abs() < 1e-12);
        }
        assert!(test.row(0)[0].abs() < 1e-12, "3 is the training mean");
        assert_eq!(
            [train.row(0)[2], test.row(0)[2]],
            [0.0, 1.0],
            "a constant column is only centred"
        );
    }

    #[test]
    fn rounding_does_not_blow_up_a_constant_column() {
        let train = Vectors::new(vec![0.1; 1001], 1);
        let [scores, _] = Scaling::ZScores.of_parts(train.clone(), train);
        assert!(scores.rows().all(|row| row[0].abs() < 1e-9));
    }

    #[test]
    fn gamma_scale_is_the_inverse_of_dim_times_variance() {
        // Mean 2.5, variance 1.25.
        assert_eq!(Vectors::new(vec![1.0, 2.0, 3.0, 4.0], 2).gamma_scale(), 1.0 / 2.5);
        assert_eq!(Vectors::new(vec![3.0; 4], 2).gamma_scale(), 1.0);
    }

    #[test]
    fn values_that_cannot_be_squared_are_refused_with_their_graph() {
        for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
            let vectors = Vectors::new(vec![0.0, 0.0, 1.0, broken, 0.0, f64::NAN], 2);
            assert_eq!(vectors.check_finite(), Err(GraphError::NotFinite { graph: 1 }));
        }
    }
}
