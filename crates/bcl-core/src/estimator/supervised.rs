//! The supervised oracle: only true negatives count.

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
    /// Configuration of [`Supervised`].
    pub struct SupervisedConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Whether the true negatives are scaled up to the mass of all N, which is what the other estimators approximate.
        rescale / with_rescale: bool = false,
    }
}

impl SupervisedConfig {
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
    pub fn init(&self) -> Supervised {
        expect_checked(self.check());
        Supervised { config: self.clone() }
    }
}

/// The loss that the unsupervised ones estimate: `Ng = Σ x_i` over the true negatives, times `N / N_TN` where rescaled.
///
/// It needs labels ([`Scores::same_class`]), so it is for measuring, not for training without them. An anchor without any true
/// negative has no loss.
///
/// Source: Liu, Wang, Bayesian Self-Supervised Contrastive Learning (arXiv 2301.11673), Eq. 1.
#[derive(Debug)]
pub struct Supervised {
    config: SupervisedConfig,
}

impl Estimator for Supervised {
    fn name(&self) -> &'static str {
        "supervised"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let weights = self.weights(&scores);
        let margins = Margins::weighed(&scores, self.config.temperature, &weights);
        Losses::new(margins.loss(margins.mass(Some(weights))), margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        let same_class = scores.same_class.clone().expect(
            "the supervised oracle needs to know which negatives share the anchor's class: add it with Scores::with_same_class",
        );
        let is_true = masked(scores.negatives.ones_like(), scores.mask.as_ref()).mask_fill(same_class, 0.0);
        if !self.config.rescale {
            return is_true;
        }
        let num_true = is_true.clone().sum_dim(1).clamp_min(1.0);
        is_true * (scores.counts() / num_true)
    }

    fn needs_truth(&self) -> bool {
        true
    }
}
