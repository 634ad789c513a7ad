//! Inputs and comparisons for tests.

use burn::tensor::{Device, Tensor, TensorData};

/// The i-th value is `sin(0.37 i)`.
pub(super) fn waves<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    let values: Vec<f32> = (0..shape.iter().product()).map(|i: usize| (i as f32 * 0.37).sin()).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

pub(super) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

pub(super) fn assert_close(left: &[f32], right: &[f32]) {
    assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        assert!((l - r).abs() <= 1e-4 * (1.0 + r.abs()), "{left:?}\n{right:?}");
    }
}
