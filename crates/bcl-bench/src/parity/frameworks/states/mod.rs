//! Computes the states of a trace with this library.

mod colour;
mod given;
mod memory;
mod networks;
mod schedules;
mod targets;

use super::{super::precision::Arithmetic, problem::Problem};
use bcl_golden::{Array, Trace};

/// A state, or a series of states, and what it must be.
pub(super) struct State {
    /// Its name, with the step if there are several.
    pub(super) name: String,
    pub(super) found: Vec<f64>,
    pub(super) expected: Vec<f64>,
}

impl State {
    fn new(name: impl Into<String>, found: Vec<f64>, expected: &Array) -> Self {
        Self {
            name: name.into(),
            found,
            expected: expected.values.clone(),
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
        "symmetric_step" => memory::symmetric_step(trace, arithmetic),
        "knn" => networks::nearest_neighbours(trace, arithmetic),
        "colour" => colour::colour(trace),
        other => Err(Problem::unsupported(format!("there is no state `{other}` here"))),
    }
}
