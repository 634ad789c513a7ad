//! Hard negative sampling: debiased, with weights that grow with the score.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
};
use crate::{
    ParameterError, Scores,
    margins::{Margins, masked, over},
    parameter::{in_closed, in_half_open, temperature},
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`Hard`].
    pub struct HardConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Prior τ+ that a negative shares the anchor's class, in [0, 1).
        tau_plus / with_tau_plus: f64 = 0.1,
        /// Concentration on high scores, in [0, 1e6]; 0 is the debiased loss. Not the β of the Bayesian weight.
        beta / with_beta: f64 = 1.0,
    }
}

impl HardConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        temperature(self.temperature)?;
        in_half_open("tau_plus", self.tau_plus, 0.0, 1.0)?;
        in_closed("beta", self.beta, 0.0, 1e6)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> Hard {
        expect_checked(self.check());
        Hard { config: self.clone() }
    }
}

/// Contrastive loss with hard negative samples:
///
/// ```text
/// Ng = N · max{ (mean(w_i x_i) - τ+ x+) / (1 - τ+), e^(s/t) },   w_i = x_i^β / mean_j x_j^β
/// ```
///
/// Gradients flow through the weights.
///
/// The floor `e^(s/t)` is what a negative of the least similarity s weighs: `e^(-1/t)` for cosines, none where the scores have no
/// [least similarity](Scores::least_similarity). Below it negatives have no gradient.
///
/// Source: Robinson et al., Contrastive Learning with Hard Negative Samples, Eq. 4.
#[derive(Debug)]
pub struct Hard {
    config: HardConfig,
}

impl Estimator for Hard {
    fn name(&self) -> &'static str {
        "hard"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let HardConfig {
            temperature,
            tau_plus,
            beta,
        } = self.config;
        let margins = Margins::with_floor(&scores, temperature);
        let expected_false = margins.positive() * margins.counts() * tau_plus;
        let mass = over(
            margins.mass(Some(margins.hard_weights(beta))) - expected_false,
            1.0 - tau_plus,
        );
        Losses::new(margins.loss(margins.floored(mass)), margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        let margins = Margins::new(scores, self.config.temperature);
        masked(
            over(margins.hard_weights(self.config.beta), 1.0 - self.config.tau_plus),
            scores.mask.as_ref(),
        )
    }
}
