//! Evaluation of image encoders: encodes the images of a data set and measures the frozen features.
//!
//! | to | use |
//! | --- | --- |
//! | compute all metrics of an encoder, or of raw pixels | [`ImageEvaluator`] |
//! | encode images in blocks | [`FeatureExtractor`] |
//! | draw maps and the nearest neighbours of test images | [`showcase`] |
//!
//! Processes that train together share out the images to encode: [`ImageEvaluator::features_on_processes`], [`ImageEvaluator::online_on_processes`].
//!
//! Accuracies need labels. Without labels, [`ImageEvaluator`] only measures alignment, uniformity and spread.

mod config;
mod evaluator;
mod features;
mod few_labels;
mod on_processes;
mod showcase;

pub use config::{ImageBaselineKind, ImageEvaluationConfig, Protocol, check_label_fractions};
pub use evaluator::{ImageEvaluator, ImageFeatures, MeasuredAuc, has_labelled_test, why_probes_are_off};
pub use features::FeatureExtractor;
pub use showcase::{clusters, showcase, thumbnail};
