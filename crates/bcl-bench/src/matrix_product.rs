//! A large product of two matrices, which shows what a device can do: rates of other work are given as a share of it.

use crate::clock::Clock;
use burn::tensor::{Device, Tensor};

/// Rows and columns of both matrices.
pub(crate) const SIZE: usize = 1024;

const REPETITIONS: usize = 8;

/// The shortest time of the product, in seconds.
pub(crate) fn seconds(device: &Device) -> f64 {
    let device = device.clone().without_autodiff();
    let [left, right] = [0.5, 2.0].map(|value| Tensor::<2>::full([SIZE; 2], value, &device));
    let mut clock = Clock::new(&device);
    let mut time = || {
        let product = left.clone().matmul(right.clone());
        let seconds = clock.lap();
        drop(product);
        clock.lap();
        seconds
    };
    (0..REPETITIONS).map(|_| time()).fold(f64::INFINITY, f64::min)
}

/// The rate in GFLOP/s at which the product takes this time.
pub(crate) fn gflops(seconds: f64) -> f64 {
    2e-9 * (SIZE as f64).powi(3) / seconds
}
