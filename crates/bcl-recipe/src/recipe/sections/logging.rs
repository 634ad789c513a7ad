//! The `[logging]` table.

use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in},
};
use serde::{Deserialize, Serialize};

/// What a run logs beside `metrics.jsonl`. It changes no result, so it is not part of the recipe's hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoggingConfig {
    /// Batches between two points within an epoch, at most 1,000,000: their loss and learning rate go to `steps.jsonl`, and to TensorBoard if
    /// that is on. 0, the default, logs epochs only.
    pub every: usize,
    /// Whether to write event files of TensorBoard into the folder `tensorboard` of the run. Off by default.
    pub tensorboard: bool,
}

impl LoggingConfig {
    /// Whether nothing is logged beside `metrics.jsonl`.
    pub(crate) fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the number of batches.
    ///
    /// # Errors
    /// Returns an error with the number and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("every", self.every, 0, MOST_EPOCHS)
    }
}
