//! Computes the loss of a case with this library.

mod bank;
mod inputs;
mod scores;
mod without_negatives;

pub(super) use inputs::Inputs;

use super::problem::{Problem, unsupported};
use burn::tensor::Tensor;

/// A loss, and what else its case has.
pub(super) struct Computed {
    /// `[1]`.
    pub(super) loss: Tensor<1>,
    /// Further results by name.
    pub(super) outputs: Vec<(&'static str, Vec<f64>)>,
}

impl From<Tensor<1>> for Computed {
    fn from(loss: Tensor<1>) -> Self {
        Self {
            loss,
            outputs: Vec::new(),
        }
    }
}

/// Computes a case by its kind.
pub(super) fn compute(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    match inputs.kind() {
        "negative_cosine" => without_negatives::negative_cosine(inputs),
        "barlow_twins" => without_negatives::barlow_twins(inputs),
        "vicreg" => without_negatives::vicreg(inputs),
        "swav" => without_negatives::swav(inputs),
        "dino" => without_negatives::dino(inputs),
        "dino_last_layer" => without_negatives::dino_last_layer(inputs),
        "ntxent" => scores::ntxent(inputs),
        "decoupled" => scores::decoupled(inputs),
        "bda" => scores::augmented(inputs),
        "nnclr" => scores::nnclr(inputs),
        "queue" => scores::queue(inputs),
        "bank" => bank::bank(inputs),
        other => unsupported(format!("there is no loss `{other}` here")),
    }
}
