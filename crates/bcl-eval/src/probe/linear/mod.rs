//! The linear probe: accuracy of a linear classifier trained on frozen features.

mod config;
mod layer;
#[cfg(test)]
mod tests;

pub use config::LinearProbeConfig;

use super::{
    Labelled, ProbeError, TopK,
    labelled::{check_classes, check_finite, check_labels, check_lengths, check_pair},
};
use bcl_data::Seed;
use burn::tensor::{Int, Tensor, TensorData};
use layer::Layer;
use rand::seq::SliceRandom;

/// Accuracy of a linear classifier trained on features that are computed once (protocol `clean`).
///
/// Trains the layer with [Adam](LinearProbeConfig) on the cross-entropy of its logits `x W + b` and returns its accuracy on `test`
/// after the last epoch. Features are used as they are, neither standardised nor normalised to unit length.
///
/// # Errors
/// Returns a [`ProbeError`] if features or labels are invalid, or if the training of the probe diverges.
///
/// # Panics
/// Panics if [`LinearProbeConfig::check`] fails.
///
/// ```
/// use bcl_data::Seed;
/// use bcl_eval::probe::{Labelled, LinearProbeConfig, probe_fixed};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let train = Labelled { features: Tensor::from_floats([[1.0, 0.1], [0.1, 1.0]], &device), labels: vec![0, 1] };
/// let config = LinearProbeConfig { learning_rate: 0.1, ..LinearProbeConfig::default() };
/// assert_eq!(probe_fixed(&train, &train, 2, &config, Seed(0))?.top1, 1.0);
/// # Ok::<(), bcl_eval::probe::ProbeError>(())
/// ```
pub fn probe_fixed(
    train: &Labelled,
    test: &Labelled,
    num_classes: usize,
    config: &LinearProbeConfig,
    seed: Seed,
) -> Result<TopK, ProbeError> {
    let (features, test_features) = check_pair(train, test, num_classes)?;
    let batch = |_, indices: &[usize]| Ok::<_, ProbeError>(features.clone().select(0, positions(indices, &features)));
    let layer = train_layer(&train.labels, num_classes, config, seed, batch)?;
    accuracy(&layer, test_features, &test.labels)
}

/// Accuracy of a linear classifier trained on features that are computed anew for each batch (protocol `official`).
///
/// Like [`probe_fixed`], but calls `batch(epoch, indices)` for the features of these training samples, in this order, for example from
/// new augmented views. It requests each sample once per epoch. It calls `test` after the last epoch, so an encoder left in training
/// mode has processed all training views by then.
///
/// # Shapes
/// - `train_labels`: one class per training sample
/// - `batch`: `[indices.len(), dim]`
/// - `test`:  features of the same length, on the same device
///
/// # Errors
/// Returns a [`ProbeError`] if features or labels are invalid or if the training of the probe diverges, and any error of `batch` and `test`.
///
/// # Panics
/// Panics if [`LinearProbeConfig::check`] fails, or if `batch` returns a different number of rows than `indices`.
pub fn probe_views<E: From<ProbeError>>(
    train_labels: &[u32],
    num_classes: usize,
    config: &LinearProbeConfig,
    seed: Seed,
    mut batch: impl FnMut(usize, &[usize]) -> Result<Tensor<2>, E>,
    test: impl FnOnce() -> Result<Labelled, E>,
) -> Result<TopK, E> {
    check_labels(train_labels, train_labels.len(), "training", num_classes)?;
    check_classes(train_labels)?;
    let checked = |epoch, indices: &[usize]| {
        let features = batch(epoch, indices)?;
        let num_samples = features.dims()[0];
        assert_eq!(
            num_samples,
            indices.len(),
            "`batch` returned features of {num_samples} samples for {} indices",
            indices.len()
        );
        let features = check_finite(&features, "training").map_err(|error| in_data_set(error, indices));
        features.map_err(E::from)
    };
    let layer = train_layer(train_labels, num_classes, config, seed, checked)?;
    let test = test()?;
    let features = test.checked("test", num_classes)?;
    check_lengths(layer.weight.dims()[0], features.dims()[1])?;
    Ok(accuracy(&layer, features, &test.labels)?)
}

/// Replaces the sample's index in the batch by its index in the data set.
fn in_data_set(error: ProbeError, indices: &[usize]) -> ProbeError {
    match error {
        ProbeError::NotFinite { set, sample } => ProbeError::NotFinite {
            set,
            sample: indices[sample],
        },
        other => other,
    }
}

/// Trains the layer and returns it after the last epoch.
///
/// Initial weights and the order of each epoch are counter-based: they depend only on the seed and the epoch.
fn train_layer<E>(
    labels: &[u32],
    num_classes: usize,
    config: &LinearProbeConfig,
    seed: Seed,
    mut batch: impl FnMut(usize, &[usize]) -> Result<Tensor<2>, E>,
) -> Result<Layer, E> {
    config.check().unwrap_or_else(|error| panic!("{error}"));
    // Initialised with the first batch, which determines feature length and device.
    let mut layer: Option<Layer> = None;
    let mut adam = layer::Adam::new(config);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    for epoch in 0..config.epochs {
        // Start from the sorted order, so that an epoch's order does not depend on earlier epochs.
        order.sort_unstable();
        order.shuffle(&mut seed.named("probe order").index(epoch as u64).rng());
        for indices in order.chunks(config.batch_size) {
            let features = batch(epoch, indices)?;
            let device = features.device();
            let classes: Vec<i32> = indices.iter().map(|&index| labels[index] as i32).collect();
            let classes = Tensor::from_data(TensorData::new(classes, [indices.len()]), &device);
            let now = layer.unwrap_or_else(|| Layer::init(features.dims()[1], num_classes, seed.named("probe init"), &device));
            let gradient = now.gradient(features, classes);
            layer = Some(adam.step(now, gradient));
        }
    }
    Ok(layer.expect("there is at least one epoch and one sample"))
}

fn accuracy(layer: &Layer, features: Tensor<2>, labels: &[u32]) -> Result<TopK, ProbeError> {
    TopK::of_scores(layer.forward(features), labels).ok_or(ProbeError::Diverged)
}

fn positions(indices: &[usize], features: &Tensor<2>) -> Tensor<1, Int> {
    let indices: Vec<i32> = indices.iter().map(|&index| index as i32).collect();
    let length = indices.len();
    Tensor::from_data(TensorData::new(indices, [length]), &features.device())
}
