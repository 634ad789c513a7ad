//! The `[optimizer]` table.

use bcl_core::{
    ParameterError,
    parameter::{in_closed, in_half_open},
};
use serde::{Deserialize, Serialize};

/// Steps that 32 bits can hold. Whether the training converges is another question: it says so where it does not.
const LEAST_RATE: f64 = 1e-30;
const MOST_RATE: f64 = 1e38;

/// How the gradient moves the vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimizerConfig {
    /// The rule.
    pub kind: OptimizerKind,
    /// Step size, in [1e-30, 1e38].
    pub learning_rate: f64,
    /// Share of every weight that is added to its gradient.
    pub weight_decay: f64,
    /// Factor λ of the squared vectors of the batch's users and items in the loss, halved and averaged over the batch: the
    /// regularisation of BPR and `LightGCN`; in [0, 1e6].
    pub l2: f64,
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimizerKind {
    /// Adam (Kingma and Ba 2015), β 0.9 and 0.999.
    #[default]
    Adam,
}

impl Default for OptimizerConfig {
    fn default() -> Self {
        Self {
            kind: OptimizerKind::Adam,
            learning_rate: 0.01,
            weight_decay: 0.0,
            l2: 0.0,
        }
    }
}

impl OptimizerConfig {
    /// Checks that every parameter lies in its range.
    ///
    /// # Errors
    /// Names the first parameter that does not, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        in_closed("learning_rate", self.learning_rate, LEAST_RATE, MOST_RATE)?;
        in_half_open("weight_decay", self.weight_decay, 0.0, 1.0)?;
        in_closed("l2", self.l2, 0.0, 1e6)
    }
}
