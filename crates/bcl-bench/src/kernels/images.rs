//! Kernels of image encoders, at the four stages of a ResNet-18 of width 16 on images of 32 x 32 pixels.

use super::{
    case::{Case, Implementations, Pass},
    random::normal,
};
use bcl_kernels::{batch_norm_relu, convolve, portable};
use burn::tensor::Tensor;

/// Channels, and height and width, of each stage.
const STAGES: [[usize; 2]; 4] = [[16, 32], [32, 16], [64, 8], [128, 4]];

/// Images per batch.
const BATCH: usize = 128;

/// Added to the variance of batch normalisation, as in training.
const EPSILON: f64 = 1e-5;

pub(super) fn cases() -> Vec<Case> {
    STAGES
        .into_iter()
        .flat_map(|[channels, side]| {
            let shape = [BATCH, channels, side, side];
            let passes = [Pass::Forward, Pass::Gradients];
            let [normalised, convolved] = [normalised, convolved].map(|case| passes.map(|pass| case(shape, pass)));
            normalised.into_iter().chain(convolved)
        })
        .collect()
}

/// The gradients of weight and bias are computed together with that of the input.
fn normalised(shape: [usize; 4], pass: Pass) -> Case {
    let entries = shape.iter().product();
    Case::new("batch_norm_relu", format!("{shape:?}"), pass, entries, move |pass, device| {
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

fn convolved(shape: [usize; 4], pass: Pass) -> Case {
    let entries = 9 * shape.iter().product::<usize>();
    Case::new("convolve", format!("3 x 3, {shape:?}"), pass, entries, move |pass, device| {
        let kernels = [shape[1], shape[1], 3, 3];
        Implementations::new(
            pass,
            [shape, kernels].map(|shape| pass.input(normal(shape, device))).to_vec(),
            normal(shape, device),
            |inputs| convolve(inputs[0].clone(), inputs[1].clone(), 1, 1),
            |inputs| portable::convolve(inputs[0].clone(), inputs[1].clone(), 1, 1),
        )
    })
}
