//! Computes the states of a trace with this library.

mod colour;
mod memory;
mod networks;
mod reader;
mod schedules;
mod state;
mod targets;

pub(super) use state::State;

use super::problem::{Problem, unsupported};
use crate::parity::precision::Arithmetic;
use bcl_golden::Trace;
use reader::Reader;

/// Computes a trace by its kind.
pub(super) fn compute(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let reader = Reader { trace, arithmetic };
    match &*trace.kind {
        "sinkhorn" => targets::codes(&reader),
        "dino_center" => targets::center(&reader),
        "schedule" => schedules::schedule(&reader),
        "ema" => networks::average(&reader),
        "split_batch_norm" => networks::split_batch_norm(&reader),
        "prototype_step" => networks::prototype_step(&reader),
        "queue" => memory::queue(&reader),
        "bank" => memory::bank(&reader),
        "support_set" => memory::support_set(&reader),
        "swav_queue" => memory::queue_of_codes(&reader),
        "symmetric_step" => memory::symmetric_step(&reader),
        "knn" => networks::nearest_neighbours(&reader),
        "colour" => colour::colour(&reader),
        other => unsupported(format!("there is no state `{other}` here")),
    }
}
