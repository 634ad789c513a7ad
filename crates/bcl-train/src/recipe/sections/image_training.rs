//! The `[training]` table of a recipe that trains on images.

use super::Precision;
use bcl_core::{ParameterError, parameter::at_least};
use serde::{Deserialize, Serialize};

/// How long to train, and on how many images at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageTrainingConfig {
    /// Images a step, each in two views: an anchor has `2 · batch_size - 2` negatives. What is left of an epoch is dropped.
    pub batch_size: usize,
    /// Passes over the images; 0 judges the encoder as it is.
    pub epochs: usize,
    /// In how many bits the encoder computes while it is trained.
    pub precision: Precision,
}

impl Default for ImageTrainingConfig {
    fn default() -> Self {
        Self {
            batch_size: 256,
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
        at_least("batch_size", self.batch_size, 2)
    }
}
