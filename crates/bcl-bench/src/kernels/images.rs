//! Kernels of image encoders, at layer sizes of a narrow ResNet-18 and of the published ResNet-18 and ResNet-50.

use super::{Implementations, KernelCase, Pass, normal};
use bcl_kernels::{batch_norm_relu, convolve, portable, unit_rows};
use burn::tensor::Tensor;

/// Inputs of batch normalisation: the stages of a ResNet-18 of width 16, then the first and last stages of ResNet-18 and ResNet-50, all on
/// images of 32 x 32 pixels.
const NORMALISED: [[usize; 4]; 8] = [
    [128, 16, 32, 32],
    [128, 32, 16, 16],
    [128, 64, 8, 8],
    [128, 128, 4, 4],
    [32, 64, 32, 32],
    [32, 512, 4, 4],
    [32, 256, 32, 32],
    [32, 2048, 4, 4],
];

/// The same for convolutions.
const CONVOLVED: [Layer; 21] = [
    Layer::new([128, 16, 32], 16, 3, 1),
    Layer::new([128, 32, 16], 32, 3, 1),
    Layer::new([128, 64, 8], 64, 3, 1),
    Layer::new([128, 128, 4], 128, 3, 1),
    Layer::new([128, 16, 32], 32, 3, 2),
    // ResNet-18.
    Layer::new([32, 3, 32], 64, 3, 1),
    Layer::new([8, 3, 224], 64, 7, 2),
    Layer::new([32, 64, 32], 64, 3, 1),
    Layer::new([32, 64, 32], 128, 3, 2),
    Layer::new([32, 512, 4], 512, 3, 1),
    // ResNet-50.
    Layer::new([32, 64, 32], 256, 1, 1),
    Layer::new([32, 256, 32], 512, 1, 2),
    Layer::new([32, 1024, 8], 256, 1, 1),
    Layer::new([32, 512, 4], 2048, 1, 1),
    // ResNet-50 on images of 224 x 224 pixels.
    Layer::new([8, 256, 56], 64, 1, 1),
    Layer::new([8, 64, 56], 64, 3, 1),
    Layer::new([8, 128, 56], 128, 3, 2),
    Layer::new([8, 512, 28], 128, 1, 1),
    Layer::new([8, 128, 28], 128, 3, 1),
    Layer::new([8, 256, 14], 256, 3, 1),
    Layer::new([8, 512, 7], 512, 3, 1),
];

/// Projections and features (batch size and dimension), and tables of items.
const ROWS: [[usize; 2]; 6] = [[512, 128], [8192, 128], [256, 512], [256, 2048], [1682, 64], [40_981, 64]];

/// Added to the variance of batch normalisation, as in training.
const EPSILON: f64 = 1e-5;

/// A convolution with padding that keeps the size at stride 1.
#[derive(Clone, Copy)]
struct Layer {
    /// Batch size, channels, and height and width.
    input: [usize; 3],
    channels: usize,
    kernel: usize,
    stride: usize,
}

impl Layer {
    const fn new(input: [usize; 3], channels: usize, kernel: usize, stride: usize) -> Self {
        Self {
            input,
            channels,
            kernel,
            stride,
        }
    }
}

pub(super) fn cases() -> Vec<KernelCase> {
    let normalised = NORMALISED
        .iter()
        .flat_map(|&shape| Pass::BOTH.map(|pass| normalised(shape, pass)));
    let convolved = CONVOLVED
        .iter()
        .flat_map(|&layer| Pass::BOTH.map(|pass| convolved(layer, pass)));
    let unit = ROWS.iter().flat_map(|&shape| Pass::BOTH.map(|pass| unit(shape, pass)));
    unit.chain(normalised).chain(convolved).collect()
}

/// The backward pass computes the gradients of input, weight and bias together.
fn normalised(shape: [usize; 4], pass: Pass) -> KernelCase {
    let entries = shape.iter().product();
    KernelCase::new("batch_norm_relu", format!("{shape:?}"), pass, entries, move |pass, device| {
        let affine = [0, 1].map(|_| pass.input(Tensor::<1>::ones([shape[1]], device)));
        let same = affine.clone();
        Implementations::new(
            pass,
            vec![pass.input(normal(shape, device))],
            normal(shape, device),
            move |input| {
                let [weight, bias] = affine.clone();
                batch_norm_relu(input[0].clone(), weight, bias, EPSILON).output
            },
            move |input| {
                let [weight, bias] = same.clone();
                portable::batch_norm_relu(input[0].clone(), weight, bias, EPSILON).output
            },
        )
    })
}

fn convolved(layer: Layer, pass: Pass) -> KernelCase {
    let Layer {
        input: [batch_size, channels_in, side],
        channels,
        kernel,
        stride,
    } = layer;
    let shape = [batch_size, channels_in, side, side];
    let weight = [channels, channels_in, kernel, kernel];
    let output = [batch_size, channels, side.div_ceil(stride), side.div_ceil(stride)];
    let padding = kernel / 2;
    let size = match stride {
        1 => format!("{weight:?} on {shape:?}"),
        _ => format!("{weight:?} on {shape:?}, stride {stride}"),
    };
    // im2col makes a column of the kernel's size for each output pixel.
    let entries = kernel * kernel * channels_in * batch_size * output[2] * output[3];
    let products = match pass {
        Pass::Forward => 1.0,
        // Two more, for the gradients of the input and of the weight.
        Pass::Gradients => 3.0,
    };
    let operations = products * 2.0 * (entries * channels) as f64;
    let case = KernelCase::new("convolve", size, pass, entries, move |pass, device| {
        Implementations::new(
            pass,
            [shape, weight].map(|shape| pass.input(normal(shape, device))).to_vec(),
            normal(output, device),
            move |inputs| convolve(inputs[0].clone(), inputs[1].clone(), stride, padding),
            move |inputs| portable::convolve(inputs[0].clone(), inputs[1].clone(), stride, padding),
        )
    });
    KernelCase {
        operations: Some(operations),
        ..case
    }
}

fn unit(shape: [usize; 2], pass: Pass) -> KernelCase {
    let entries = shape.iter().product();
    KernelCase::new("unit_rows", format!("{shape:?}"), pass, entries, move |pass, device| {
        Implementations::new(
            pass,
            vec![pass.input(normal(shape, device))],
            normal(shape, device),
            |inputs| unit_rows(inputs[0].clone()),
            |inputs| portable::unit_rows(inputs[0].clone()),
        )
    })
}
