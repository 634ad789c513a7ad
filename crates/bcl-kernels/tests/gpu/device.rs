//! The GPU that the tests of this crate and of bcl-core run on.

use burn::tensor::Device;

/// The first device of the fastest backend of this build.
pub(crate) fn gpu() -> Device {
    #[cfg(feature = "cuda")]
    return Device::cuda(0);
    #[cfg(all(not(feature = "cuda"), feature = "metal"))]
    return Device::metal(burn::tensor::DeviceKind::DefaultDevice);
    #[cfg(all(not(any(feature = "cuda", feature = "metal")), feature = "vulkan"))]
    return Device::vulkan(burn::tensor::DeviceKind::DefaultDevice);
    #[cfg(not(any(feature = "cuda", feature = "metal", feature = "vulkan")))]
    Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)
}
