//! Evaluation of frozen features: how well simple classifiers separate the classes.
//!
//! | function | evaluates |
//! | --- | --- |
//! | [`knn()`] | k-nearest-neighbour classification |
//! | [`probe_fixed`], [`probe_views`] | a linear classifier trained on frozen features |
//! | [`ridge_accuracy`] | a linear classifier in closed form, cheap enough to run during training |
//! | [`macro_auc()`] | how often samples of a class are more similar than samples of different classes |
//! | [`alignment`], [`uniformity`] | the geometry of the features, without labels |
//! | [`spread()`] | whether features have collapsed, without labels |
//!
//! Classifiers take features and labels as [`Labelled`]; this module depends neither on images nor on encoders.
//!
//! # Invariants
//! - The similarity matrix of all test and training samples never exists at once: samples are processed in blocks of about 32 MB of
//!   similarities.
//! - Ties between classes go to the lower class, ties between training samples to the lower index.
//! - A feature that is not finite is an error; it never enters a metric.

mod accuracy;
mod error;
mod geometry;
mod knn;
mod labelled;
mod linear;
mod macro_auc;
mod online;
#[cfg(test)]
mod planted;
mod spread;

pub use accuracy::TopK;
pub use error::ProbeError;
pub use geometry::{alignment, uniformity};
pub use knn::{KnnConfig, knn};
pub use labelled::Labelled;
pub use linear::{LinearProbeConfig, probe_fixed, probe_views};
pub use macro_auc::macro_auc;
pub use online::ridge_accuracy;
pub use spread::{Spread, spread};
