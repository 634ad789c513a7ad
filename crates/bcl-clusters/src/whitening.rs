//! Transformations that make a covariance the identity.

use crate::ClusterError;
use faer::{
    Mat, MatRef, Par, Spec,
    diag::Diag,
    dyn_stack::{MemBuffer, MemStack},
    linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch},
};

/// Eigenvalues are raised to this share of their mean, so that directions without variance are not blown up.
const FLOOR: f64 = 0.01;

/// Eigenvalues in ascending order, and eigenvectors as the columns of a row-major matrix, of a symmetric `[dim, dim]`.
pub(crate) fn eigen(matrix: &[f64]) -> Result<(Vec<f64>, Vec<f64>), ClusterError> {
    let dim = matrix.len().isqrt();
    let (mut values, mut vectors) = (Diag::<f64>::zeros(dim), Mat::<f64>::zeros(dim, dim));
    // On one thread: the order of sums must not depend on their number.
    let scratch = self_adjoint_evd_scratch::<f64>(dim, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    self_adjoint_evd(
        MatRef::from_row_major_slice(matrix, dim, dim),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Spec::default(),
    )
    .map_err(|_| ClusterError::Eigenvalues)?;
    let values: Vec<f64> = values.column_vector().iter().copied().collect();
    let vectors: Vec<f64> = (0..dim * dim).map(|index| vectors[(index / dim, index % dim)]).collect();
    if values.iter().chain(&vectors).all(|value| value.is_finite()) {
        Ok((values, vectors))
    } else {
        Err(ClusterError::Eigenvalues)
    }
}

/// `U diag(e^-½)` of a covariance with eigenvalues e and eigenvectors U, with small eigenvalues raised to 1 % of their mean; all zeros if the covariance is 0.
pub(crate) fn whitening(covariance: &[f64]) -> Result<Vec<f64>, ClusterError> {
    let (values, vectors) = eigen(covariance)?;
    let dim = values.len();
    let floor = FLOOR * values.iter().sum::<f64>() / dim as f64;
    // What is subnormal here came from values whose squares vanish.
    if floor < f64::MIN_POSITIVE {
        return Ok(vec![0.0; dim * dim]);
    }
    let scales: Vec<f64> = values.iter().map(|value| value.max(floor).sqrt().recip()).collect();
    Ok((0..dim * dim).map(|index| vectors[index] * scales[index % dim]).collect())
}

/// The product of two `[dim, dim]` matrices.
pub(crate) fn product(left: &[f64], right: &[f64], dim: usize) -> Vec<f64> {
    let entry = |index: usize| {
        (0..dim)
            .map(|inner| left[index / dim * dim + inner] * right[inner * dim + index % dim])
            .sum()
    };
    (0..dim * dim).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transposed(matrix: &[f64], dim: usize) -> Vec<f64> {
        (0..dim * dim).map(|index| matrix[index % dim * dim + index / dim]).collect()
    }

    #[test]
    fn whitening_makes_a_covariance_the_identity() {
        let covariance = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 1.0];
        let whitener = whitening(&covariance).unwrap();
        let found = product(&transposed(&whitener, 3), &product(&covariance, &whitener, 3), 3);
        for (index, found) in found.iter().enumerate() {
            let expected = if index % 4 == 0 { 1.0 } else { 0.0 };
            assert!((found - expected).abs() < 1e-12, "{index}: {found}");
        }
    }

    #[test]
    fn a_direction_without_variance_is_raised_to_the_floor() {
        // The mean eigenvalue is 1, so the floor is 0.01 and its scale 10.
        let whitener = whitening(&[2.0, 0.0, 0.0, 0.0]).unwrap();
        let squares: f64 = whitener.iter().map(|value| value * value).sum();
        assert!((squares - (0.5 + 100.0)).abs() < 1e-9, "{whitener:?}");
        assert_eq!(whitening(&[0.0; 4]).unwrap(), [0.0; 4]);
    }
}
