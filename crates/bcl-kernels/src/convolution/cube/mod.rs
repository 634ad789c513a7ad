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
use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubek::convolution::AcceleratedTileKind;

use super::{ConvolutionOps, portable, rounding::is_tf32_allowed};

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

use rule::CHANNELS_PER_LOAD;

pub use algorithm::{Algorithm, Block, Convolution, Implicit, Loading, Pass, Pipeline, Product, Tiles};
pub use passes::{data, forward, weight};

/// Why an algorithm cannot compute a convolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

/// The algorithm that [`convolve`](crate::convolve) uses on this device.
pub fn chosen(pass: Pass, input: &CubeTensor, weight: &CubeTensor, stride: usize, padding: usize) -> Algorithm {
    let sizes = passes::geometry(input, weight, stride, padding);
    let empty = sizes.batch_size * sizes.channels_in * sizes.channels_out == 0;
    let Some(element) = tiling::element(input.dtype)
        .ok()
        .filter(|_| input.dtype == weight.dtype && !empty)
    else {
        return Algorithm::Portable;
    };
    if input.dtype == DType::F32 && is_tf32_allowed() && instruction::has_tf32(&input.client) {
        return rule::with_tf32(pass, &sizes);
    }
    if instruction::instruction(&input.client, AcceleratedTileKind::Mma, element).is_none() {
        return rule::without_tensor_cores(&sizes);
    }
    let pipelines = pipeline::check(&input.client, element, &sizes).is_ok();
    rule::choose(pass, input.dtype, &sizes, pipelines)
}

/// The product of two matrices in half precision on tensor cores; `None` where there are none, or a side is no whole number of loads. Without a choice of ours, Burn gives the small matrices of a
/// projection head to one workgroup.
pub(crate) fn half_product(left: &CubeTensor, right: &CubeTensor) -> Option<CubeTensor> {
    let half = matches!(left.dtype, DType::BF16 | DType::F16) && left.dtype == right.dtype;
    let element = tiling::element(left.dtype).ok().filter(|_| half)?;
    instruction::instruction(&left.client, AcceleratedTileKind::Mma, element)?;
    let sides = left.meta.shape().iter().chain(right.meta.shape().iter());
    if sides.into_iter().any(|side| side % CHANNELS_PER_LOAD != 0) {
        return None;
    }
    product::product(left.clone(), right.clone(), left.dtype, rule::PRODUCT).ok()
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
