//! Debiased contrastive loss: the expected share of false negatives is subtracted.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
};
use crate::{
    ParameterError, Scores,
    margins::{Margins, masked, over},
    parameter::{in_half_open, temperature},
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`Debiased`].
    pub struct DebiasedConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Prior τ+ that a negative shares the anchor's class, in [0, 1).
        tau_plus / with_tau_plus: f64 = 0.1,
    }
}

impl DebiasedConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        temperature(self.temperature)?;
        in_half_open("tau_plus", self.tau_plus, 0.0, 1.0)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> Debiased {
        expect_checked(self.check());
        Debiased { config: self.clone() }
    }
}

/// Debiased contrastive loss:
///
/// ```text
/// Ng = N · max{ (mean x_i - τ+ x+) / (1 - τ+), e^(s/t) }
/// ```
///
/// The floor `e^(s/t)` is what a negative of the least similarity s weighs: `e^(-1/t)` for cosines, none where the scores have no
/// [least similarity](Scores::least_similarity). Below it negatives have no gradient.
///
/// Source: Chuang et al., Debiased Contrastive Learning, Eq. 7 and 8 with one positive.
#[derive(Debug)]
pub struct Debiased {
    config: DebiasedConfig,
}

impl Estimator for Debiased {
    fn name(&self) -> &'static str {
        "debiased"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let DebiasedConfig { temperature, tau_plus } = self.config;
        let margins = Margins::with_floor(&scores, temperature);
        let expected_false = margins.positive() * margins.counts() * tau_plus;
        let mass = over(margins.mass(None) - expected_false, 1.0 - tau_plus);
        Losses::new(margins.loss(margins.floored(mass)), margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        masked(
            scores.negatives.full_like(1.0 / (1.0 - self.config.tau_plus)),
            scores.mask.as_ref(),
        )
    }
}
