//! The kernels of GPUs against those of the CPU. Mesa's software driver will do.
#![cfg(feature = "cube")]

#[path = "../kernels/common.rs"]
#[allow(dead_code, reason = "what these tests have no use for")]
mod common;
mod logarithm;
mod mass;
mod ranks;
mod sampled;
mod sparse;

use burn::tensor::{Device, Tensor};

/// The GPU the tests run on.
fn gpu() -> Device {
    #[cfg(feature = "cuda")]
    return Device::cuda(0);
    #[cfg(all(not(feature = "cuda"), feature = "metal"))]
    return Device::metal(burn::tensor::DeviceKind::DefaultDevice);
    #[cfg(all(not(any(feature = "cuda", feature = "metal")), feature = "vulkan"))]
    return Device::vulkan(burn::tensor::DeviceKind::DefaultDevice);
    #[cfg(not(any(feature = "cuda", feature = "metal", feature = "vulkan")))]
    Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)
}

/// Results brought home to be compared.
fn home(tensor: Tensor<2>) -> Tensor<2> {
    Tensor::from_data(tensor.into_data(), &Device::flex())
}
