//! A temperature that is learned with the weights, as in CLIP.
//!
//! The parameter is `log(1 / t)`. Scores are multiplied by `1 / t` and then weighted by an estimator of temperature 1, so the gradient of
//! every estimator reaches the temperature, and with gradient caching, too: the parameter travels as one more table of embeddings.
//!
//! Source: Radford et al., [Learning Transferable Visual Models From Natural Language Supervision](https://arxiv.org/abs/2103.00020).

use crate::Embeddings;
use bcl_core::Scores;
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

/// The name of the table with the parameter.
const TABLE: &str = "log_rate";

/// A learned temperature.
#[derive(Module, Debug)]
pub struct LearnedTemperature {
    /// `log(1 / t)`, `[1]`.
    log_rate: Param<Tensor<1>>,
    /// Its values at the lowest and the highest temperature.
    #[module(skip)]
    range: [f64; 2],
}

impl LearnedTemperature {
    /// A temperature before training, to be kept in a range.
    pub fn new(start: f64, range: [f64; 2], device: &Device) -> Self {
        Self {
            log_rate: Param::from_tensor(Tensor::from_data([-start.ln()], device)),
            range: range.map(|temperature| -temperature.ln()),
        }
    }

    /// The temperature. Waits for the device.
    pub fn value(&self) -> f64 {
        (-self.log_rate.val().into_scalar::<f64>()).exp()
    }

    /// Moves the temperature back into its range after a step of the optimizer.
    pub fn limited(self) -> Self {
        let [high, low] = self.range;
        let limit = |log_rate: Tensor<1>| {
            let tracked = log_rate.is_require_grad();
            log_rate.clamp(low, high).detach().set_require_grad(tracked)
        };
        Self {
            log_rate: self.log_rate.map(limit),
            ..self
        }
    }

    /// Adds the parameter to the embeddings of a part of a batch.
    pub fn join(&self, embeddings: Embeddings) -> Embeddings {
        embeddings.with(TABLE, self.log_rate.val().unsqueeze())
    }

    /// Divides scores by the temperature that came with the embeddings of their batch.
    pub fn divide(scores: Scores, embeddings: &Embeddings) -> Scores {
        // One row per part, all equal.
        let log_rate = embeddings.rows(TABLE).slice_dim(0, 0..1);
        scores.scaled(log_rate.squeeze_dim::<1>(0).exp())
    }
}
