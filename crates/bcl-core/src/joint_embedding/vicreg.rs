//! VICReg: variance, invariance and covariance.

use super::{centred, shape_of_views};
use crate::{config::configuration, parameter::in_closed, scores::off_diagonal};
use bcl_kernels::matmul;
use burn::tensor::{Tensor, activation::relu};

configuration! {
    VicRegLossConfig => VicRegLoss {
        /// Weight of the squared distance between the views, in [0, 1e6].
        invariance / with_invariance: f64 = 25.0,
        /// Weight of the hinge on standard deviations, in [0, 1e6].
        variance / with_variance: f64 = 25.0,
        /// Weight of the squared covariances, in [0, 1e6].
        covariance / with_covariance: f64 = 1.0,
        /// What is added to a variance before the square root, in [1e-12, 1].
        epsilon / with_epsilon: f64 = 1e-4,
    }

    check(config) {
        in_closed("invariance", config.invariance, 0.0, 1e6)?;
        in_closed("variance", config.variance, 0.0, 1e6)?;
        in_closed("covariance", config.covariance, 0.0, 1e6)?;
        in_closed("epsilon", config.epsilon, 1e-12, 1.0)
    }

    init(config) {
        VicRegLoss { config: config.clone() }
    }
}

/// The VICReg loss of B samples in D dimensions, with variances and covariances C of each view over B - 1:
///
/// ```text
/// L = invariance · Σ |z0 - z1|² / (B D)
///   + variance   · mean over views and dimensions of max(0, 1 - √(var + ε))
///   + covariance · sum over views of Σ_{i≠j} C_ij² / D
/// ```
///
/// The variance is averaged over the views and the covariance is added, as in the authors' code. Embeddings are not normalised.
///
/// Source: Bardes, Ponce, LeCun, [VICReg](https://arxiv.org/abs/2105.04906), Eq. 1 to 6.
///
/// ```
/// use bcl_core::joint_embedding::VicRegLossConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let collapsed = Tensor::<2>::ones([4, 3], &device);
/// let loss = VicRegLossConfig::new().init().forward(collapsed.clone(), collapsed).into_scalar::<f32>();
/// assert!((loss - 25.0 * 0.99).abs() < 1e-4); // the hinge alone: √ε is 0.01
/// ```
#[derive(Debug, Clone)]
pub struct VicRegLoss {
    config: VicRegLossConfig,
}

/// The three terms of the VICReg loss, before their weights.
///
/// # Shapes
/// - all: `[1]`
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct VicRegTerms {
    /// The mean squared difference of the views.
    pub invariance: Tensor<1>,
    /// The mean hinge on the standard deviations.
    pub variance: Tensor<1>,
    /// The sum of the squared covariances over D, of both views.
    pub covariance: Tensor<1>,
}

impl VicRegLoss {
    /// Computes the loss of a batch.
    ///
    /// # Shapes
    /// - first, second: `[num_samples, dim]`
    /// - output:        `[1]`
    ///
    /// # Panics
    /// Panics if the shapes differ, or if there are fewer than two samples or two dimensions.
    pub fn forward(&self, first: Tensor<2>, second: Tensor<2>) -> Tensor<1> {
        let VicRegTerms {
            invariance,
            variance,
            covariance,
        } = self.terms(first, second);
        invariance * self.config.invariance + variance * self.config.variance + covariance * self.config.covariance
    }

    /// Computes the three terms of the loss.
    ///
    /// # Shapes
    /// - first, second: `[num_samples, dim]`
    ///
    /// # Panics
    /// Panics as [`forward`](Self::forward) does.
    pub fn terms(&self, first: Tensor<2>, second: Tensor<2>) -> VicRegTerms {
        let [num_samples, dim] = shape_of_views(&first, &second);
        let difference = first.clone() - second.clone();
        let invariance = (difference.clone() * difference).sum() * ((num_samples * dim) as f64).recip();
        let [of_first, of_second] = [first, second].map(|view| self.spread(view));
        VicRegTerms {
            invariance,
            variance: (of_first.0 + of_second.0) * 0.5,
            covariance: of_first.1 + of_second.1,
        }
    }

    /// The hinge and the covariances of one view.
    fn spread(&self, view: Tensor<2>) -> (Tensor<1>, Tensor<1>) {
        let [num_samples, dim] = view.dims();
        let [over_samples, over_dim] = [num_samples - 1, dim].map(|count| (count as f64).recip());
        let (centred, squares) = centred(view);
        let deviations = (squares * over_samples + self.config.epsilon).sqrt();
        let hinge = relu(-deviations + 1.0).sum() * over_dim;
        let covariances = off_diagonal(matmul(centred.clone().transpose(), centred)) * over_samples;
        (hinge, (covariances.clone() * covariances).sum() * over_dim)
    }
}
