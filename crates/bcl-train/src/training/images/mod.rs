//! Training of image encoders: data loader, evaluation, runs.

pub mod baselines;
pub mod batch;
pub mod features;
pub mod map;
pub mod measure;
pub mod run;
pub mod showcase;
pub mod start;
