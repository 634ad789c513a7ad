//! Ring loss: only negatives of middling difficulty count.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
    ranked::{RankTable, RankWeight},
};
use crate::{
    ParameterError, Scores,
    parameter::{in_closed, in_half_open, temperature},
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`Ring`].
    pub struct RingConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Share of the anchor's lowest scores that is left out, in [0, upper).
        lower / with_lower: f64 = 0.0,
        /// Share of the anchor's scores up to which they count, in (lower, 1]; the rest are probable false negatives.
        upper / with_upper: f64 = 0.9,
    }
}

impl RingConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        temperature(self.temperature)?;
        in_closed("upper", self.upper, f64::MIN_POSITIVE, 1.0)?;
        in_half_open("lower", self.lower, 0.0, self.upper)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> Ring {
        expect_checked(self.check());
        Ring {
            config: self.clone(),
            table: RankTable::default(),
        }
    }
}

/// Ring loss: `Ng = Σ x_i` over the negatives whose eCDF within the row lies in `(lower, upper]`.
///
/// A ring that holds no rank of a short row (`num_negatives · (upper - lower) < 1`) leaves an anchor without negatives, and so without
/// a loss.
///
/// Source: Wu et al., Conditional Negative Sampling for Contrastive Learning of Visual Representations.
#[derive(Debug)]
pub struct Ring {
    config: RingConfig,
    table: RankTable,
}

impl Estimator for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn losses(&self, scores: Scores) -> Losses {
        self.table.losses(&scores, self.config.temperature, &self.config)
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        self.table.weights(scores, &self.config)
    }
}

impl RankWeight for RingConfig {
    fn by_rank(&self, num_negatives: usize) -> Vec<f64> {
        let counts = |rank: usize| {
            let ecdf = rank as f64 / num_negatives as f64;
            f64::from(u8::from(self.lower < ecdf && ecdf <= self.upper))
        };
        (1..=num_negatives).map(counts).collect()
    }

    fn by_ecdf(&self, ecdf: Tensor<2>) -> Tensor<2> {
        let inside = ecdf
            .clone()
            .greater_scalar(self.lower)
            .bool_and(ecdf.clone().lower_equal_scalar(self.upper));
        ecdf.zeros_like().mask_fill(inside, 1.0)
    }
}
