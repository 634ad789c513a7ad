//! Computes the states of a trace with this library.

mod colour;
mod given;
mod memory;
mod networks;
mod schedules;
mod targets;

use super::{super::precision::Arithmetic, problem::Problem};
use bcl_golden::{Array, Trace};
use std::fmt;

/// A state, and what it must be.
pub(super) struct State {
    /// The item of the trace that says what it must be.
    pub(super) item: &'static str,
    /// The step, if the item has several.
    step: Option<usize>,
    pub(super) found: Vec<f64>,
    pub(super) expected: Vec<f64>,
}

impl State {
    fn new(item: &'static str, found: Vec<f64>, expected: &Array) -> Self {
        Self {
            item,
            step: None,
            found,
            expected: expected.values.clone(),
        }
    }

    fn of_step(step: usize, item: &'static str, found: Vec<f64>, expected: &Array) -> Self {
        Self {
            step: Some(step),
            ..Self::new(item, found, expected)
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

/// Computes a trace by its kind.
pub(super) fn compute(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    match &*trace.kind {
        "sinkhorn" => targets::codes(trace, arithmetic),
        "dino_center" => targets::center(trace, arithmetic),
        "schedule" => schedules::schedule(trace),
        "ema" => networks::average(trace, arithmetic),
        "split_batch_norm" => networks::split_batch_norm(trace, arithmetic),
        "prototype_step" => networks::prototype_step(trace, arithmetic),
        "queue" => memory::queue(trace, arithmetic),
        "bank" => memory::bank(trace, arithmetic),
        "support_set" => memory::support_set(trace, arithmetic),
        "swav_queue" => memory::queue_of_codes(trace, arithmetic),
        "symmetric_step" => memory::symmetric_step(trace, arithmetic),
        "knn" => networks::nearest_neighbours(trace, arithmetic),
        "colour" => colour::colour(trace),
        other => Err(Problem::unsupported(format!("there is no state `{other}` here"))),
    }
}
