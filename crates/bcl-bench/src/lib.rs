//! The papers' experiments, parity with reference values, and benchmarks.
//!
//! | verb | module | question |
//! | --- | --- | --- |
//! | `parity` | [`parity`] | do losses, gradients and weights equal those of an independent implementation? |
//! | `loss` | [`loss`] | what do forward and backward cost in time and memory, and how does that grow? |
//! | `kernels` | [`kernels`] | what does each kernel take, beside the same composed of tensor operations? |
//! | `views` | [`views`] | how many random views of images are made a second, with how many threads? |
//! | `step` | [`step`] | which part of a training step of an image encoder costs what, and what does the loss? |
//! | `table` | [`tables`] | which estimator is better, with the same tuning budget and several seeds? |
//! | `simulate` | [`simulation`] | what do the estimators miss where the truth is known, and are the paper's lemmas seen? |
//! | `report` | [`site`] | everything in a folder of results on one page |
//! | `gather` | [`results`] | what did several runs, or criterion, measure? |
//! | `compare` | [`compare`] | what became faster, what slower, and what is noise? |
//!
//! The only clock is that of the benchmarks, and it decides nothing but how often to repeat a measurement.

pub mod compare;
mod differences;
mod environment;
pub mod kernels;
pub mod loss;
mod memory;
pub mod parity;
mod place;
pub mod results;
pub mod simulation;
pub mod site;
mod spread;
pub mod step;
mod table;
pub mod tables;
pub mod views;

pub use environment::Environment;
pub use place::Place;
pub use spread::Spread;
