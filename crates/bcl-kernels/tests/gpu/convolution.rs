//! Convolution and its gradients. Each algorithm that needs no tensor cores is also called by name, in single precision.

use super::{
    common::{Numbers, values},
    gpu,
};
use bcl_kernels::convolution_algorithms::{
    AcceleratedTileKind, Algorithm, Convolution, Loading, Pass, Product, Refused, Tiles, chosen, data, forward, weight,
};
use bcl_kernels::convolve;
use burn::backend::{Cube, ops::FloatTensorOps};
use burn::tensor::{DType, Device, Tensor};
use burn_cubecl::CubeDevice;
use burn_cubecl::ops::{into_data_sync, permute_nchw_to_nhwc};
use burn_cubecl::tensor::CubeTensor;

/// Batch, channels in, height, width; channels out, kernel; stride, padding. Kernels of one, three and seven pixels, channels that fill
/// whole vectors and such that do not, pixels that no window covers, and images smaller than their kernel.
const CASES: [([usize; 4], [usize; 2], [usize; 2]); 10] = [
    ([2, 8, 6, 5], [16, 3], [1, 1]),
    ([3, 3, 9, 9], [8, 3], [1, 1]),
    ([2, 4, 8, 7], [12, 3], [2, 1]),
    ([2, 3, 13, 12], [5, 7], [2, 3]),
    ([3, 8, 5, 4], [4, 1], [1, 0]),
    ([2, 16, 6, 7], [8, 1], [2, 0]),
    ([1, 5, 4, 6], [7, 3], [1, 0]),
    ([2, 4, 7, 7], [4, 7], [1, 3]),
    ([2, 4, 2, 2], [4, 3], [2, 1]),
    ([40, 4, 8, 8], [8, 3], [1, 1]),
];

/// Input, weight and the weights of the outputs in a loss.
fn tensors(case: ([usize; 4], [usize; 2], [usize; 2]), device: &Device) -> [Tensor<4>; 3] {
    let (shape, [channels_out, kernel], [stride, padding]) = case;
    let size = |axis: usize| (shape[axis] + 2 * padding - kernel) / stride + 1;
    let mut numbers = Numbers(7);
    let mut random = |shape: [usize; 4]| {
        numbers
            .matrix([shape[0], shape[1] * shape[2] * shape[3]], DType::F32, device)
            .reshape(shape)
    };
    [
        random(shape),
        random([channels_out, shape[1], kernel, kernel]),
        random([shape[0], channels_out, size(2), size(3)]),
    ]
}

/// Output, gradient of the input and gradient of the weight.
fn passes(case: ([usize; 4], [usize; 2], [usize; 2]), device: Device) -> [Vec<f64>; 3] {
    let device = device.autodiff();
    let [input, weight, outer] = tensors(case, &device);
    let [input, weight] = [input, weight].map(Tensor::require_grad);
    let output = convolve(input.clone(), weight.clone(), case.2[0], case.2[1]);
    let gradients = (output.clone() * outer).sum().backward();
    let of = |tensor: &Tensor<4>| values(tensor.grad(&gradients).expect("tracked"));
    [values(output.inner()), of(&input), of(&weight)]
}

#[track_caller]
fn assert_near(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(1e-30, |largest: f64, value| largest.max(value.abs()));
    let error = got
        .iter()
        .zip(expected)
        .fold(0.0, |error: f64, (a, b)| error.max((a - b).abs()));
    assert!(error < 2e-5 * largest, "{what}: {:e}", error / largest);
}

#[test]
fn outputs_and_gradients_are_those_of_the_cpu() {
    for case in CASES {
        let [there, here] = [gpu(), Device::flex()].map(|device| passes(case, device));
        for (pass, (there, here)) in Pass::ALL.into_iter().zip(there.iter().zip(&here)) {
            assert_near(there, here, &format!("{case:?}, {pass}"));
        }
    }
}

/// The pass by an algorithm, of tensors whose memory is NCHW or NHWC.
fn by(
    algorithm: Algorithm,
    pass: Pass,
    case: ([usize; 4], [usize; 2], [usize; 2]),
    channels_last: bool,
) -> Result<CubeTensor, Refused> {
    let device = CubeDevice::default();
    let [input, kernels, grad] = tensors(case, &Device::flex()).map(|tensor| Cube::float_from_data(tensor.into_data(), &device));
    let ordered = |tensor: CubeTensor| {
        if !channels_last {
            return tensor;
        }
        let nhwc = burn_cubecl::kernel::into_contiguous(permute_nchw_to_nhwc(tensor));
        burn_cubecl::ops::permute_nhwc_to_nchw(nhwc)
    };
    let (input, grad) = (ordered(input), ordered(grad));
    let [stride, padding] = case.2;
    match pass {
        Pass::Forward => forward(input, kernels, stride, padding, algorithm),
        Pass::Data => data(input, kernels, grad, stride, padding, algorithm),
        Pass::Weight => weight(input, kernels, grad, stride, padding, algorithm),
    }
}

#[test]
fn each_algorithm_computes_what_the_cpu_computes() {
    let units = Product {
        loading: Loading::Units,
        tiles: Tiles::inferred(AcceleratedTileKind::Mma),
    };
    for case in CASES {
        let expected = passes(case, Device::flex());
        let rotated = Algorithm::Rotated(Convolution::Columns(units));
        for algorithm in [Algorithm::Columns(units), rotated, Algorithm::Shifted(units)] {
            for (pass, expected) in Pass::ALL.into_iter().zip(&expected) {
                for channels_last in [false, true] {
                    let got = by(algorithm, pass, case, channels_last);
                    if !algorithm.computes(pass) {
                        assert!(got.is_err(), "{algorithm}, {pass}");
                        continue;
                    }
                    let got: Vec<f64> = into_data_sync(got.expect("computes")).iter::<f64>().collect();
                    assert_near(&got, expected, &format!("{case:?}, {algorithm}, {pass}"));
                }
            }
        }
    }
}

#[test]
fn results_are_views_of_channels_last_memory() {
    let units = Product {
        loading: Loading::Units,
        tiles: Tiles::inferred(AcceleratedTileKind::Mma),
    };
    for pass in [Pass::Forward, Pass::Data] {
        let result = by(Algorithm::Columns(units), pass, CASES[0], true).expect("computes");
        assert!(permute_nchw_to_nhwc(result).is_contiguous(), "{pass}");
    }
}

#[test]
fn single_precision_uses_no_tensor_cores() {
    let device = CubeDevice::default();
    let [input, kernels, _] = tensors(CASES[0], &Device::flex()).map(|tensor| Cube::float_from_data(tensor.into_data(), &device));
    for pass in Pass::ALL {
        assert_eq!(chosen(pass, &input, &kernels, 1, 1), Algorithm::Portable);
    }
}
