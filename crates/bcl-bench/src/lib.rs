//! The papers' experiments, parity with reference values, and benchmarks.
//!
//! | verb | module | question |
//! | --- | --- | --- |
//! | `parity` | [`parity`] | do losses, gradients and weights equal an independent implementation's? |
//! | `loss` | [`loss`] | how much time and memory do forward and backward take, and how do they grow? |
//! | `kernels` | [`kernels`] | how long does each kernel take, compared with the same function composed of tensor operations? |
//! | `step` | [`step`] | how long does each part of an image encoder's training step take, and the loss among them? |
//! | `search` | [`search`] | how long does exact search among vectors take, compared with a plain loop? |
//! | `scale` | [`scale`] | how long does each part of a recommender's training step take, and its evaluation, on interactions of any size? |
//! | `gpu` | [`gpu`] | does everything work on this GPU, and how fast? |
//! | `table` | [`tables`] | which estimator is better, with the same tuning budget and several seeds? |
//! | `simulate` | [`simulation`] | how far off are the estimators where the truth is known, and do the paper's lemmas hold? |
//! | `papers` | [`papers`] | which command makes which table or figure of the papers, and was it run? |
//! | `explore` | [`explorer`] | what do the parameters of the Bayesian weights do? |
//! | `report` | [`site`] | what does a folder of results show, on one page? |
//! | `results` | [`results`], [`compare`] | which times are saved? What became faster, what slower, and what is noise? |
//!
//! Only benchmarks read the clock, and it only decides how often to repeat a measurement.

mod clock;
pub mod compare;
mod device_arguments;
mod differences;
mod environment;
pub mod explorer;
pub mod gpu;
pub mod kernels;
pub mod loss;
mod matrix_product;
mod memory;
pub mod papers;
pub mod parity;
pub mod results;
pub mod scale;
pub mod search;
pub mod simulation;
pub mod site;
mod spread;
pub mod step;
pub mod tables;

pub use device_arguments::DeviceArguments;
pub use environment::Environment;
pub use spread::Spread;
