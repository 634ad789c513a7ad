//! Reference gradients.

use crate::{Array, GoldenError, arrays::Arrays};
use serde::Deserialize;

/// A reference gradient: in full, or a summary of a long one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Gradient {
    /// All values, row-major.
    Full(Vec<f64>),
    /// A summary of the row-major array.
    Summary {
        /// The Euclidean norm.
        l2: f64,
        /// The first entries.
        head: Vec<f64>,
        /// `Σ g[k] cos(0.37 (k + 1))` and `Σ g[k] sin(0.11 (k + 1) + 0.5)`.
        probe: [f64; 2],
    },
}

impl Gradient {
    /// Reads the array that a summary stands for, if the file has it.
    pub(crate) fn completed(self, key: &str, case: &str, arrays: &Arrays) -> Result<Self, GoldenError> {
        match self {
            Self::Summary { .. } => arrays.need(key, case).map(|Array { values, .. }| Self::Full(values)),
            full @ Self::Full(_) => Ok(full),
        }
    }

    /// Checks that it belongs to an array of `length` values.
    ///
    /// # Errors
    /// Returns a problem that starts with `name` if it does not.
    pub fn check(&self, name: &str, length: usize) -> Result<(), String> {
        let (found, fits) = match self {
            Self::Full(values) => (values.len(), values.len() == length),
            Self::Summary { head, .. } => (head.len(), head.len() <= length),
        };
        if fits {
            return Ok(());
        }
        Err(format!("{name} has {found} values, but the shape requires {length}"))
    }
}
