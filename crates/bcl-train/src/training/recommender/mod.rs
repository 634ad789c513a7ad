//! Training of recommenders: data loader, evaluation, runs.

pub mod baselines;
pub mod batch;
pub mod ranking;
pub mod run;
