//! Bayesian data augmentation: the normaliser of InfoNCE traded for a random rate.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
};
use crate::{
    ParameterError, Scores,
    margins::{Margins, masked, over},
    parameter::{in_closed, temperature},
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`Augmented`].
    pub struct AugmentedConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Share λ of the augmented loss, the rest being InfoNCE, in [0, 1]; 1 is the augmented loss alone.
        lambda / with_lambda: f64 = 1.0,
    }
}

impl AugmentedConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        temperature(self.temperature)?;
        in_closed("lambda", self.lambda, 0.0, 1.0)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> Augmented {
        expect_checked(self.check());
        Augmented { config: self.clone() }
    }
}

/// The augmented loss and its stochastic-EM mixture with InfoNCE:
///
/// ```text
/// L = (1 - λ) · L_InfoNCE + λ · ( -log x+ + u (x+ + Σ x_i) ),    u ~ Gamma(1, rate = x+ + Σ x_i), constant in the gradient
/// ```
///
/// The noise of the scores holds standard draws `g ~ Gamma(1, 1)`, and `u = g / rate`. The value of the second term is then `g`
/// itself whatever the scores, while its gradient is `g` times that of the log-normaliser: at `g = 1` it is InfoNCE's.
///
/// Source: the Bayesian data augmentation paper, appendix (a minus sign is lost in print).
#[derive(Debug)]
pub struct Augmented {
    config: AugmentedConfig,
}

impl Estimator for Augmented {
    fn name(&self) -> &'static str {
        "augmented"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let AugmentedConfig { temperature, lambda } = self.config;
        let noise = scores
            .noise
            .clone()
            .expect("the augmented loss needs one Gamma(1, 1) draw an anchor: add them with Scores::with_noise");
        let margins = Margins::new(&scores, temperature);
        // InfoNCE is log(rate / x+), so rate / rate.detach() needs no exponential of a large number.
        let info_nce = margins.loss(margins.mass(None));
        let log_rate = info_nce.clone() + over(scores.positives.clone(), temperature);
        let relative_rate = (log_rate.clone() - log_rate.detach()).exp();
        let augmented = noise * relative_rate - over(scores.positives, temperature);
        Losses::new(info_nce * (1.0 - lambda) + augmented * lambda, margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        masked(scores.negatives.ones_like(), scores.mask.as_ref())
    }

    fn noise_shape(&self) -> Option<f64> {
        Some(1.0)
    }
}
