//! Which backends are in this build, and the devices that each finds here.

use crate::cli::BackendChoice;
use burn::tensor::{Device, DeviceType};

/// What Burn calls the devices of a backend; `None` where it is not in this build. Nothing else asks which features there are.
fn device_type(choice: BackendChoice) -> Option<DeviceType> {
    match choice {
        BackendChoice::Flex => Some(DeviceType::Flex),
        #[cfg(feature = "cuda")]
        BackendChoice::Cuda => Some(DeviceType::Cuda),
        #[cfg(feature = "metal")]
        BackendChoice::Metal => Some(DeviceType::Metal),
        #[cfg(feature = "vulkan")]
        BackendChoice::Vulkan => Some(DeviceType::Vulkan),
        #[cfg(feature = "wgpu")]
        BackendChoice::Wgpu => Some(DeviceType::Wgpu),
        _ => None,
    }
}

/// The backends of this build, the fastest first.
///
/// ```
/// use bcl_train::{backend::built, cli::BackendChoice};
///
/// assert_eq!(built().last(), Some(&BackendChoice::Flex));
/// ```
pub fn built() -> Vec<BackendChoice> {
    let known = BackendChoice::PREFERENCE.into_iter();
    known.filter(|&choice| device_type(choice).is_some()).collect()
}

/// The devices of a backend, GPUs before processors that pose as one; none where the backend is not in this build.
pub(super) fn devices(choice: BackendChoice) -> Vec<Device> {
    // Drivers are only asked what there is. That opens nothing, and one that is missing answers with nothing.
    let mut devices = device_type(choice).map_or_else(Vec::new, |kind| Device::enumerate(kind).into_vec());
    devices.sort_by_key(super::device_info::kind);
    devices
}
