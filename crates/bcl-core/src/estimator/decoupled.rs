//! Decoupled contrastive loss: InfoNCE without the positive in the denominator.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
};
use crate::{
    ParameterError, Scores,
    margins::{Margins, masked},
    parameter::temperature,
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`Decoupled`].
    pub struct DecoupledConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
    }
}

impl DecoupledConfig {
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
    pub fn init(&self) -> Decoupled {
        expect_checked(self.check());
        Decoupled {
            temperature: self.temperature,
        }
    }
}

/// Decoupled contrastive loss: `Ng = Σ x_i`, and the loss is `log(Ng / x+)`, which may be negative.
///
/// Not to be confused with the debiased loss, which the field abbreviates alike.
///
/// Source: Yeh et al., Decoupled Contrastive Learning.
#[derive(Debug)]
pub struct Decoupled {
    temperature: f64,
}

impl Estimator for Decoupled {
    fn name(&self) -> &'static str {
        "decoupled"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let margins = Margins::around_hardest(&scores, self.temperature);
        Losses::new(margins.decoupled_loss(margins.mass(None)), margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        masked(scores.negatives.ones_like(), scores.mask.as_ref())
    }
}
