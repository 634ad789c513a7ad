//! Convolution on GPUs: on tensor cores where the device has them for the type, and channels last.
//!
//! Results are NCHW views of NHWC memory. The next layer then reads them as they are.

// The kernel language has neither inclusive ranges nor these methods of integers, and declares element types by arguments with an underscore.
#![allow(
    clippy::collapsible_if,
    clippy::manual_is_multiple_of,
    clippy::manual_midpoint,
    clippy::range_plus_one,
    clippy::too_many_arguments,
    clippy::too_many_lines,
    clippy::used_underscore_binding
)]

use burn::backend::Cube;
use burn::backend::tensor::FloatTensor;
use burn_cubecl::tensor::CubeTensor;
use cubek::convolution::AcceleratedTileKind;

use super::{ConvolutionOps, portable};

mod algorithm;
mod columns;
mod frame;
mod implicit;
mod instruction;
mod layout;
mod passes;
mod pipeline;
mod pipelined;
mod pipelined_weight;
mod product;
mod rule;
mod tiling;
mod weights;

pub use algorithm::{Algorithm, Block, Convolution, Implicit, Loading, Pass, Pipeline, Product, Tiles};
pub use passes::{data, forward, weight};

/// Why an algorithm cannot compute a convolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

/// The algorithm that [`convolve`](crate::convolve) uses on this device.
pub fn chosen(pass: Pass, input: &CubeTensor, weight: &CubeTensor, stride: usize, padding: usize) -> Algorithm {
    let element = tiling::element(input.dtype)
        .ok()
        .filter(|element| instruction::instruction(&input.client, AcceleratedTileKind::Mma, *element).is_some());
    let Some(element) = element.filter(|_| input.dtype == weight.dtype) else {
        return Algorithm::Portable;
    };
    let sizes = passes::geometry(input, weight, stride, padding);
    let empty = sizes.batch_size * sizes.channels_in * sizes.channels_out == 0;
    if empty {
        Algorithm::Portable
    } else {
        let pipelines = pipeline::check(&input.client, element, &sizes).is_ok();
        rule::choose(pass, input.dtype, &sizes, pipelines)
    }
}

impl ConvolutionOps for Cube {
    fn convolve(input: FloatTensor<Self>, kernels: FloatTensor<Self>, stride: usize, padding: usize) -> FloatTensor<Self> {
        let algorithm = chosen(Pass::Forward, &input, &kernels, stride, padding);
        forward(input.clone(), kernels.clone(), stride, padding, algorithm)
            .unwrap_or_else(|_| portable::convolve::<Self>(input, kernels, stride, padding))
    }

    fn convolve_input_backward(
        input: FloatTensor<Self>,
        kernels: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        stride: usize,
        padding: usize,
    ) -> FloatTensor<Self> {
        let algorithm = chosen(Pass::Data, &input, &kernels, stride, padding);
        data(input.clone(), kernels.clone(), grad.clone(), stride, padding, algorithm)
            .unwrap_or_else(|_| portable::convolve_input_backward::<Self>(input, kernels, grad, stride, padding))
    }

    fn convolve_weight_backward(
        input: FloatTensor<Self>,
        kernels: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        stride: usize,
        padding: usize,
    ) -> FloatTensor<Self> {
        let algorithm = chosen(Pass::Weight, &input, &kernels, stride, padding);
        weight(input.clone(), kernels.clone(), grad.clone(), stride, padding, algorithm)
            .unwrap_or_else(|_| portable::convolve_weight_backward::<Self>(input, kernels, grad, stride, padding))
    }
}
