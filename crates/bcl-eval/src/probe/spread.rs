//! Spread of features over directions, which shows whether an encoder has collapsed.

use super::{
    ProbeError,
    geometry::checked,
    labelled::{to_host, unit_rows},
};
use bcl_core::matmul;
use burn::tensor::Tensor;
use faer::{
    MatRef, Par, Spec,
    diag::Diag,
    dyn_stack::{MemBuffer, MemStack},
    linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch},
};

/// Variance of unit features below which they are one point, up to rounding in 32 bits.
const ROUNDING: f64 = 1e-12;

/// How far features spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation of a dimension of unit features times √dim, averaged over dimensions, in [0, 1]: 0 if all features are equal,
    /// 1 if they cover the sphere evenly. Features after a ReLU have no negative entries, so that theirs stays below.
    pub std: f64,
    /// Effective number of dimensions over which unit features vary, from 1 to dim; 0 if all features are equal.
    pub effective_rank: f64,
}

/// Measures the spread of features.
///
/// ```text
/// std            = √dim · mean over j of std(u_j)        u: features, with rows normalised to length 1
/// effective rank = exp(-Σ p_k ln p_k)                    p_k = λ_k / Σ λ, with λ the eigenvalues of the covariance of u
/// ```
///
/// The standard deviation is the measure of collapse of Chen and He, [Exploring Simple Siamese Representation
/// Learning](https://arxiv.org/abs/2011.10566), section 4.1. The effective rank follows Roy and Vetterli, "The effective rank: a measure
/// of effective dimensionality" (EUSIPCO 2007), for the covariance matrix: it also falls if features vary, but along few directions only.
///
/// Returns `None` if the eigenvalues cannot be computed.
///
/// # Shapes
/// - features: `[num_samples, dim]`
///
/// # Errors
/// Returns [`ProbeError::Empty`] without samples and [`ProbeError::NotFinite`] if a feature is NaN or infinite.
///
/// ```
/// use bcl_eval::probe::spread;
/// use burn::tensor::{Device, Tensor};
///
/// let axes = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
/// let spread = spread(Tensor::from_floats(axes, &Device::flex()))?.expect("finite eigenvalues");
/// assert!((spread.std - 1.0).abs() < 1e-6 && (spread.effective_rank - 2.0).abs() < 1e-6);
/// # Ok::<(), bcl_eval::probe::ProbeError>(())
/// ```
pub fn spread(features: Tensor<2>) -> Result<Option<Spread>, ProbeError> {
    let rows = unit_rows(checked(&features)?);
    let [num_samples, dim] = rows.dims();
    // Less the first row, equal features are exactly 0, and the mean of others rounds less.
    let shifted = rows.clone() - rows.slice_dim(0, 0..1);
    let centred = shifted.clone() - shifted.mean_dim(0);
    let variances: Vec<f64> = to_host(centred.clone().square().mean_dim(0))
        .into_iter()
        .map(f64::from)
        .collect();
    let std = variances.iter().map(|variance| variance.sqrt()).sum::<f64>() / dim as f64 * (dim as f64).sqrt();
    if variances.iter().sum::<f64>() < ROUNDING {
        return Ok(Some(Spread {
            std,
            effective_rank: 0.0,
        }));
    }
    // X'X and XX' have the same eigenvalues apart from zeros, so the smaller one is enough.
    let transposed = centred.clone().transpose();
    let (side, gram) = if dim <= num_samples {
        (dim, matmul(transposed, centred))
    } else {
        (num_samples, matmul(centred, transposed))
    };
    let gram: Vec<f64> = to_host(gram).into_iter().map(f64::from).collect();
    Ok(eigenvalues(&gram, side).map(|eigenvalues| Spread {
        std,
        effective_rank: effective_rank(&eigenvalues),
    }))
}

/// The eigenvalues of a symmetric `[side, side]`.
fn eigenvalues(matrix: &[f64], side: usize) -> Option<Vec<f64>> {
    let mut values = Diag::<f64>::zeros(side);
    // On one thread: the order of sums must not depend on their number.
    let scratch = self_adjoint_evd_scratch::<f64>(side, ComputeEigenvectors::No, Par::Seq, Spec::default());
    self_adjoint_evd(
        MatRef::from_row_major_slice(matrix, side, side),
        values.as_mut(),
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Spec::default(),
    )
    .ok()?;
    Some(values.column_vector().iter().copied().collect())
}

/// The exponential of the entropy of normalised eigenvalues. Rounding can make small ones negative: they count as 0.
fn effective_rank(eigenvalues: &[f64]) -> f64 {
    let positive = || eigenvalues.iter().copied().filter(|&value| value > 0.0);
    let total: f64 = positive().sum();
    let entropy: f64 = positive()
        .map(|value| {
            let share = value / total;
            -share * share.ln()
        })
        .sum();
    entropy.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::planted::noise;
    use burn::tensor::{Device, TensorData};

    fn found(features: Tensor<2>) -> Spread {
        spread(features).unwrap().unwrap()
    }

    #[test]
    fn equal_features_have_neither_deviation_nor_rank() {
        let same = Tensor::from_floats([[0.3, -0.7, 0.2]; 50], &Device::flex());
        let spread = found(same);
        assert!(spread.std < 1e-5, "{spread:?}");
        assert_eq!(spread.effective_rank, 0.0);
        // The sum of many equal numbers rounds.
        let many = found(Tensor::full([1000, 128], 0.1, &Device::flex()));
        assert_eq!((many.std, many.effective_rank), (0.0, 0.0));
    }

    #[test]
    fn features_that_vary_along_a_line_have_rank_one() {
        // Opposite directions, and points of a short arc, which is nearly a line.
        let signs = noise(200, 1, 3).sign();
        let axis = Tensor::from_floats([[1.0, 2.0, -1.0, 0.5, 3.0, 1.0, 1.0, 0.1]], &Device::flex());
        let spread = found(signs.matmul(axis.clone()));
        assert!((spread.effective_rank - 1.0).abs() < 1e-3, "{spread:?}");
        let offsets = Tensor::from_floats([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]], &Device::flex());
        let arc = axis + (noise(200, 1, 4) * 1e-2).matmul(offsets);
        let spread = found(arc);
        assert!(spread.effective_rank < 1.01 && spread.std < 0.02, "{spread:?}");
    }

    #[test]
    fn isotropic_features_have_deviation_one_and_full_rank() {
        let spread = found(noise(4000, 16, 5));
        assert!((spread.std - 1.0).abs() < 0.01, "{spread:?}");
        assert!((spread.effective_rank - 16.0).abs() < 0.1, "{spread:?}");
    }

    #[test]
    fn fewer_samples_than_dimensions_span_one_dimension_less() {
        let spread = found(noise(20, 2000, 6));
        assert!((spread.effective_rank - 19.0).abs() < 0.3, "{spread:?}");
        assert!((spread.std - 1.0).abs() < 0.05, "{spread:?}");
        let one = found(noise(1, 5, 6));
        assert_eq!((one.std, one.effective_rank), (0.0, 0.0));
    }

    #[test]
    fn the_rank_counts_directions_by_their_variance() {
        // Two equal eigenvalues have rank 2, and shares of 1/2, 1/4 and 1/4 the exponential of their entropy, 2^1.5.
        assert!((effective_rank(&[3.0, 3.0, 0.0, -1e-9]) - 2.0).abs() < 1e-12);
        assert!((effective_rank(&[2.0, 1.0, 1.0]) - 2.0_f64.powf(1.5)).abs() < 1e-12);
    }

    #[test]
    fn neither_scale_nor_a_rotation_changes_the_rank() {
        let features = noise(60, 6, 7) * Tensor::<2>::from_floats([[1.0, 0.5, 0.5, 0.1, 0.1, 2.0]], &Device::flex());
        let expected = found(features.clone());
        // Householder reflection I - 2 v v' with |v| = 1.
        let v = Tensor::<2>::from_data(TensorData::new(vec![6.0_f32.sqrt().recip(); 6], [6, 1]), &Device::flex());
        let reflection = Tensor::<2>::eye(6, &Device::flex()) - v.clone().matmul(v.transpose()) * 2.0;
        let reflected = found((features * 1e20).matmul(reflection));
        assert!(
            (reflected.effective_rank - expected.effective_rank).abs() < 1e-4,
            "{reflected:?} {expected:?}"
        );
    }

    #[test]
    fn features_that_cannot_be_measured_are_refused() {
        let device = Device::flex();
        assert_eq!(spread(Tensor::zeros([0, 3], &device)), Err(ProbeError::Empty { set: "test" }));
        let broken = Tensor::from_floats([[1.0, 0.0], [f32::NAN, 0.0]], &device);
        assert_eq!(spread(broken), Err(ProbeError::NotFinite { set: "test", sample: 1 }));
    }
}
