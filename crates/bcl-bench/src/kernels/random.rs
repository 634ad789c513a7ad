//! Inputs of the benchmarks.

use bcl_data::Seed;
use burn::tensor::{Device, Distribution, Int, Tensor, TensorData};

/// Standard normal values.
pub(super) fn normal<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), device)
}

/// Integers below a bound, the same on every device.
pub(super) fn below(bound: usize, count: usize) -> impl Iterator<Item = usize> {
    let seed = Seed(0).named("below");
    (0..count as u64).map(move |i| (seed.index(i).0 % bound as u64) as usize)
}

/// Row indices of a table.
pub(super) fn indices<const D: usize>(shape: [usize; D], num_rows: usize, device: &Device) -> Tensor<D, Int> {
    let indices: Vec<i32> = below(num_rows, shape.iter().product()).map(|index| index as i32).collect();
    Tensor::from_data(TensorData::new(indices, shape), device)
}
