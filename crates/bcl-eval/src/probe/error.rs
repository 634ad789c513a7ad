//! Why features could not be judged.

use thiserror::Error;

/// Why features could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// There are no samples.
    #[error("there are no {set} samples to judge features on: give the data set a {set} split that is not empty")]
    Empty {
        /// Which samples: "training", "test".
        set: &'static str,
    },
    /// A sample without a class, or a class without a sample.
    #[error(
        "{num_samples} {set} samples have {num_labels} labels, but each needs one: judge on the labelled splits of the data set alone"
    )]
    LabelsMissing {
        /// Which samples.
        set: &'static str,
        /// Rows of features.
        num_samples: usize,
        /// Labels.
        num_labels: usize,
    },
    /// A class that the data set does not have.
    #[error(
        "{set} sample {sample} (counted from 0) has label {label}, but there are {num_classes} classes, counted from 0: number the \
         classes densely, or give their true number"
    )]
    LabelOutOfRange {
        /// Which samples.
        set: &'static str,
        /// The first such sample.
        sample: usize,
        /// Its label.
        label: u32,
        /// Number of classes.
        num_classes: usize,
    },
    /// All training samples are of one class.
    #[error(
        "all training samples are of class {class}, so there is nothing to tell apart: choose two classes or more, or shuffle the \
         data set before its split"
    )]
    OneClass {
        /// The class.
        class: u32,
    },
    /// Training and test features differ in length.
    #[error(
        "training features have length {train} and test features {test}: both must come from the same layer of the same encoder"
    )]
    FeatureLength {
        /// Length of a training feature.
        train: usize,
        /// Length of a test feature.
        test: usize,
    },
    /// A feature is NaN or infinite.
    #[error(
        "a feature of {set} sample {sample} (counted from 0) is not a finite number: training has diverged; lower \
         optimizer.learning_rate or raise loss.temperature"
    )]
    NotFinite {
        /// Which samples.
        set: &'static str,
        /// The first such sample.
        sample: usize,
    },
    /// The linear probe itself diverged.
    #[error(
        "the linear probe has diverged although its features are finite: lower evaluation.probe.learning_rate (1e-3 suits features \
         of unit length)"
    )]
    Diverged,
    /// Uniformity needs pairs.
    #[error("uniformity is an average over pairs of samples, but there is only one: give at least 2")]
    NoPairs,
}
