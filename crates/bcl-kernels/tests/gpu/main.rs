//! The GPU kernels against the CPU kernels. Mesa's software driver is enough.
#![cfg(feature = "cube")]

mod adam;
mod average;
#[path = "../kernels/common.rs"]
#[allow(dead_code, reason = "the GPU tests use only some of it")]
mod common;
mod contrast;
mod convolution;
mod device;
mod logarithm;
mod mass;
mod norm;
mod ranks;
mod sampled;
mod sparse;
mod step_graph;
mod together;

use burn::tensor::{Device, Tensor};
use device::gpu;

/// Copies a result to the CPU for comparison.
fn home(tensor: Tensor<2>) -> Tensor<2> {
    Tensor::from_data(tensor.into_data(), &Device::flex())
}
