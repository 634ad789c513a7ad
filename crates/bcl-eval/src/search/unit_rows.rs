//! Vectors of unit length, and the cosines of a block of them with another.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;
use std::ops::Range;

/// A vector has a value that is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the features of row {row} are not finite")]
pub struct NotFiniteRow {
    /// Index of the first such vector.
    pub row: usize,
}

/// Vectors of unit length. A vector of zeros stays one: its cosine with every vector is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitRows {
    /// `[num_rows, dim]`, row-major.
    values: Vec<f32>,
    dim: usize,
}

impl UnitRows {
    /// Scales vectors to unit length.
    ///
    /// # Shapes
    /// - values: `[num_rows, dim]`, row-major
    ///
    /// # Errors
    /// Returns an error that names the first vector with an infinity or NaN.
    ///
    /// # Panics
    /// Panics if `dim` is 0 or the last row is not whole.
    pub fn new(mut values: Vec<f32>, dim: usize) -> Result<Self, NotFiniteRow> {
        assert!(
            dim > 0 && values.len().is_multiple_of(dim),
            "{} values are no rows of {dim}",
            values.len()
        );
        let is_bad = |row: &[f32]| row.iter().any(|value| !value.is_finite());
        if let Some(row) = values.par_chunks(dim).position_first(is_bad) {
            return Err(NotFiniteRow { row });
        }
        values.par_chunks_mut(dim).for_each(normalise);
        Ok(Self { values, dim })
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of values per vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// A vector, of unit length.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }

    /// The cosine of two vectors.
    pub fn cosine(&self, a: usize, b: usize) -> f32 {
        dot(self.row(a), self.row(b))
    }

    /// Writes the cosines of some rows of `self` with some rows of `others` to `out`, `[num_own, num_others]`, row-major.
    pub(super) fn cosines(&self, own: &Range<usize>, others: &Self, of: &Range<usize>, out: &mut Vec<f32>) {
        out.clear();
        out.resize(own.len() * of.len(), 0.0);
        // One thread per block: the order of additions then depends on the shape of the block alone.
        matmul(
            MatMut::from_row_major_slice_mut(out, own.len(), of.len()),
            Accum::Replace,
            self.block(own),
            others.block(of).transpose(),
            1.0,
            Par::Seq,
        );
    }

    /// No rows.
    pub(super) fn empty() -> Self {
        Self {
            values: Vec::new(),
            dim: 1,
        }
    }

    /// A copy of some rows.
    pub(super) fn chosen(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut chosen = Self::empty();
        chosen.choose(self, rows);
        chosen
    }

    /// Becomes a copy of some rows of others, in the same memory.
    pub(super) fn choose(&mut self, others: &Self, rows: impl IntoIterator<Item = usize>) {
        self.values.clear();
        self.dim = others.dim;
        for row in rows {
            self.values.extend_from_slice(others.row(row));
        }
    }

    fn block(&self, rows: &Range<usize>) -> MatRef<'_, f32> {
        let values = &self.values[rows.start * self.dim..rows.end * self.dim];
        MatRef::from_row_major_slice(values, rows.len(), self.dim)
    }

    /// The ranges of at most `size` rows that cover all rows.
    pub(super) fn ranges(&self, size: usize) -> Vec<Range<usize>> {
        let end = self.len();
        (0..end).step_by(size).map(|start| start..end.min(start + size)).collect()
    }
}

/// Divides by the largest value first, so that no square overflows or underflows.
fn normalise(row: &mut [f32]) {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return;
    }
    for value in &mut *row {
        *value /= largest;
    }
    let norm = row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    for value in row {
        *value = (f64::from(*value) / norm) as f32;
    }
}

/// Sixteen partial sums let the compiler use vector instructions.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (a, rest_a) = a.as_chunks::<LANES>();
    let (b, rest_b) = b.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use bcl_data::Seed;
    use rand::RngExt;

    /// Random vectors, the same for the same seed.
    pub(in crate::search) fn random(rows: usize, dim: usize, seed: u64) -> UnitRows {
        let mut rng = Seed(seed).rng();
        let values = (0..rows * dim).map(|_| rng.random::<f32>() - 0.5).collect();
        UnitRows::new(values, dim).unwrap()
    }

    #[test]
    fn huge_and_tiny_vectors_get_unit_length_and_zeros_stay() {
        let rows = UnitRows::new(vec![3e38, 3e38, 1e-40, 0.0, 0.0, 0.0], 2).unwrap();
        assert!((rows.cosine(0, 0) - 1.0).abs() < 1e-6);
        assert!((rows.row(1)[0] - 1.0).abs() < 1e-6);
        assert_eq!(rows.row(2), [0.0, 0.0]);
    }

    #[test]
    fn the_first_row_that_is_not_finite_is_named() {
        let error = UnitRows::new(vec![1.0, 2.0, f32::NAN, 1.0, f32::INFINITY, 0.0], 2).unwrap_err();
        assert_eq!(error, NotFiniteRow { row: 1 });
    }

    #[test]
    fn blocks_of_cosines_are_dot_products() {
        let rows = random(23, 37, 1);
        let mut block = Vec::new();
        rows.cosines(&(2..9), &rows, &(5..23), &mut block);
        for (i, row) in block.chunks(18).enumerate() {
            for (j, cosine) in row.iter().enumerate() {
                let slow: f32 = rows.row(2 + i).iter().zip(rows.row(5 + j)).map(|(a, b)| a * b).sum();
                assert!((cosine - slow).abs() < 1e-5 && (rows.cosine(2 + i, 5 + j) - slow).abs() < 1e-5);
            }
        }
    }
}
