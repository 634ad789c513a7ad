//! Bayesian data augmentation: the normaliser of InfoNCE is replaced by a random rate.

use super::{Estimator, config::estimator};
use crate::{
    Losses, Scores, SideInformation,
    margins::PositiveMargins,
    parameter::{in_closed, temperature},
};
use burn::tensor::Tensor;

estimator! {
    AugmentedConfig => Augmented {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Share λ of the augmented loss, the rest being InfoNCE, in [0, 1]; 1 is the augmented loss alone.
        lambda / with_lambda: f64 = 1.0,
    }

    check(config) {
        temperature(config.temperature)?;
        in_closed("lambda", config.lambda, 0.0, 1.0)
    }

    init(config) {
        Augmented { config: config.clone() }
    }
}

/// The augmented loss and its stochastic-EM mixture with InfoNCE:
///
/// ```text
/// L = (1 - λ) · L_InfoNCE + λ · ( -log x+ + u (x+ + Σ x_i) ),    u ~ Gamma(1, rate = x+ + Σ x_i), constant in the gradient
/// ```
///
/// The [noise](SideInformation::noise) is one standard draw `g ~ Gamma(1, 1)` per anchor, and `u = g / rate`. So the value of the second
/// term is always `g`, and its gradient is `g` times that of the log-normaliser: at `g = 1` it is InfoNCE's.
///
/// Source: the Bayesian data augmentation paper, appendix (a minus sign is lost in print).
///
/// ```
/// use bcl_core::{AugmentedConfig, Estimator, Reduction, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.3, -0.2]], &device));
/// let side = SideInformation::none().with_noise(Tensor::from_data([0.7], &device));
/// let loss = AugmentedConfig::new().init().forward_with(scores, &side, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 0.7).abs() < 1e-6); // -log x+ is 0 here
/// ```
#[derive(Debug)]
pub struct Augmented {
    config: AugmentedConfig,
}

impl Estimator for Augmented {
    fn losses(&self, scores: Scores, side: &SideInformation) -> Losses {
        let AugmentedConfig { temperature, lambda } = self.config;
        let noise = side.noise_for(&scores, "augmented", 1.0);
        let margins = PositiveMargins::new(&scores, temperature);
        // InfoNCE is log(rate / x+), so rate / rate.detach() needs no exponential of a large number.
        let info_nce = margins.loss(margins.mass(None));
        let log_rate = info_nce.clone() + margins.log_positive();
        let relative_rate = (log_rate.clone() - log_rate.detach()).exp();
        let augmented = noise * relative_rate - margins.log_positive();
        margins.losses(info_nce * (1.0 - lambda) + augmented * lambda)
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.ones_like())
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }

    fn noise_shape(&self) -> Option<f64> {
        Some(1.0)
    }
}
