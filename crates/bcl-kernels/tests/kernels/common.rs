//! Tensors with known values, and comparisons.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};

pub(crate) const TYPES: [DType; 2] = [DType::F32, DType::F64];

/// `SplitMix64`: a sequence that depends only on the seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [-1, 1).
    pub(crate) fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn matrix(&mut self, shape: [usize; 2], dtype: DType, device: &Device) -> Tensor<2> {
        let values: Vec<f64> = (0..shape[0] * shape[1]).map(|_| self.signed()).collect();
        matrix(values, shape, dtype, device)
    }

    pub(crate) fn indices(&mut self, shape: [usize; 2], bound: usize, device: &Device) -> Tensor<2, Int> {
        let values: Vec<i32> = (0..shape[0] * shape[1]).map(|_| self.below(bound) as i32).collect();
        Tensor::from_data(TensorData::new(values, shape), device)
    }
}

pub(crate) fn matrix(values: Vec<f64>, shape: [usize; 2], dtype: DType, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values, shape), (device, dtype))
}

pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

pub(crate) fn integers<const D: usize>(tensor: Tensor<D, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}

/// Asserts equality up to rounding in the given type.
#[track_caller]
pub(crate) fn assert_close<const D: usize>(got: Tensor<D>, expected: Tensor<D>) {
    assert_eq!(got.dims(), expected.dims());
    assert_eq!(got.dtype(), expected.dtype());
    let tolerance = if got.dtype() == DType::F64 { 1e-12 } else { 1e-5 };
    let (got, expected) = (values(got), values(expected));
    for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let error = (got - expected).abs();
        assert!(
            error <= tolerance * (1.0 + expected.abs()),
            "element {index}: got {got}, expected {expected}"
        );
    }
}

/// The gradient of `Σ weights · f(inputs)` with respect to one input value, by central differences.
pub(crate) fn slope(f: impl Fn(Tensor<2>) -> Tensor<2>, at: &Tensor<2>, weights: &Tensor<2>, entry: usize) -> f64 {
    const STEP: f64 = 1e-5;
    let [rows, columns] = at.dims();
    let side = |step: f64| {
        let mut moved = values(at.clone());
        moved[entry] += step;
        let moved = matrix(moved, [rows, columns], DType::F64, &at.device());
        values((f(moved) * weights.clone()).sum())[0]
    };
    (side(STEP) - side(-STEP)) / (2.0 * STEP)
}

/// Asserts that autodiff and central differences give the same gradient of `Σ weights · f(at)`.
#[track_caller]
pub(crate) fn assert_gradient(f: impl Fn(Tensor<2>) -> Tensor<2>, at: Tensor<2>, weights: Tensor<2>) {
    let at = at.require_grad();
    let gradients = (f(at.clone()) * weights.clone()).sum().backward();
    let gradient = values(at.grad(&gradients).expect("the input is tracked"));
    for (entry, &got) in gradient.iter().enumerate() {
        let expected = slope(&f, &at, &weights, entry);
        assert!(
            (got - expected).abs() < 1e-8,
            "entry {entry}: got {got}, but finite differences give {expected}"
        );
    }
}
