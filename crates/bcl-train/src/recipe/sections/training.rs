//! The `[training]` table.

use super::{MOST_BATCH, gradient_cache};
use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_closed},
};
use serde::{Deserialize, Serialize};

/// How long to train, and on how much at a time.
///
/// A run has two phases: it trains on what is left of train without the validation share until that share's figure stops rising,
/// then again on all of train for as many epochs as were best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingConfig {
    /// Interactions per step, 1 to 10,000,000.
    pub batch_size: usize,
    /// Interactions that are compared with their negatives at a time, 1 to `batch_size`, for batches whose scores do not fit into memory;
    /// the gradients are those of the whole batch. All at once where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_cache: Option<usize>,
    /// The most epochs a phase has, 1 to 1,000,000.
    pub epochs: usize,
    /// Epochs without a better validation figure before the first phase ends, 1 to 1,000,000.
    pub patience: usize,
    /// Share of each user's training interactions that is held out to choose the number of epochs, in (0, 0.5].
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
    /// Checks that every parameter lies in its range.
    ///
    /// # Errors
    /// Names the first parameter that does not, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("batch_size", self.batch_size, 1, MOST_BATCH)?;
        gradient_cache::check(self.gradient_cache, 1, self.batch_size)?;
        count_in("epochs", self.epochs, 1, MOST_EPOCHS)?;
        count_in("patience", self.patience, 1, MOST_EPOCHS)?;
        // Below a thousandth, not even a user with hundreds of items has one left to validate on.
        in_closed("validation", self.validation, 0.001, 0.5)
    }
}
