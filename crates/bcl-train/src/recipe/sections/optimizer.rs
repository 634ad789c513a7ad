//! The `[optimizer]` table.

use bcl_core::{
    ParameterError,
    parameter::{in_closed, in_half_open},
};
use serde::{Deserialize, Serialize};

/// Learning rates at which a step is finite in 32 bits. Training may still diverge, and then says so.
const LEAST_RATE: f64 = 1e-30;
const MOST_RATE: f64 = 1e38;

/// The optimizer of a recommender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimizerConfig {
    /// The rule.
    pub kind: OptimizerKind,
    /// Learning rate, in [1e-30, 1e38].
    pub learning_rate: f64,
    /// Weight decay, added to the gradient.
    pub weight_decay: f64,
    /// L2 regularisation as in BPR and `LightGCN`: λ/2 times the squared norms of the batch's embeddings, averaged over the batch, is added
    /// to the loss; in [0, 1e6].
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
    /// Checks that all parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        in_closed("learning_rate", self.learning_rate, LEAST_RATE, MOST_RATE)?;
        in_half_open("weight_decay", self.weight_decay, 0.0, 1.0)?;
        in_closed("l2", self.l2, 0.0, 1e6)
    }
}
