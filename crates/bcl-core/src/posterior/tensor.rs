//! The posterior of tensors of eCDF values, for rows of different lengths, which cannot share one table of weights.

use burn::tensor::Tensor;

use super::{OrderMixture, Posterior};

impl Posterior {
    /// Computes [`phi`](Self::phi) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: the same shape, any rank
    ///
    /// ```
    /// use bcl_core::posterior::Posterior;
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let ecdf = Tensor::<2>::from_floats([[0.5, 1.0]], &Device::flex());
    /// let phi = Posterior::new(0.9, 0.9, 0.1).unwrap().phi_tensor(ecdf);
    /// assert_eq!(phi.slice([0..1, 1..2]).into_scalar::<f32>(), 1.0);
    /// ```
    pub fn phi_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        let unlabelled = self.unlabelled();
        let half_density = half_density(unlabelled, ecdf.clone());
        (ecdf / (half_density + unlabelled.lowest)).clamp_max(1.0)
    }

    /// Computes [`p_true_negative`](Self::p_true_negative) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: the same shape, any rank
    pub fn p_true_negative_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        self.relative_density_tensor(self.true_negative(), ecdf).clamp_max(1.0)
    }

    /// Computes [`omega`](Self::omega) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: the same shape, any rank
    pub fn omega_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        self.relative_density_tensor(self.wanted(), ecdf)
    }

    fn relative_density_tensor<const D: usize>(&self, part: OrderMixture, ecdf: Tensor<D>) -> Tensor<D> {
        if self.highest_is_impossible() {
            return ecdf.ones_like();
        }
        let unlabelled = self.unlabelled();
        let half_density = half_density(unlabelled, ecdf.clone());
        let complement = (-ecdf.clone() + 1.0) / (half_density.clone() + unlabelled.highest);
        let phi = (ecdf / (half_density.clone() + unlabelled.lowest)).clamp_max(1.0);
        (complement * part.lowest + phi * part.highest) / half_density
    }
}

/// [`OrderMixture::half_density`] of each eCDF value.
fn half_density<const D: usize>(mixture: OrderMixture, ecdf: Tensor<D>) -> Tensor<D> {
    let (lowest, highest) = (mixture.lowest * mixture.lowest, mixture.highest * mixture.highest);
    ((-ecdf.clone() + 1.0) * lowest + ecdf * highest).sqrt()
}
