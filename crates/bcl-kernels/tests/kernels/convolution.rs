//! Convolution against Burn's.

use super::common::{Numbers, TYPES, assert_close, values};
use bcl_kernels::{convolve, portable};
use burn::tensor::{DType, Device, Tensor};

/// Batch, channels in, height, width; channels out, kernel; stride, padding. Covers large and small images, several groups and parts
/// with a remainder, kernels as large as the image and larger, strides that skip rows, padding that fills whole windows, kernels of one pixel, for
/// which large images are not copied, and strided kernels over whole vectors of channels, whose windows are read in place.
const CASES: [([usize; 4], [usize; 2], [usize; 2]); 24] = [
    ([3, 2, 7, 5], [4, 3], [1, 1]),
    ([2, 3, 32, 32], [8, 3], [1, 1]),
    ([37, 5, 4, 4], [6, 3], [1, 1]),
    ([9, 4, 9, 8], [3, 3], [2, 1]),
    ([5, 3, 20, 21], [4, 7], [2, 3]),
    ([20, 4, 1, 1], [5, 3], [1, 1]),
    ([4, 6, 6, 6], [3, 1], [1, 0]),
    ([3, 5, 16, 17], [7, 1], [1, 0]),
    ([17, 4, 12, 12], [3, 1], [1, 0]),
    ([9, 16, 9, 8], [5, 3], [2, 1]),
    ([5, 32, 8, 8], [70, 3], [2, 1]),
    ([3, 16, 12, 13], [20, 5], [3, 2]),
    ([2, 48, 5, 6], [16, 3], [2, 0]),
    ([1, 16, 2, 2], [3, 7], [4, 3]),
    ([4, 6, 7, 7], [3, 1], [2, 0]),
    ([2, 2, 3, 3], [2, 2], [3, 4]),
    ([37, 5, 2, 2], [6, 3], [1, 1]),
    ([20, 16, 2, 2], [5, 3], [2, 1]),
    ([3, 4, 3, 3], [5, 3], [1, 0]),
    ([70, 6, 1, 2], [17, 3], [1, 1]),
    ([19, 3, 1, 1], [4, 1], [1, 0]),
    ([1, 3, 2, 16], [8, 7], [2, 3]),
    ([1, 3, 1, 16], [8, 7], [2, 3]),
    ([1, 1, 32, 1], [1, 5], [1, 2]),
];

fn random(numbers: &mut Numbers, shape: [usize; 4], dtype: DType, device: &Device) -> Tensor<4> {
    numbers
        .matrix([shape[0], shape[1] * shape[2] * shape[3]], dtype, device)
        .reshape(shape)
}

/// Asserts equality up to rounding in the type: relative to the largest value, because Winograd's algorithm adds all values of a tile.
#[track_caller]
fn assert_near(got: Tensor<4>, expected: Tensor<4>) {
    assert_eq!(got.dtype(), expected.dtype());
    let bound = if got.dtype() == DType::F64 { 1e-13 } else { 1e-5 };
    let error = relative_error(got, expected);
    assert!(error < bound, "{error:e}");
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
            assert_near(got.clone(), expected.clone());
            let outer = random(&mut numbers, got.dims(), dtype, &device);
            let [got, expected] = [got, expected].map(|output| (output * outer.clone()).mean().backward());
            for parameter in [&input, &weight] {
                assert_near(
                    parameter.grad(&got).expect("tracked"),
                    parameter.grad(&expected).expect("tracked"),
                );
            }
        }
    }
}

/// Sizes at the edges of what Winograd's tiles and vectors fit: odd sides, paddings, channels beside multiples of a vector, one image,
/// several strips of tiles, several panels of channels, and groups with a remainder.
const TILED: [([usize; 4], usize, usize); 9] = [
    ([1, 16, 4, 4], 16, 1),
    ([1, 3, 9, 11], 8, 1),
    ([3, 17, 7, 7], 15, 1),
    ([2, 5, 8, 13], 33, 0),
    ([2, 8, 6, 5], 16, 2),
    ([1, 4, 50, 49], 9, 1),
    ([37, 20, 4, 4], 70, 1),
    ([70, 65, 4, 3], 65, 1),
    ([2, 130, 16, 16], 80, 1),
];

/// The largest error, relative to the largest value.
fn relative_error(got: Tensor<4>, exact: Tensor<4>) -> f64 {
    assert_eq!(got.dims(), exact.dims());
    let (got, exact) = (values(got), values(exact));
    let largest = exact.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let error = got.iter().zip(&exact).map(|(got, exact)| (got - exact).abs());
    // `f64::max` would drop NaN.
    let error: f64 = error.fold(0.0, |most, next| if next.is_nan() { f64::INFINITY } else { most.max(next) });
    error / largest
}

#[test]
fn single_precision_is_close_to_double_precision() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(42);
    for (shape, channels_out, padding) in TILED {
        let input = random(&mut numbers, shape, DType::F64, &device);
        let weight = random(&mut numbers, [channels_out, shape[1], 3, 3], DType::F64, &device);
        let outer = random(
            &mut numbers,
            [shape[0], channels_out, shape[2] + 2 * padding - 2, shape[3] + 2 * padding - 2],
            DType::F64,
            &device,
        );
        let passes = |dtype| {
            let [input, weight] = [&input, &weight].map(|tensor| tensor.clone().cast(dtype).detach().require_grad());
            let output = convolve(input.clone(), weight.clone(), 1, padding);
            let gradients = (output.clone() * outer.clone().cast(dtype)).sum().backward();
            [
                output.inner(),
                input.grad(&gradients).expect("tracked"),
                weight.grad(&gradients).expect("tracked"),
            ]
        };
        for (pass, (single, double)) in passes(DType::F32).into_iter().zip(passes(DType::F64)).enumerate() {
            let error = relative_error(single, double);
            assert!(error < 3e-5, "pass {pass} of {shape:?}, {channels_out} channels: {error:e}");
        }
    }
}

#[test]
fn a_tiny_image_has_the_same_output_in_any_batch() {
    let device = Device::flex();
    let mut numbers = Numbers(43);
    for ([channels, side], channels_out, stride) in [([128, 1], 128, 1), ([16, 2], 32, 2), ([8, 2], 8, 1)] {
        for dtype in TYPES {
            let input = random(&mut numbers, [17, channels, side, side], dtype, &device);
            let weight = random(&mut numbers, [channels_out, channels, 3, 3], dtype, &device);
            let all = convolve(input.clone(), weight.clone(), stride, 1);
            for images in [1, 2, 3, 12] {
                let some = convolve(input.clone().slice_dim(0, 5..5 + images), weight.clone(), stride, 1);
                assert_eq!(values(some), values(all.clone().slice_dim(0, 5..5 + images)));
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_show_in_the_output() {
    let device = Device::flex();
    let mut image = vec![1.0; 64];
    image[27] = f64::NAN;
    let input = Tensor::<1>::from_data(&*image, (&device, DType::F32)).reshape([1, 1, 8, 8]);
    let output = values(convolve(input, Tensor::ones([8, 1, 3, 3], &device), 1, 1));
    assert!(output[27].is_nan());
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
