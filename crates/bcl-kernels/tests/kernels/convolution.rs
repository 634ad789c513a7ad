//! Convolution against Burn's.

use super::common::{Numbers, TYPES, assert_close};
use bcl_kernels::{convolve, portable};
use burn::tensor::{DType, Device, Tensor};

/// Batch, channels in, height, width; channels out, kernel; stride, padding. Covers large and small images, several groups and parts
/// with a remainder, kernels larger than the image, strides that skip rows, and padding that fills whole windows.
const CASES: [([usize; 4], [usize; 2], [usize; 2]); 9] = [
    ([3, 2, 7, 5], [4, 3], [1, 1]),
    ([2, 3, 32, 32], [8, 3], [1, 1]),
    ([37, 5, 4, 4], [6, 3], [1, 1]),
    ([9, 4, 9, 8], [3, 3], [2, 1]),
    ([5, 3, 20, 21], [4, 7], [2, 3]),
    ([20, 4, 1, 1], [5, 3], [1, 1]),
    ([4, 6, 6, 6], [3, 1], [1, 0]),
    ([4, 6, 7, 7], [3, 1], [2, 0]),
    ([2, 2, 3, 3], [2, 2], [3, 4]),
];

fn random(numbers: &mut Numbers, shape: [usize; 4], dtype: DType, device: &Device) -> Tensor<4> {
    numbers
        .matrix([shape[0], shape[1] * shape[2] * shape[3]], dtype, device)
        .reshape(shape)
}

#[test]
fn output_and_gradients_equal_burns() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(40);
    for (shape, [channels_out, kernel], [stride, padding]) in CASES {
        for dtype in TYPES {
            let input = random(&mut numbers, shape, dtype, &device).require_grad();
            let weight = random(&mut numbers, [channels_out, shape[1], kernel, kernel], dtype, &device).require_grad();
            let got = convolve(input.clone(), weight.clone(), stride, padding);
            let expected = portable::convolve(input.clone(), weight.clone(), stride, padding);
            assert_close(got.clone(), expected.clone());
            let outer = random(&mut numbers, got.dims(), dtype, &device);
            let [got, expected] = [got, expected].map(|output| (output * outer.clone()).mean().backward());
            for parameter in [&input, &weight] {
                assert_close(
                    parameter.grad(&got).expect("tracked"),
                    parameter.grad(&expected).expect("tracked"),
                );
            }
        }
    }
}

#[test]
fn non_contiguous_images_are_read_in_order() {
    let device = Device::flex();
    let mut numbers = Numbers(41);
    let input = random(&mut numbers, [4, 3, 5, 6], DType::F64, &device);
    let weight = random(&mut numbers, [2, 3, 3, 3], DType::F64, &device);
    let expected = convolve(input.clone(), weight.clone(), 1, 1);
    assert_close(
        convolve(input.swap_dims(2, 3), weight.swap_dims(2, 3), 1, 1).swap_dims(2, 3),
        expected,
    );
}

#[test]
#[should_panic(expected = "the input has 3 channels, but the kernels have 2")]
fn a_kernel_for_other_channels_panics() {
    let device = Device::flex();
    convolve(Tensor::ones([1, 3, 4, 4], &device), Tensor::ones([1, 2, 3, 3], &device), 1, 1);
}

#[test]
#[should_panic(expected = "an input of 2 x 9 with padding 0 is smaller than a kernel of 3 x 3")]
fn an_image_smaller_than_the_kernel_panics() {
    let device = Device::flex();
    convolve(Tensor::ones([1, 1, 2, 9], &device), Tensor::ones([1, 1, 3, 3], &device), 1, 0);
}
