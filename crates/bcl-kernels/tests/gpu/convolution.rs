//! Convolution with kernels of one pixel, which are products on every GPU, with gradients.

use super::{
    common::{Numbers, assert_close},
    gpu, home,
};
use bcl_kernels::convolve;
use burn::tensor::{DType, Device, Tensor};

/// Output and gradients on a device, as matrices.
fn convolved(device: &Device, [batch, channels_in, side, channels_out, stride]: [usize; 5]) -> [Tensor<2>; 3] {
    let device = device.clone().autodiff();
    let mut numbers = Numbers(side as u64);
    let mut random = |shape: [usize; 4]| {
        let rows = numbers.matrix([shape[0], shape[1] * shape[2] * shape[3]], DType::F32, &device);
        rows.reshape(shape)
    };
    let input = random([batch, channels_in, side, side]).require_grad();
    let weight = random([channels_out, channels_in, 1, 1]).require_grad();
    let side_out = side.div_ceil(stride);
    let slopes = random([batch, channels_out, side_out, side_out]);
    let output = convolve(input.clone(), weight.clone(), stride, 0);
    let gradients = (output.clone() * slopes).sum().backward();
    let of = |tensor: &Tensor<4>| tensor.grad(&gradients).expect("tracked").flatten::<2>(1, 3);
    [output.inner().flatten::<2>(1, 3), of(&input), of(&weight)].map(home)
}

#[test]
fn kernels_of_one_pixel_equal_the_cpus() {
    // Channels that are read together and one by one, with and without a stride.
    for sizes in [[3, 16, 6, 24, 1], [2, 5, 7, 3, 1], [3, 16, 7, 8, 2], [2, 3, 6, 5, 2]] {
        let [found, expected] = [gpu(), Device::flex()].map(|device| convolved(&device, sizes));
        for (found, expected) in found.into_iter().zip(expected) {
            assert_close(found, expected);
        }
    }
}
