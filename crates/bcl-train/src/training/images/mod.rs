//! Training of image encoders: data loader, evaluation, runs.

pub mod baselines;
pub mod batch;
mod online;
pub mod run;
pub mod start;
