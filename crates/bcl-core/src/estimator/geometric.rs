//! The geometric loss of Bayesian data augmentation.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
};
use crate::{
    ParameterError, Scores,
    margins::{Margins, masked, over},
    parameter::temperature,
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`Geometric`].
    pub struct GeometricConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
    }
}

impl GeometricConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        temperature(self.temperature)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> Geometric {
        expect_checked(self.check());
        Geometric {
            temperature: self.temperature,
        }
    }
}

/// The geometric loss:
///
/// ```text
/// L = -( 3 log x+ - log S - u S ),    S = Σ x_i,    u ~ Gamma(2, rate = S), constant in the gradient
/// ```
///
/// The noise of the scores holds standard draws `g ~ Gamma(2, 1)`, and `u = g / S`.
///
/// Source: the Bayesian data augmentation paper, appendix.
#[derive(Debug)]
pub struct Geometric {
    temperature: f64,
}

impl Estimator for Geometric {
    fn name(&self) -> &'static str {
        "geometric"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let noise = scores
            .noise
            .clone()
            .expect("the geometric loss needs one Gamma(2, 1) draw an anchor: add them with Scores::with_noise");
        let margins = Margins::around_hardest(&scores, self.temperature);
        let positives = over(scores.positives, self.temperature);
        let log_sum = margins.decoupled_loss(margins.mass(None)) + positives.clone();
        let relative_sum = (log_sum.clone() - log_sum.clone().detach()).exp();
        Losses::new(log_sum + noise * relative_sum - positives * 3.0, margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        masked(scores.negatives.ones_like(), scores.mask.as_ref())
    }

    fn noise_shape(&self) -> Option<f64> {
        Some(2.0)
    }
}
