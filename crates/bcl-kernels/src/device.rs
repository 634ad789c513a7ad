//! What is faster on which device.

use burn::backend::DispatchDevice;
use burn::tensor::Device;

/// Whether one large batch takes less time than several small ones: on GPUs, where each launch has a price of its own. On the CPU, small batches stay in its
/// caches.
pub fn large_batches_are_faster(device: &Device) -> bool {
    !is_processor(device)
}

/// Whether this is the CPU, for whose backend the kernels in `flex` are.
pub(crate) fn is_processor(device: &Device) -> bool {
    matches!(device.clone().without_autodiff().as_dispatch(), DispatchDevice::Flex(_))
}
