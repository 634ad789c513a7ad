//! The GPU that the tests of this crate and of bcl-core run on.

use burn::tensor::Device;

/// The first device of `wgpu`, which every machine with a driver has, or of the only backend of this build.
pub(crate) fn gpu() -> Device {
    #[cfg(feature = "wgpu")]
    return Device::wgpu(burn::tensor::DeviceKind::DefaultDevice);
    #[cfg(all(not(feature = "wgpu"), feature = "cuda"))]
    return Device::cuda(0);
    #[cfg(all(not(any(feature = "wgpu", feature = "cuda")), feature = "metal"))]
    return Device::metal(burn::tensor::DeviceKind::DefaultDevice);
    #[cfg(all(not(any(feature = "wgpu", feature = "cuda", feature = "metal")), feature = "vulkan"))]
    Device::vulkan(burn::tensor::DeviceKind::DefaultDevice)
}
