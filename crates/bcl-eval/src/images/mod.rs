//! Evaluation of image encoders: encodes the images of a data set and measures the frozen features.
//!
//! | to | use |
//! | --- | --- |
//! | compute all metrics of an encoder, or of raw pixels | [`ImageJudge`] |
//! | encode images in blocks | [`Shown`] |
//! | draw a map and the nearest neighbours of test images | [`showcase`] |
//!
//! Accuracies need labels. Without labels, [`ImageJudge`] only measures alignment and uniformity.

mod config;
mod features;
mod judge;
mod map;
mod showcase;

pub use config::{ImageBaselineKind, ImageEvaluationConfig, Protocol};
pub use features::Shown;
pub use judge::{ImageJudge, has_judges, judges_off};
pub use showcase::showcase;
