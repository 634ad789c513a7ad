//! The posterior of tensors of eCDF values, for rows of different lengths, which cannot share one table of weights.

use bcl_posterior::{OfficialCoefficients, OrderMixture, Posterior};
use burn::tensor::Tensor;

/// The functions of a [`Posterior`] for tensors of eCDF values.
///
/// ```
/// use bcl_core::posterior::{Posterior, PosteriorTensors};
/// use burn::tensor::{Device, Tensor};
///
/// let ecdf = Tensor::<2>::from_floats([[0.5, 1.0]], &Device::flex());
/// let phi = Posterior::new(0.9, 0.9, 0.1).unwrap().phi_tensor(ecdf);
/// assert_eq!(phi.slice([0..1, 1..2]).into_scalar::<f32>(), 1.0);
/// ```
pub trait PosteriorTensors {
    /// Computes [`phi`](Posterior::phi) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: the same shape, any rank
    fn phi_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D>;

    /// Computes [`p_true_negative`](Posterior::p_true_negative) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: the same shape, any rank
    fn p_true_negative_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D>;

    /// Computes [`omega`](Posterior::omega) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: the same shape, any rank
    fn omega_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D>;

    /// Computes [`omega_official`](Posterior::omega_official) of each eCDF value, in the tensor's own precision as the released code does.
    ///
    /// # Shapes
    /// - ecdf, output: the same shape, any rank
    fn omega_official_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D>;
}

impl PosteriorTensors for Posterior {
    fn phi_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        let unlabelled = self.unlabelled();
        let half_density = half_density(unlabelled, ecdf.clone());
        (ecdf / (half_density + unlabelled.lowest)).clamp_max(1.0)
    }

    fn p_true_negative_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        relative_density(self, self.true_negatives(), ecdf).clamp_max(1.0)
    }

    fn omega_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        relative_density(self, self.wanted(), ecdf)
    }

    fn omega_official_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        let OfficialCoefficients { a, b, wanted } = self.official();
        let unlabelled = self.unlabelled();
        let phi = ((ecdf * (4.0 * a) + b * b).sqrt() - b) / (2.0 * a);
        let complement = -phi.clone() + 1.0;
        (complement.clone() * wanted.lowest + phi.clone() * wanted.highest)
            / (complement * unlabelled.lowest + phi * unlabelled.highest)
    }
}

/// The density of `part` relative to the density of all unlabelled scores, at each eCDF value.
fn relative_density<const D: usize>(posterior: &Posterior, part: OrderMixture, ecdf: Tensor<D>) -> Tensor<D> {
    if posterior.highest_is_impossible() {
        return ecdf.ones_like();
    }
    let unlabelled = posterior.unlabelled();
    let half_density = half_density(unlabelled, ecdf.clone());
    let complement = (-ecdf.clone() + 1.0) / (half_density.clone() + unlabelled.highest);
    let phi = (ecdf / (half_density.clone() + unlabelled.lowest)).clamp_max(1.0);
    (complement * part.lowest + phi * part.highest) / half_density
}

/// [`OrderMixture::half_density`] of each eCDF value.
fn half_density<const D: usize>(mixture: OrderMixture, ecdf: Tensor<D>) -> Tensor<D> {
    let (lowest, highest) = (mixture.lowest * mixture.lowest, mixture.highest * mixture.highest);
    ((-ecdf.clone() + 1.0) * lowest + ecdf * highest).sqrt()
}
