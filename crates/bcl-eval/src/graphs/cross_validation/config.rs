//! Configuration of the nested cross-validation.

use bcl_core::{
    ParameterError,
    parameter::{count_in, in_closed},
};
use serde::{Deserialize, Serialize};

/// Configuration of the nested cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrossValidationConfig {
    /// Number of folds, 2 to 1000.
    pub folds: usize,
    /// Number of inner folds, by which C is chosen, 2 to 1000.
    pub inner_folds: usize,
    /// The values of C to choose from, ascending, in [1e-9, 1e9].
    pub c: Vec<f64>,
}

impl Default for CrossValidationConfig {
    fn default() -> Self {
        Self {
            folds: 10,
            inner_folds: 5,
            c: vec![1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3],
        }
    }
}

impl CrossValidationConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("folds", self.folds, 2, 1000)?;
        count_in("inner_folds", self.inner_folds, 2, 1000)?;
        for &c in &self.c {
            in_closed("c", c, 1e-9, 1e9)?;
        }
        match self.c.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(ParameterError::new("c", pair[1], "above the value before it")),
            None if self.c.is_empty() => Err(ParameterError::new("c", f64::NAN, "a list of at least one number")),
            None => Ok(()),
        }
    }

    /// Least size of the largest class, so that each fold and each inner fold has samples of it.
    pub(super) fn least_graphs(&self) -> usize {
        let suffices = |count: &usize| *count >= self.folds && count - count.div_ceil(self.folds) >= self.inner_folds;
        // With two folds, half of the graphs remain for the inner folds; with more, more do.
        let enough = self.folds + 2 * self.inner_folds;
        (1..=enough).find(suffices).expect("two folds or more")
    }
}
