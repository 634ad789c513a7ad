//! Barlow Twins: the cross-correlation of two views should be the identity.

use super::{centred, shape_of_views};
use crate::{config::configuration, parameter::in_closed, scores::off_diagonal};
use bcl_kernels::matmul;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// By what the sum of squares of a centred column is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StandardDeviation {
    /// By the number of samples B, as the batch normalisation of the authors does.
    #[default]
    Population,
    /// By B - 1, as lightly did up to version 1.4.16. Correlations of B samples then stay below (B - 1) / B, so the loss cannot reach 0.
    Sample,
}

configuration! {
    BarlowTwinsLossConfig => BarlowTwinsLoss {
        /// Weight λ of the correlations between different dimensions, in [0, 1e6].
        lambda / with_lambda: f64 = 5e-3,
        /// Factor of the loss, in [1e-6, 1e6]; solo-learn uses 0.1.
        scale / with_scale: f64 = 1.0,
        /// How columns are standardised.
        deviation / with_deviation: StandardDeviation = StandardDeviation::Population,
        /// What is added to the variance, in [0, 1]. With 0, a constant dimension makes the loss NaN.
        epsilon / with_epsilon: f64 = 1e-5,
    }

    check(config) {
        in_closed("lambda", config.lambda, 0.0, 1e6)?;
        in_closed("scale", config.scale, 1e-6, 1e6)?;
        in_closed("epsilon", config.epsilon, 0.0, 1.0)
    }

    init(config) {
        BarlowTwinsLoss { config: config.clone() }
    }
}

/// The Barlow Twins loss. With the columns of each view standardised over the batch of B samples, `ẑ = (z - mean) / √(var + ε)`:
///
/// ```text
/// c = ẑ0ᵀ ẑ1 / B,    L = scale · ( Σ_i (c_ii - 1)² + λ Σ_{i≠j} c_ij² )
/// ```
///
/// Source: Zbontar et al., [Barlow Twins](https://arxiv.org/abs/2103.03230), Eq. 1 and 2.
///
/// ```
/// use bcl_core::joint_embedding::BarlowTwinsLossConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// // Two uncorrelated dimensions, the same in both views.
/// let view = Tensor::<2>::from_data([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], &device);
/// let loss = BarlowTwinsLossConfig::new().init().forward(view.clone(), view).into_scalar::<f32>();
/// assert!(loss < 1e-6);
/// ```
#[derive(Debug, Clone)]
pub struct BarlowTwinsLoss {
    config: BarlowTwinsLossConfig,
}

/// The two sums of the Barlow Twins loss, before λ and scale.
///
/// # Shapes
/// - both: `[1]`
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BarlowTwinsTerms {
    /// `Σ_i (c_ii - 1)²`: how far the views are from being equal.
    pub on_diagonal: Tensor<1>,
    /// `Σ_{i≠j} c_ij²`: the redundancy of the dimensions.
    pub off_diagonal: Tensor<1>,
}

impl BarlowTwinsLoss {
    /// Computes the loss of a batch.
    ///
    /// # Shapes
    /// - first, second: `[num_samples, dim]`
    /// - output:        `[1]`
    ///
    /// # Panics
    /// Panics if the shapes differ, or if there are fewer than two samples or two dimensions.
    pub fn forward(&self, first: Tensor<2>, second: Tensor<2>) -> Tensor<1> {
        let BarlowTwinsLossConfig { lambda, scale, .. } = self.config;
        let terms = self.terms(first, second);
        (terms.on_diagonal + terms.off_diagonal * lambda) * scale
    }

    /// Computes the two sums of the loss.
    ///
    /// # Shapes
    /// - first, second: `[num_samples, dim]`
    ///
    /// # Panics
    /// Panics as [`forward`](Self::forward) does.
    pub fn terms(&self, first: Tensor<2>, second: Tensor<2>) -> BarlowTwinsTerms {
        let [num_samples, _] = shape_of_views(&first, &second);
        let first = self.standardised(first) * (num_samples as f64).recip();
        let second = self.standardised(second);
        let diagonal = (first.clone() * second.clone()).sum_dim(0) - 1.0;
        let across = off_diagonal(matmul(first.transpose(), second));
        BarlowTwinsTerms {
            on_diagonal: (diagonal.clone() * diagonal).sum(),
            off_diagonal: (across.clone() * across).sum(),
        }
    }

    fn standardised(&self, view: Tensor<2>) -> Tensor<2> {
        let num_samples = view.dims()[0] as f64;
        let degrees = match self.config.deviation {
            StandardDeviation::Population => num_samples,
            StandardDeviation::Sample => num_samples - 1.0,
        };
        let (centred, squares) = centred(view);
        centred / (squares * degrees.recip() + self.config.epsilon).sqrt()
    }
}
