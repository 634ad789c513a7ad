//! Judges of trained encoders.
//!
//! | judge | of | see |
//! | --- | --- | --- |
//! | precision, recall, NDCG, coverage, … | anything that scores items for users | [`ranking`] |
//! | popularity, EASE | what a recommender should beat | [`baselines`] |
//! | linear probe, nearest neighbours, alignment, uniformity | frozen features | [`probe`] |
//!
//! Nothing here trains an encoder, draws negatives or touches a file. Every figure is the same on any number of threads.

pub mod baselines;
pub mod probe;
pub mod ranking;
