//! The `[evaluation.probe]` table of a recipe: training of the linear probe.

use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_closed, in_half_open},
};
use serde::{Deserialize, Serialize};

/// Configuration of the linear probe: Adam (Kingma and Ba 2015) with β₁ = 0.9, β₂ = 0.999, ε = 1e-8 and a constant learning rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearProbeConfig {
    /// Number of epochs, 1 to 1,000,000.
    pub epochs: usize,
    /// Learning rate, in [1e-30, 1e38].
    pub learning_rate: f64,
    /// Weight decay (L2 penalty, added to the gradient), in [0, 1).
    pub weight_decay: f64,
    /// Batch size, 1 to 10,000,000.
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
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("epochs", self.epochs, 1, MOST_EPOCHS)?;
        in_closed("learning_rate", self.learning_rate, 1e-30, 1e38)?;
        in_half_open("weight_decay", self.weight_decay, 0.0, 1.0)?;
        count_in("batch_size", self.batch_size, 1, 10_000_000)
    }
}
