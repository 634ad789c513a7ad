//! Batch normalisation against tensor operations, finite differences and difficult batches.

use super::common::{Numbers, TYPES, assert_close, assert_gradient, matrix, values};
use bcl_kernels::{BatchNormalised, batch_norm, batch_norm_relu, portable};
use burn::tensor::{DType, Device, Tensor};

const EPSILON: f64 = 1e-5;

/// Planes with and without a remainder after the vectors, planes of one value (also more than one task), one channel, one sample, and more
/// planes than one task.
const SHAPES: [[usize; 4]; 7] = [
    [3, 5, 4, 3],
    [7, 6, 1, 1],
    [1500, 35, 1, 1],
    [2, 1, 9, 9],
    [1, 4, 8, 8],
    [70, 16, 16, 16],
    [2, 3, 100, 101],
];

type Norm = fn(Tensor<4>, Tensor<1>, Tensor<1>, f64) -> BatchNormalised<4>;
const PAIRS: [[Norm; 2]; 2] = [
    [batch_norm, portable::batch_norm],
    [batch_norm_relu, portable::batch_norm_relu],
];

fn input(numbers: &mut Numbers, shape: [usize; 4], dtype: DType, device: &Device) -> Tensor<4> {
    let [batch_size, rest] = [shape[0], shape[1..].iter().product()];
    numbers.matrix([batch_size, rest], dtype, device).reshape(shape)
}

fn row(numbers: &mut Numbers, length: usize, dtype: DType, device: &Device) -> Tensor<1> {
    numbers.matrix([1, length], dtype, device).squeeze_dim(0)
}

#[test]
fn output_and_statistics_equal_the_portable_ones() {
    let device = Device::flex();
    let mut numbers = Numbers(30);
    for shape in SHAPES {
        for dtype in TYPES {
            // Off centre, like the activations of a network.
            let input = input(&mut numbers, shape, dtype, &device) * 3.0 + 2.0;
            let [weight, bias] = [0, 1].map(|_| row(&mut numbers, shape[1], dtype, &device));
            for [fast, portable] in PAIRS {
                let got = fast(input.clone(), weight.clone(), bias.clone(), EPSILON);
                let expected = portable(input.clone(), weight.clone(), bias.clone(), EPSILON);
                assert_close(got.mean, expected.mean);
                assert_close(got.variance, expected.variance);
                assert_close(got.output, expected.output);
            }
        }
    }
}

#[test]
fn gradients_equal_the_portable_ones() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(31);
    for shape in SHAPES {
        for dtype in TYPES {
            let input = input(&mut numbers, shape, dtype, &device).require_grad();
            let [weight, bias] = [0, 1].map(|_| row(&mut numbers, shape[1], dtype, &device).require_grad());
            let outer = self::input(&mut numbers, shape, dtype, &device);
            for [fast, portable] in PAIRS {
                let [got, expected] = [fast, portable].map(|norm| {
                    let output = norm(input.clone(), weight.clone(), bias.clone(), EPSILON).output;
                    (output * outer.clone()).mean().backward()
                });
                assert_close(input.grad(&got).expect("tracked"), input.grad(&expected).expect("tracked"));
                for parameter in [&weight, &bias] {
                    assert_close(
                        parameter.grad(&got).expect("tracked"),
                        parameter.grad(&expected).expect("tracked"),
                    );
                }
            }
        }
    }
}

#[test]
fn gradients_equal_differences() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(32);
    let input = numbers.matrix([3, 8], DType::F64, &device);
    let outer = numbers.matrix([3, 8], DType::F64, &device);
    let [weight, bias] = [0, 1].map(|_| row(&mut numbers, 2, DType::F64, &device));
    for [norm, _] in PAIRS {
        let of_input = |at: Tensor<2>| {
            let output = norm(at.reshape([3, 2, 2, 2]), weight.clone(), bias.clone(), EPSILON).output;
            output.reshape([3, 8])
        };
        assert_gradient(of_input, input.clone(), outer.clone());
    }
}

#[test]
fn statistics_of_values_far_from_zero_keep_their_digits() {
    let device = Device::flex();
    let mut numbers = Numbers(33);
    let small = input(&mut numbers, [8, 2, 8, 8], DType::F32, &device);
    let (weight, bias) = (Tensor::ones([2], &device), Tensor::zeros([2], &device));
    let near = values(batch_norm(small.clone(), weight.clone(), bias.clone(), EPSILON).variance);
    // A plain sum of squares would lose all but one or two digits here.
    let far = values(batch_norm(small + 1000.0, weight, bias, EPSILON).variance);
    for (near, far) in near.iter().zip(&far) {
        assert!((near - far).abs() < 1e-3 * near, "{near} and {far}");
    }
}

#[test]
fn a_non_contiguous_tensor_is_read_in_order() {
    let device = Device::flex();
    let mut numbers = Numbers(34);
    let input = input(&mut numbers, [4, 3, 5, 6], DType::F64, &device);
    let [weight, bias] = [0, 1].map(|_| row(&mut numbers, 3, DType::F64, &device));
    let turned = input.clone().swap_dims(2, 3);
    let got = batch_norm(turned, weight.clone(), bias.clone(), EPSILON)
        .output
        .swap_dims(2, 3);
    assert_close(got, batch_norm(input, weight, bias, EPSILON).output);
}

#[test]
fn nan_stays_visible() {
    let device = Device::flex();
    let input = matrix(vec![1.0, f64::NAN, 2.0, 3.0], [2, 2], DType::F32, &device);
    let (weight, bias) = (Tensor::ones([2], &device), Tensor::zeros([2], &device));
    let output = values(batch_norm_relu(input, weight, bias, EPSILON).output);
    assert!(output[1].is_nan() && output[3].is_nan(), "{output:?}");
    assert!(output[0] == 0.0 && output[2] > 0.9, "{output:?}");
}

#[test]
#[should_panic(expected = "the input has 3 channels, but there are 2 weights and 3 biases")]
fn a_weight_for_other_channels_panics() {
    let device = Device::flex();
    batch_norm::<2>(
        Tensor::ones([2, 3], &device),
        Tensor::ones([2], &device),
        Tensor::ones([3], &device),
        EPSILON,
    );
}
