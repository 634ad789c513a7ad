//! Labelled features, and the checks that every evaluation runs on them first.

use super::ProbeError;
use burn::tensor::{Tensor, TensorData};

/// Frozen features of samples with their class labels.
///
/// # Shapes
/// - features: `[num_samples, dim]`, on any device
/// - labels:   `num_samples` values, from 0 to below the number of classes
#[derive(Debug, Clone)]
pub struct Labelled {
    /// One row per sample.
    pub features: Tensor<2>,
    /// One class per sample.
    pub labels: Vec<u32>,
}

impl Labelled {
    /// Checks features and labels, and returns the features detached from autodiff.
    pub(super) fn checked(&self, set: &'static str, num_classes: usize) -> Result<Tensor<2>, ProbeError> {
        let features = check_finite(&self.features, set)?;
        check_labels(&self.labels, features.dims()[0], set, num_classes)?;
        Ok(features)
    }
}

/// Checks training and test features, separately and against each other.
pub(super) fn check_pair(train: &Labelled, test: &Labelled, num_classes: usize) -> Result<(Tensor<2>, Tensor<2>), ProbeError> {
    let (train_features, test_features) = (train.checked("training", num_classes)?, test.checked("test", num_classes)?);
    check_lengths(train_features.dims()[1], test_features.dims()[1])?;
    check_classes(&train.labels)?;
    Ok((train_features, test_features))
}

/// Checks that training and test features have the same length.
pub(super) fn check_lengths(train: usize, test: usize) -> Result<(), ProbeError> {
    (train == test).then_some(()).ok_or(ProbeError::FeatureLength { train, test })
}

/// Checks that the training labels contain more than one class.
pub(super) fn check_classes(labels: &[u32]) -> Result<(), ProbeError> {
    if labels.iter().all(|label| *label == labels[0]) {
        return Err(ProbeError::OneClass { class: labels[0] });
    }
    Ok(())
}

/// Checks that there are samples and that each has a valid class.
pub(super) fn check_labels(labels: &[u32], num_samples: usize, set: &'static str, num_classes: usize) -> Result<(), ProbeError> {
    if num_samples == 0 {
        return Err(ProbeError::Empty { set });
    }
    if labels.len() != num_samples {
        let num_labels = labels.len();
        return Err(ProbeError::LabelsMissing {
            set,
            num_samples,
            num_labels,
        });
    }
    match labels.iter().position(|&label| label as usize >= num_classes) {
        Some(sample) => Err(ProbeError::LabelOutOfRange {
            set,
            sample,
            label: labels[sample],
            num_classes,
        }),
        None => Ok(()),
    }
}

/// Checks that no feature is NaN or infinite, and returns the features detached from autodiff.
pub(super) fn check_finite(features: &Tensor<2>, set: &'static str) -> Result<Tensor<2>, ProbeError> {
    let features = features.clone().inner();
    let [num_samples, dim] = features.dims();
    if num_samples * dim == 0 {
        return Ok(features);
    }
    // Only one number per row is copied to the host. A row of finite values times 0 sums to 0; any other row sums to NaN.
    let sums = to_host((features.clone() * 0.0).sum_dim(1));
    match sums.iter().position(|&sum| sum != 0.0) {
        Some(sample) => Err(ProbeError::NotFinite { set, sample }),
        None => Ok(features),
    }
}

/// Normalises rows to length 1; a row of zeros stays zero.
pub(super) fn unit_rows(features: Tensor<2>) -> Tensor<2> {
    // Dividing by the largest entry first keeps the squares from overflowing or underflowing.
    let largest = features.clone().abs().max_dim(1).clamp_min(f32::MIN_POSITIVE);
    let features = features / largest;
    let length = features.clone().square().sum_dim(1).sqrt().clamp_min(f32::MIN_POSITIVE);
    features / length
}

/// Copies the values to the host, in row-major order.
pub(super) fn to_host(values: Tensor<2>) -> Vec<f32> {
    let data: TensorData = values.into_data().convert::<f32>();
    data.try_to_vec().expect("converted to f32 above")
}
