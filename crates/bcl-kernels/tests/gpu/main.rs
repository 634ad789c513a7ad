//! The kernels of GPUs against those of the CPU. Mesa's software driver will do.
#![cfg(feature = "cube")]

#[path = "../kernels/common.rs"]
#[allow(dead_code, reason = "what these tests have no use for")]
mod common;
mod device;
mod logarithm;
mod mass;
mod ranks;
mod sampled;
mod sparse;

use burn::tensor::{Device, Tensor};
use device::gpu;

/// Results brought home to be compared.
fn home(tensor: Tensor<2>) -> Tensor<2> {
    Tensor::from_data(tensor.into_data(), &Device::flex())
}
