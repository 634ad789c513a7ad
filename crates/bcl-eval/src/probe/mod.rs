//! Judges of frozen image features: how well a simple rule tells the classes apart by them.
//!
//! | judge | what it asks |
//! | --- | --- |
//! | [`knn()`] | do nearest neighbours share a class? |
//! | [`probe_fixed`], [`probe_views`] | can one linear layer read the class off? |
//! | [`ridge_accuracy`] | the same in closed form: a cheap figure during training |
//! | [`alignment`], [`uniformity`] | how the features lie on the sphere, without classes |
//!
//! A judge takes features and classes as [`Labelled`], and knows neither images nor encoders.
//!
//! # Invariants
//! - A table of all test samples against all training samples never exists: samples come in blocks of about 32 MB of similarities.
//! - Equal votes and equal scores go to the lower class, equal similarities to the lower training sample.
//! - A feature that is not finite is an error and never a figure.

mod accuracy;
mod error;
mod geometry;
mod knn;
mod labelled;
mod linear;
mod online;
#[cfg(test)]
mod planted;

pub use accuracy::TopK;
pub use error::ProbeError;
pub use geometry::{alignment, uniformity};
pub use knn::{KnnConfig, knn};
pub use labelled::Labelled;
pub use linear::{LinearProbeConfig, probe_fixed, probe_views};
pub use online::ridge_accuracy;
