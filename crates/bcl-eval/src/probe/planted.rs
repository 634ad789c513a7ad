//! Synthetic features with known structure, for tests.

use super::Labelled;
use bcl_data::Seed;
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Standard normal features.
pub(super) fn noise(num_samples: usize, dim: usize, seed: u64) -> Tensor<2> {
    let mut rng = Seed(seed).named("features").rng();
    let values: Vec<f32> = (0..num_samples * dim).map(|_| StandardNormal.sample(&mut rng)).collect();
    Tensor::from_data(TensorData::new(values, [num_samples, dim]), &Device::flex())
}

/// Labels that are independent of the features.
pub(super) fn coins(num_samples: usize, num_classes: u32, seed: u64) -> Vec<u32> {
    let mut rng = Seed(seed).named("labels").rng();
    (0..num_samples).map(|_| rng.random_range(0..num_classes)).collect()
}

/// One cluster per class: unit vector c for class c plus noise with standard deviation `size`. Labels cycle through the classes.
pub(super) fn clusters(num_samples: usize, dim: usize, num_classes: u32, size: f64, seed: u64) -> Labelled {
    let labels: Vec<u32> = (0..num_samples as u32).map(|sample| sample % num_classes).collect();
    let mut centres = vec![0.0_f32; num_samples * dim];
    for (row, &label) in centres.chunks_mut(dim).zip(&labels) {
        row[label as usize] = 1.0;
    }
    let centres = Tensor::from_data(TensorData::new(centres, [num_samples, dim]), &Device::flex());
    Labelled {
        features: centres + noise(num_samples, dim, seed) * size,
        labels,
    }
}
