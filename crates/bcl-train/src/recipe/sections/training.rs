//! The `[training]` table.

use super::{MOST_BATCH, gradient_cache};
use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_closed},
};
use serde::{Deserialize, Serialize};

/// How long to train, and on how many interactions per step.
///
/// A run has two phases. The first holds out a share of train for validation, and ends when the validation metric stops improving. The
/// second trains again on all of train, for the best number of epochs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingConfig {
    /// Interactions per step, 1 to 10,000,000.
    pub batch_size: usize,
    /// Gradient caching, for batches whose scores do not fit into memory: how many interactions are compared with their negatives at a time;
    /// 1 to `batch_size`. The gradients are those of the whole batch. Off by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_cache: Option<usize>,
    /// Maximum number of epochs per phase, 1 to 1,000,000.
    pub epochs: usize,
    /// Epochs without a better validation metric before the first phase ends, 1 to 1,000,000.
    pub patience: usize,
    /// Share of each user's training interactions that is held out for validation, in [0.001, 0.5].
    pub validation: f64,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            batch_size: 1024,
            gradient_cache: None,
            epochs: 60,
            patience: 12,
            validation: 0.1,
        }
    }
}

impl TrainingConfig {
    /// Checks that all parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("batch_size", self.batch_size, 1, MOST_BATCH)?;
        gradient_cache::check(self.gradient_cache, 1, self.batch_size)?;
        count_in("epochs", self.epochs, 1, MOST_EPOCHS)?;
        count_in("patience", self.patience, 1, MOST_EPOCHS)?;
        // Below a thousandth, not even a user with hundreds of items has one left to validate on.
        in_closed("validation", self.validation, 0.001, 0.5)
    }
}
