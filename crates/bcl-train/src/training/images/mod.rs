//! Training of image encoders: batches of views, the trained module, its judges, and a run.

pub mod baselines;
pub mod batch;
pub mod features;
pub mod map;
pub mod measure;
pub mod run;
pub mod showcase;
pub mod start;
