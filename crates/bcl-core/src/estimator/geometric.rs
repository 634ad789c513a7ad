//! The geometric loss of Bayesian data augmentation.

use super::{Estimator, Requirements, config::estimator};
use crate::{Losses, Pairs, Scores, SideInformation, margins::PositiveMargins, parameter::temperature};
use burn::tensor::Tensor;

estimator! {
    GeometricLossConfig => GeometricLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
    }

    check(config) {
        temperature(config.temperature)
    }

    init(config) {
        GeometricLoss { temperature: config.temperature }
    }
}

/// The geometric loss:
///
/// ```text
/// L = -( 3 log x+ - log S - u S ),    S = Σ x_i,    u ~ Gamma(2, rate = S), constant in the gradient
/// ```
///
/// The [noise](SideInformation::noise) is one standard draw `g ~ Gamma(2, 1)` per anchor, and `u = g / S`.
///
/// Source: the Bayesian data augmentation paper, appendix.
///
/// ```
/// use bcl_core::{GeometricLossConfig, Reduction, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0]], &device));
/// let side = SideInformation::none().with_noise(Tensor::from_data([1.6], &device));
/// let loss = GeometricLossConfig::new().init().forward_with(scores, &side, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - (2f32.ln() + 1.6)).abs() < 1e-6); // x+ is 1 and S is 2
/// ```
#[derive(Debug)]
pub struct GeometricLoss {
    temperature: f64,
}

impl Estimator for GeometricLoss {
    fn losses(&self, pairs: Pairs, side: &SideInformation) -> Losses {
        let scores = pairs.into_scores();
        let noise = side.noise_for(&scores, "geometric", 2.0);
        let margins = PositiveMargins::around_hardest(&scores, self.temperature);
        let log_sum = margins.decoupled_loss(margins.mass(None)) + margins.log_positive();
        let relative_sum = (log_sum.clone() - log_sum.clone().detach()).exp();
        margins.losses(log_sum + noise * relative_sum - margins.log_positive() * 3.0)
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.ones_like())
    }

    fn temperature(&self) -> f64 {
        self.temperature
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            gamma_shape: Some(2.0),
            ..Requirements::default()
        }
    }
}
