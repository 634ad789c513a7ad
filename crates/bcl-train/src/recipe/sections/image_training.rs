//! The `[training]` table of a recipe that trains on images.

use super::{MOST_BATCH, Precision, gradient_cache};
use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in},
};
use serde::{Deserialize, Serialize};

/// How long to train, and on how many images at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageTrainingConfig {
    /// Images per step, 2 to 10,000,000, each in two views: an anchor has `2 · batch_size - 2` negatives. What is left of an epoch is dropped.
    pub batch_size: usize,
    /// Images that are encoded, and anchors compared, at a time, 2 to `batch_size`, for batches that do not fit into memory. The gradients
    /// are those of the whole batch, but batch normalisation sees a part at a time, and each part is encoded twice. All at once where it is
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_cache: Option<usize>,
    /// Passes over the images, at most 1,000,000; 0 judges the encoder as it is.
    pub epochs: usize,
    /// In how many bits the encoder computes while it is trained.
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
    /// Checks that every parameter lies in its range.
    ///
    /// # Errors
    /// Names the first parameter that does not, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("batch_size", self.batch_size, 2, MOST_BATCH)?;
        count_in("epochs", self.epochs, 0, MOST_EPOCHS)?;
        gradient_cache::check(self.gradient_cache, 2, self.batch_size)
    }
}
