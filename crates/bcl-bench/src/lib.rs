//! Parity with reference values and benchmarks.
//!
//! | verb | module | question |
//! | --- | --- | --- |
//! | `parity` | [`parity`] | do losses, gradients and weights equal those of an independent implementation? |
//! | `loss` | [`loss`] | what do forward and backward cost in time and memory, and how does that grow? |
//!
//! Nothing here trains; the only clock is that of the benchmark, and it decides nothing but how often to repeat a measurement.

pub mod loss;
pub mod parity;
mod table;
