//! The parameters of the numerical experiment.

use crate::{
    ParameterError,
    parameter::{at_least, in_closed, in_half_open, not_below},
    posterior::Posterior,
};
use serde::{Deserialize, Serialize};

/// The parameters of [`simulate`](super::simulate); the defaults give the figures of the paper's appendix B.2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationConfig {
    /// Number of anchors M per repetition.
    pub num_anchors: usize,
    /// Number of unlabelled scores N per anchor.
    pub num_negatives: usize,
    /// Number of positive scores K per anchor, which the debiased and hard estimators average.
    pub num_positives: usize,
    /// How well scores separate the classes, in `[0.5, 1]`: used to draw the scores and to weigh them.
    pub alpha: f64,
    /// Hardness of the Bayesian weight, in `[0, 1]`. Only 1/2 estimates the mean of true negatives.
    pub beta: f64,
    /// How much the anchors' score intervals differ, in `[0, 1)`.
    pub gamma: f64,
    /// Prior probability of a false negative, in `[0, 0.99]`: used to draw the scores and to weigh them.
    pub tau_plus: f64,
    /// Temperature t, at least 0.15: similarities are in `[-1/t², 1/t²]` and scores are `exp(s / t)`.
    pub temperature: f64,
    /// Concentration of the hard estimator's weights, at least 0; not the Bayesian `beta`.
    pub hard_beta: f64,
    /// Number of repetitions.
    pub repetitions: usize,
    /// The largest similarity, if it is not `1/t²`: similarities are in `[-half_width, half_width]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

/// The largest prior at which anchors that have a true negative are drawn within reasonable time, even with few negatives.
const HIGHEST_TAU_PLUS: f64 = 0.99;

/// The lowest temperature whose squared errors fit an f64: `exp(2 / t³)` is then about 1e257.
const LOWEST_TEMPERATURE: f64 = 0.15;

/// A narrower interval has similarities that are equal within rounding.
const SMALLEST_HALF_WIDTH: f64 = 1e-6;

impl SimulationConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter that is not, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        at_least("num_anchors", self.num_anchors, 1)?;
        at_least("num_negatives", self.num_negatives, 1)?;
        at_least("num_positives", self.num_positives, 1)?;
        at_least("repetitions", self.repetitions, 1)?;
        Posterior::new(self.alpha, self.beta, self.tau_plus)?;
        in_closed("tau_plus", self.tau_plus, 0.0, HIGHEST_TAU_PLUS)?;
        in_half_open("gamma", self.gamma, 0.0, 1.0)?;
        not_below("temperature", self.temperature, LOWEST_TEMPERATURE)?;
        if let Some(half_width) = self.half_width {
            in_closed("half_width", half_width, SMALLEST_HALF_WIDTH, self.temperature.powi(-2))?;
        }
        not_below("hard_beta", self.hard_beta, 0.0)
    }

    /// Returns the largest similarity, `1/t²` unless [`half_width`](Self::half_width) is set; the smallest is its opposite.
    pub fn largest_similarity(&self) -> f64 {
        self.half_width.unwrap_or_else(|| self.temperature.powi(-2))
    }

    /// Returns the smallest score that an anchor can have, `exp(-1/t³)` by default: no mean of scores is below it.
    pub fn smallest_score(&self) -> f64 {
        (-self.largest_similarity() / self.temperature).exp()
    }

    /// Returns the posterior behind the weights.
    ///
    /// # Panics
    /// Panics if a parameter is out of range.
    pub fn posterior(&self) -> Posterior {
        Posterior::new(self.alpha, self.beta, self.tau_plus).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Default for SimulationConfig {
    fn default() -> Self {
        Self {
            num_anchors: 1000,
            num_negatives: 64,
            num_positives: 10,
            alpha: 0.9,
            beta: 0.5,
            gamma: 0.1,
            tau_plus: 0.1,
            temperature: 0.5,
            hard_beta: 0.5,
            repetitions: 10,
            half_width: None,
        }
    }
}
