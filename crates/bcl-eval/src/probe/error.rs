//! Errors of evaluating features.

use thiserror::Error;

/// An error while evaluating features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// There are no samples.
    #[error("there are no {set} samples to evaluate on: the data set needs a {set} split that is not empty")]
    Empty {
        /// The split: "training" or "test".
        set: &'static str,
    },
    /// The number of labels differs from the number of samples.
    #[error(
        "{num_samples} {set} samples have {num_labels} labels, but each needs exactly one: evaluate only on labelled splits of the data set"
    )]
    LabelsMissing {
        /// The split.
        set: &'static str,
        /// Number of samples (rows of features).
        num_samples: usize,
        /// Number of labels.
        num_labels: usize,
    },
    /// A label is not below the number of classes.
    #[error(
        "{set} sample {sample} (counted from 0) has label {label}, but there are {num_classes} classes, counted from 0: number the \
         classes without gaps, or correct the number of classes"
    )]
    LabelOutOfRange {
        /// The split.
        set: &'static str,
        /// The first such sample.
        sample: usize,
        /// Its label.
        label: u32,
        /// Number of classes.
        num_classes: usize,
    },
    /// All training samples have the same class.
    #[error(
        "all training samples have class {class}, so there is nothing to classify: choose two classes or more, or shuffle the data set \
         before splitting it"
    )]
    OneClass {
        /// The class.
        class: u32,
    },
    /// Training and test features differ in length.
    #[error(
        "training features have length {train}, but test features have length {test}: both must come from the same layer of the same \
         encoder"
    )]
    FeatureLength {
        /// Length of a training sample's features.
        train: usize,
        /// Length of a test sample's features.
        test: usize,
    },
    /// A feature is NaN or infinite.
    #[error(
        "a feature of {set} sample {sample} (counted from 0) is not a finite number: training has diverged; lower \
         optimizer.learning_rate or raise loss.temperature"
    )]
    NotFinite {
        /// The split.
        set: &'static str,
        /// The first such sample.
        sample: usize,
    },
    /// The training of the linear probe diverged.
    #[error(
        "the linear probe has diverged although its features are finite: lower evaluation.probe.learning_rate (1e-3 suits features \
         of unit length)"
    )]
    Diverged,
    /// Uniformity needs at least two samples.
    #[error("uniformity is an average over pairs of samples, but there is only one sample: at least 2 are needed")]
    NoPairs,
}
