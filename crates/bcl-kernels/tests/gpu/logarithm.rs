//! `log1p` keeps all digits of small numbers.

use super::gpu;
use bcl_kernels::log1p;
use burn::tensor::{Tensor, TensorData};

#[test]
fn small_numbers_keep_their_digits() {
    let mut numbers = vec![0.0f32, 1e-38, -0.199, -0.201, -0.9, 0.249, 0.251, 1.0, 1e10];
    numbers.extend((0..300).map(|i| 10f32.powf(-30.0 + 0.1 * i as f32)));
    let device = gpu().autodiff();
    let x = Tensor::<1>::from_data(TensorData::from(&*numbers), &device).require_grad();
    let found = log1p(x.clone());
    let gradients = found.clone().sum().backward();
    let slopes = x.grad(&gradients).expect("tracked").into_data();
    let found = found.into_data();
    for ((x, found), slope) in numbers.iter().zip(found.iter::<f64>()).zip(slopes.iter::<f64>()) {
        let x = f64::from(*x);
        assert!((found - x.ln_1p()).abs() <= 1e-6 * x.ln_1p().abs(), "log(1 + {x}): {found}");
        assert!((slope * (1.0 + x) - 1.0).abs() < 1e-6, "the slope at {x}: {slope}");
    }
}
