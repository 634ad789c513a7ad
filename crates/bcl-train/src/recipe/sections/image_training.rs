//! The `[training]` table of a recipe that trains on images.

use super::{MOST_BATCH, Precision, gradient_cache};
use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in},
};
use serde::{Deserialize, Serialize};

/// How long to train, and on how many images per step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageTrainingConfig {
    /// Images per step, 2 to 10,000,000, each in two views: an anchor has `2 · batch_size - 2` negatives. The last, incomplete batch of an
    /// epoch is dropped.
    pub batch_size: usize,
    /// Gradient caching, for batches that do not fit into memory: how many images are encoded, and anchors compared, at a time; 2 to
    /// `batch_size`. The gradients are those of the whole batch, but batch normalisation sees one part at a time, and each part is encoded
    /// twice. Off by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_cache: Option<usize>,
    /// Epochs, at most 1,000,000; 0 evaluates the encoder without training it.
    pub epochs: usize,
    /// Numeric precision of the encoder in training.
    pub precision: Precision,
}

impl Default for ImageTrainingConfig {
    fn default() -> Self {
        Self {
            batch_size: 256,
            gradient_cache: None,
            epochs: 400,
            precision: Precision::F32,
        }
    }
}

impl ImageTrainingConfig {
    /// Checks that all parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("batch_size", self.batch_size, 2, MOST_BATCH)?;
        count_in("epochs", self.epochs, 0, MOST_EPOCHS)?;
        gradient_cache::check(self.gradient_cache, 2, self.batch_size)
    }
}
