//! The chain of structures by which the loader tells a layer what comes next.

use super::GetProc;
use std::ffi::{c_int, c_void};

/// `VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO` and `…DEVICE_CREATE_INFO`.
pub(super) const LOADER_INSTANCE: c_int = 47;
pub(super) const LOADER_DEVICE: c_int = 48;

/// `VK_LAYER_LINK_INFO`: the structure holds the layers below, not callbacks of the loader.
const LINK_INFO: c_int = 0;

/// The head that all structures of Vulkan share.
#[repr(C)]
struct Head {
    s_type: c_int,
    next: *const Head,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`.
#[repr(C)]
struct LayerInfo<L> {
    head: Head,
    function: c_int,
    link: *mut L,
}

/// `VkLayerInstanceLink`.
#[repr(C)]
pub(super) struct InstanceLink {
    pub(super) next: *mut InstanceLink,
    pub(super) procs: GetProc,
    physical_device_procs: Option<GetProc>,
}

/// `VkLayerDeviceLink`.
#[repr(C)]
pub(super) struct DeviceLink {
    pub(super) next: *mut DeviceLink,
    pub(super) instance_procs: GetProc,
    pub(super) device_procs: GetProc,
}

/// Where the chain of a create-info holds the link of this layer.
///
/// # Safety
/// `info` is a create-info from the loader, and `L` is the link of its kind.
pub(super) unsafe fn link<L>(info: *const c_void, s_type: c_int) -> Option<*mut *mut L> {
    let mut at = info.cast::<Head>();
    // SAFETY: each structure of the chain begins with a head, and the last one ends with null.
    unsafe {
        while !at.is_null() {
            let layer = at.cast_mut().cast::<LayerInfo<L>>();
            if (*at).s_type == s_type && (*layer).function == LINK_INFO {
                return Some(&raw mut (*layer).link);
            }
            at = (*at).next;
        }
    }
    None
}
