//! The `[training]` table.

use super::{MOST_BATCH, Precision, Sampling, gradient_cache};
use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in},
};
use serde::{Deserialize, Serialize};
use std::ops::Not;

/// How long to train, and on how many samples per step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingConfig {
    /// Samples per batch, at most 10,000,000: interactions, images in two views each, or graphs.
    pub batch_size: usize,
    /// How often an epoch draws each image; class-balanced sampling reads the labels.
    #[serde(skip_serializing_if = "Sampling::is_uniform")]
    pub sampling: Sampling,
    /// Nodes per batch of graphs, at least 2: a batch ends before the graph that would exceed it. A pair of graphs may. No limit by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_nodes: Option<usize>,
    /// Batches per optimizer step, 1 to 1,000,000: their gradients are averaged. Negatives come from one batch alone; for more of them use
    /// `gradient_cache`.
    pub accumulate: usize,
    /// Gradient caching, for batches that do not fit into memory: how many samples are encoded, and anchors compared, at a time, up to
    /// `batch_size`. The gradients equal the whole batch's, but batch normalisation sees one part at a time, and each part is encoded
    /// twice. For graphs, it is the number of nodes compared at a time; the encoder always sees the whole batch. Off by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_cache: Option<usize>,
    /// Maximum number of epochs per phase, at most 1,000,000. Runs on images accept 0, which evaluates the encoder without training it.
    pub epochs: usize,
    /// Epochs without a better validation metric before the first phase ends, 1 to 1,000,000. By default it trains to the last epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Numeric precision of the encoder in training.
    pub precision: Precision,
    /// Whether a GPU records the launches of one step and replays them with one call: with equal results, and less work for the processor. For images with
    /// `simclr` without labels, `moco` without synthetic keys, `byol` with a constant momentum, `simsiam`, `barlow_twins` or `vicreg`, and Adam, `AdamW` or LARS. On the CPU, it changes nothing.
    #[serde(skip_serializing_if = "Not::not")]
    pub step_graph: bool,
    /// Whether batch normalisation covers the images of all processes that share a batch. By default each process normalises its own share.
    #[serde(skip_serializing_if = "Not::not")]
    pub sync_batch_norm: bool,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            batch_size: 256,
            sampling: Sampling::Uniform,
            max_nodes: None,
            accumulate: 1,
            gradient_cache: None,
            epochs: 400,
            patience: None,
            precision: Precision::F32,
            step_graph: false,
            sync_batch_norm: false,
        }
    }
}

impl TrainingConfig {
    /// Checks that all parameters are in range. A batch, and each part of it, has at least `least_batch` samples.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self, least_batch: usize, least_epochs: usize) -> Result<(), ParameterError> {
        self.check_counts(least_batch, least_epochs)?;
        gradient_cache::check(self.gradient_cache, least_batch, self.batch_size)
    }

    /// As [`check`](Self::check), without gradient caching.
    pub(crate) fn check_counts(&self, least_batch: usize, least_epochs: usize) -> Result<(), ParameterError> {
        count_in("batch_size", self.batch_size, least_batch, MOST_BATCH)?;
        count_in("accumulate", self.accumulate, 1, MOST_EPOCHS)?;
        count_in("epochs", self.epochs, least_epochs, MOST_EPOCHS)?;
        count_in("patience", self.patience.unwrap_or(1), 1, MOST_EPOCHS)
    }

    /// Epochs without a better metric before the first phase ends.
    pub fn patience(&self) -> usize {
        self.patience.unwrap_or(usize::MAX)
    }
}
