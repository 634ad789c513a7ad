//! A state, and what it must be.

use std::fmt;

/// A state, and what it must be.
pub(in super::super) struct State {
    /// The item of the trace that says what it must be.
    pub(in super::super) item: &'static str,
    /// The step, if the item has several.
    step: Option<usize>,
    pub(in super::super) found: Vec<f64>,
    pub(in super::super) expected: Vec<f64>,
}

impl State {
    pub(super) fn new(item: &'static str, found: Vec<f64>, expected: Vec<f64>) -> Self {
        let step = None;
        Self {
            item,
            step,
            found,
            expected,
        }
    }

    pub(super) fn of_step(step: usize, item: &'static str, found: Vec<f64>, expected: &[f64]) -> Self {
        let step = Some(step);
        let expected = expected.to_vec();
        Self {
            item,
            step,
            found,
            expected,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "{} of step {step}", self.item),
            None => f.write_str(self.item),
        }
    }
}
