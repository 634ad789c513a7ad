//! Training of recommenders: data loader, evaluation, runs.

pub mod baselines;
pub mod batch;
mod ranking;
pub mod run;
