//! Which backends are compiled into this build, and the devices that each finds on this machine.

use crate::BackendChoice;
use burn::tensor::{Device, DeviceType};

/// The Burn device type of a backend, or `None` if the backend is not in this build. Only this function asks which cargo
/// features are enabled.
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

/// The backends of this build, fastest first.
///
/// ```
/// use bcl_backend::{BackendChoice, built};
///
/// assert_eq!(built().last(), Some(&BackendChoice::Flex));
/// ```
pub fn built() -> Vec<BackendChoice> {
    let known = BackendChoice::PREFERENCE.into_iter();
    known.filter(|&choice| device_type(choice).is_some()).collect()
}

/// The devices of a backend, real GPUs before software ones; empty if the backend is not in this build.
pub(crate) fn devices(choice: BackendChoice) -> Vec<Device> {
    // Enumerating opens no device, and a missing driver yields an empty list.
    let mut devices = device_type(choice).map_or_else(Vec::new, |kind| Device::enumerate(kind).into_vec());
    devices.sort_by_key(crate::device::kind);
    devices
}
