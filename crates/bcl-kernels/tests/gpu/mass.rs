//! Row masses, up to the rounding of exponentials.

use super::{
    common::{Numbers, assert_close},
    gpu, home,
};
use bcl_kernels::{mass, ranked_mass};
use burn::tensor::{DType, Device, Tensor};

/// Masses and gradients on a device.
fn measured(device: Device, shape: [usize; 2], ranked: bool) -> [Tensor<2>; 3] {
    let device = device.autodiff();
    let mut numbers = Numbers(shape[1] as u64);
    let scores = numbers.matrix(shape, DType::F32, &device).require_grad();
    let offsets = numbers.matrix([shape[0], 1], DType::F32, &device).require_grad();
    let weights = numbers.matrix([shape[0], 1], DType::F32, &device);
    let table = numbers.matrix([1, shape[1]], DType::F32, &device).squeeze_dim::<1>(0);
    let masses = if ranked {
        ranked_mass(scores.clone(), offsets.clone(), table, 0.4)
    } else {
        mass(scores.clone(), offsets.clone(), 0.4)
    };
    let gradients = (masses.clone() * weights).sum().backward();
    let of = |tensor: &Tensor<2>| tensor.grad(&gradients).expect("tracked");
    [masses.inner(), of(&scores), of(&offsets)].map(home)
}

#[test]
fn masses_and_gradients_are_those_of_the_cpu() {
    for shape in [[1, 1], [5, 100], [300, 257], [3, 4096], [2, 4097], [2, 9000]] {
        for ranked in [false, true] {
            let there = measured(gpu(), shape, ranked);
            for (there, here) in there.into_iter().zip(measured(Device::flex(), shape, ranked)) {
                assert_close(there, here);
            }
        }
    }
}
