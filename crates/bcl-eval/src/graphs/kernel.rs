//! Kernel matrices of graphs.

use super::{GraphError, Vectors};

/// A kernel between all pairs of graphs: symmetric, positive semidefinite.
///
/// ```
/// use bcl_eval::graphs::Kernel;
///
/// let kernel = Kernel::new(vec![1.0, 0.5, 0.5, 1.0], 2);
/// assert_eq!(kernel.row(1), [0.5, 1.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    values: Vec<f64>,
    num_graphs: usize,
}

impl Kernel {
    /// Creates a kernel from a `[num_graphs, num_graphs]` matrix in row-major order.
    ///
    /// # Panics
    /// Panics if the number of values is not the square of `num_graphs`.
    pub fn new(values: Vec<f64>, num_graphs: usize) -> Self {
        assert_eq!(
            values.len(),
            num_graphs * num_graphs,
            "{} values are not a kernel of {num_graphs} graphs",
            values.len()
        );
        Self { values, num_graphs }
    }

    /// The radial basis function kernel `exp(-γ |x - y|²)` of all pairs of rows.
    pub fn rbf(vectors: &Vectors, gamma: f64) -> Self {
        let num_graphs = vectors.len();
        let mut values = vec![1.0; num_graphs * num_graphs];
        for one in 0..num_graphs {
            for other in 0..one {
                let value = rbf(vectors.row(one), vectors.row(other), gamma);
                values[one * num_graphs + other] = value;
                values[other * num_graphs + one] = value;
            }
        }
        Self { values, num_graphs }
    }

    /// The kernel of dot products of all pairs of rows.
    pub fn linear(vectors: &Vectors) -> Self {
        let values = vectors
            .rows()
            .flat_map(|one| vectors.rows().map(|other| dot(one, other)))
            .collect();
        Self {
            values,
            num_graphs: vectors.len(),
        }
    }

    /// Number of graphs.
    pub fn len(&self) -> usize {
        self.num_graphs
    }

    /// Whether there are no graphs.
    pub fn is_empty(&self) -> bool {
        self.num_graphs == 0
    }

    /// The kernel of one graph with all graphs.
    pub fn row(&self, graph: usize) -> &[f64] {
        &self.values[graph * self.num_graphs..][..self.num_graphs]
    }

    /// The kernel between the graphs at `indices`, in that order.
    pub(super) fn select(&self, indices: &[usize]) -> Self {
        Self {
            values: self.between(indices, indices).into_iter().flatten().collect(),
            num_graphs: indices.len(),
        }
    }

    /// Checks that all values are finite.
    pub(super) fn check_finite(&self) -> Result<(), GraphError> {
        match (0..self.num_graphs).find(|&graph| self.row(graph).iter().any(|value| !value.is_finite())) {
            Some(graph) => Err(GraphError::NotFinite { graph }),
            None => Ok(()),
        }
    }

    /// One row for each graph of `rows`: its kernel with the graphs of `columns`.
    pub(super) fn between(&self, rows: &[usize], columns: &[usize]) -> Vec<Vec<f64>> {
        let row = |&row: &usize| columns.iter().map(|&column| self.row(row)[column]).collect();
        rows.iter().map(row).collect()
    }
}

/// One row for each vector of `rows`: its RBF kernel with the vectors of `columns`.
pub(super) fn rbf_between(rows: &Vectors, columns: &Vectors, gamma: f64) -> Vec<Vec<f64>> {
    let row = |one| columns.rows().map(|other| rbf(one, other, gamma)).collect();
    rows.rows().map(row).collect()
}

fn rbf(one: &[f64], other: &[f64], gamma: f64) -> f64 {
    (-gamma * sum_of(one, other, |a, b| (a - b) * (a - b))).exp()
}

pub(super) fn dot(one: &[f64], other: &[f64]) -> f64 {
    sum_of(one, other, |a, b| a * b)
}

/// Sums a term over pairs of values. Eight partial sums let the compiler use SIMD instructions.
fn sum_of(one: &[f64], other: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    const PARTS: usize = 8;
    let (ones, others) = (one.chunks_exact(PARTS), other.chunks_exact(PARTS));
    let rest: f64 = ones
        .remainder()
        .iter()
        .zip(others.remainder())
        .map(|(&a, &b)| term(a, b))
        .sum();
    let mut parts = [0.0; PARTS];
    for (ones, others) in ones.zip(others) {
        for part in 0..PARTS {
            parts[part] += term(ones[part], others[part]);
        }
    }
    rest + parts.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_rbf_kernel_is_symmetric_with_ones_on_the_diagonal() {
        let values: Vec<f64> = (0..33).map(|i| f64::from(i * i % 17)).collect();
        let vectors = Vectors::new(values, 11);
        let kernel = Kernel::rbf(&vectors, 0.01);
        for one in 0..3 {
            assert_eq!(kernel.row(one)[one], 1.0);
            for other in 0..3 {
                assert_eq!(kernel.row(one)[other], kernel.row(other)[one]);
                let distance: f64 = vectors
                    .row(one)
                    .iter()
                    .zip(vectors.row(other))
                    .map(|(a, b)| (a - b).powi(2))
                    .sum();
                assert!((kernel.row(one)[other] - (-0.01 * distance).exp()).abs() < 1e-15);
            }
        }
        assert_eq!(rbf_between(&vectors, &vectors, 0.01).concat(), kernel.values);
    }

    #[test]
    fn selected_rows_keep_their_order() {
        let kernel = Kernel::new((0..9).map(f64::from).collect(), 3);
        assert_eq!(kernel.select(&[2, 0]).values, [8.0, 6.0, 2.0, 0.0]);
        assert_eq!(kernel.between(&[1], &[2, 0]), [[5.0, 3.0]]);
    }
}
