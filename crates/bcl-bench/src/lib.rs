//! The papers' experiments, parity with reference values, and benchmarks.
//!
//! | verb | module | question |
//! | --- | --- | --- |
//! | `parity` | [`parity`] | do losses, gradients and weights equal an independent implementation's? |
//! | `loss` | [`loss`] | how much time and memory do forward and backward take? |
//! | `kernels` | [`kernels`] | how long does each kernel take, compared with the same function composed of tensor operations? |
//! | `step` | [`steps`] | how long does each part of an image encoder's training step take, and the loss among them? |
//! | `search` | [`search`] | how long does exact search among vectors take, compared with a plain loop? |
//! | `scale` | [`steps`] | how long does each part of a recommender's training step take, and its evaluation, on interactions of any size? |
//! | `gpu` | [`gpu`] | does everything work on this GPU, and how fast? |
//! | `table` | [`tables`] | which estimator is better, with the same tuning budget and several seeds? |
//! | `simulate` | [`simulation`] | how far off are the estimators where the truth is known, and do the paper's lemmas hold? |
//! | `papers` | [`papers`] | which command makes which table or figure of the papers, and was it run? |
//! | `explore` | [`explorer`] | what do the parameters of the Bayesian weights do? |
//! | `report` | [`site`] | what does a folder of results show, on one page? |
//! | `results` | [`timing`] | which times are saved? What became faster, what slower, and what is noise? |
//!
//! Only benchmarks read the clock. It decides how often to repeat a measurement, and where `gpu` stops.

pub mod explorer;
pub mod gpu;
pub mod kernels;
pub mod loss;
pub mod papers;
pub mod parity;
pub mod search;
pub mod simulation;
pub mod site;
pub mod steps;
pub mod tables;
pub mod timing;
