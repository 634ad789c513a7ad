//! The posterior of whole tensors of eCDF values: for rows whose number of negatives differs, where one weight table cannot serve.

use burn::tensor::Tensor;

use super::Posterior;

impl Posterior {
    /// [`phi`](Self::phi) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: any, the same
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
        let density = self.density_tensor(ecdf.clone());
        (ecdf / (density + self.density_at_lowest())).clamp_max(1.0)
    }

    /// [`p_true_negative`](Self::p_true_negative) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: any, the same
    pub fn p_true_negative_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        let scale = self.tau_minus();
        self.mixture_over_density(ecdf, self.alpha * scale, (1.0 - self.alpha) * scale)
            .clamp_max(1.0)
    }

    /// [`omega`](Self::omega) of each eCDF value.
    ///
    /// # Shapes
    /// - ecdf, output: any, the same
    pub fn omega_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        let easy = (1.0 - self.beta) * self.alpha;
        let hard = self.beta * (1.0 - self.alpha);
        self.mixture_over_density(ecdf, easy / (easy + hard), hard / (easy + hard))
    }

    /// `(at_lowest (1 - Φ) + at_highest Φ) / r`, the form that the weight and the probability share.
    fn mixture_over_density<const D: usize>(
        &self,
        ecdf: Tensor<D>,
        at_lowest: f64,
        at_highest: f64,
    ) -> Tensor<D> {
        if self.highest_is_impossible() {
            return ecdf.ones_like();
        }
        let density = self.density_tensor(ecdf.clone());
        let complement = (-ecdf.clone() + 1.0) / (density.clone() + self.density_at_highest());
        let phi = (ecdf / (density.clone() + self.density_at_lowest())).clamp_max(1.0);
        (complement * at_lowest + phi * at_highest) / density
    }

    /// `r` of each eCDF value.
    fn density_tensor<const D: usize>(&self, ecdf: Tensor<D>) -> Tensor<D> {
        let (lowest, highest) = (self.density_at_lowest(), self.density_at_highest());
        ((-ecdf.clone() + 1.0) * (lowest * lowest) + ecdf * (highest * highest)).sqrt()
    }
}
