//! Training of recommenders: batches of interactions, the trained module, ranking, and the two phases of a run.

pub mod baselines;
pub mod batch;
pub mod ranking;
pub mod run;
