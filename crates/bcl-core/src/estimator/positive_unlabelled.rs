//! Positive-unlabelled contrastive loss: the negatives are corrected for positives that carry no label.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
};
use crate::{
    ParameterError, Scores,
    margins::{Margins, masked},
    parameter::{in_closed, in_half_open, temperature},
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`PositiveUnlabelled`].
    pub struct PositiveUnlabelledConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Class prior α: the share of the anchor's class among the samples, in [0, 1). Not the α of the Bayesian weight.
        class_prior / with_class_prior: f64 = 0.1,
        /// Label frequency c: the share of the anchor's class that is labelled positive, in [0, 1].
        label_frequency / with_label_frequency: f64 = 0.01,
    }
}

impl PositiveUnlabelledConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        temperature(self.temperature)?;
        in_half_open("class_prior", self.class_prior, 0.0, 1.0)?;
        in_closed("label_frequency", self.label_frequency, 0.0, 1.0)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> PositiveUnlabelled {
        expect_checked(self.check());
        PositiveUnlabelled { config: self.clone() }
    }
}

/// Positive-unlabelled contrastive loss with class prior α and label frequency c:
///
/// ```text
/// Ng = N · max{ (1 - αc) / (1 - α) · mean x_i - α(1 - c) / (1 - α) · x+, e^(s/t) }
/// ```
///
/// The paper's floor `e^-1` assumes cosines and a temperature of 1.
///
/// The floor `e^(s/t)` is what a negative of the least similarity s weighs: `e^(-1/t)` for cosines, none where the scores have no
/// [least similarity](Scores::least_similarity). Below it negatives have no gradient.
///
/// Source: Contrastive Learning with Negative Sampling Correction, Eq. 8 with one positive.
#[derive(Debug)]
pub struct PositiveUnlabelled {
    config: PositiveUnlabelledConfig,
}

impl PositiveUnlabelled {
    fn unlabelled_weight(&self) -> f64 {
        let PositiveUnlabelledConfig {
            class_prior,
            label_frequency,
            ..
        } = self.config;
        (1.0 - class_prior * label_frequency) / (1.0 - class_prior)
    }

    fn positive_weight(&self) -> f64 {
        let PositiveUnlabelledConfig {
            class_prior,
            label_frequency,
            ..
        } = self.config;
        class_prior * (1.0 - label_frequency) / (1.0 - class_prior)
    }
}

impl Estimator for PositiveUnlabelled {
    fn name(&self) -> &'static str {
        "positive_unlabelled"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let margins = Margins::with_floor(&scores, self.config.temperature);
        let hidden_positives = margins.positive() * margins.counts() * self.positive_weight();
        let mass = margins.mass(None) * self.unlabelled_weight() - hidden_positives;
        Losses::new(margins.loss(margins.floored(mass)), margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        masked(scores.negatives.full_like(self.unlabelled_weight()), scores.mask.as_ref())
    }
}
