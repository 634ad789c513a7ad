//! The `[evaluation.probe]` table: how a linear probe is trained.

use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_closed, in_half_open},
};
use serde::{Deserialize, Serialize};

/// How a linear probe is trained: Adam (Kingma and Ba 2015) with β 0.9 and 0.999, ε 1e-8, and a constant step size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearProbeConfig {
    /// Passes over the training samples, 1 to 1,000,000.
    pub epochs: usize,
    /// Step size, in [1e-30, 1e38].
    pub learning_rate: f64,
    /// Share of every weight that is added to its gradient.
    pub weight_decay: f64,
    /// Training samples per step, 1 to 10,000,000.
    pub batch_size: usize,
}

impl Default for LinearProbeConfig {
    fn default() -> Self {
        Self {
            epochs: 100,
            learning_rate: 1e-3,
            weight_decay: 1e-6,
            batch_size: 512,
        }
    }
}

impl LinearProbeConfig {
    /// Checks that every parameter lies in its range.
    ///
    /// # Errors
    /// Names the first parameter that does not, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("epochs", self.epochs, 1, MOST_EPOCHS)?;
        in_closed("learning_rate", self.learning_rate, 1e-30, 1e38)?;
        in_half_open("weight_decay", self.weight_decay, 0.0, 1.0)?;
        count_in("batch_size", self.batch_size, 1, 10_000_000)
    }
}
