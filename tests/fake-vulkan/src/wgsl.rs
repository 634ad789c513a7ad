//! The layer below which programs write WGSL for software drivers: it hides the memory model that their own SPIR-V needs.

use super::{
    Function, Interface, NEXT_OF_DEVICES, NEXT_OF_INSTANCES, SUCCESS, create_device, create_instance, erased, negotiate, next,
};
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// `VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES`.
const MEMORY_MODEL_FEATURES: c_int = 1_000_211_000;

/// `VK_PHYSICAL_DEVICE_TYPE_CPU`.
const CPU: u32 = 4;

/// The next layers' functions. They are looked up while an instance is created: once it exists, the loader's look-up begins with the first layer again.
static FEATURES: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static PROPERTIES: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// `VkPhysicalDeviceProperties`, of 824 bytes, of which this layer reads the first few.
#[repr(C)]
struct Properties {
    api_version: u32,
    driver_version: u32,
    vendor: u32,
    device: u32,
    kind: u32,
    rest: [u64; 128],
}

/// `VkPhysicalDeviceFeatures2` up to its features, and the head of what its chain holds.
#[repr(C)]
struct Head {
    s_type: c_int,
    next: *mut Head,
}

/// `VkPhysicalDeviceVulkanMemoryModelFeatures`.
#[repr(C)]
struct MemoryModel {
    head: Head,
    supported: u32,
    device_scope: u32,
    availability_visibility_chains: u32,
}

/// The loader's first call of [`Layer::Wgsl`](super::Layer::Wgsl), which its manifest names.
///
/// # Safety
/// `interface` is the loader's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn bcl_negotiate_wgsl(interface: *mut Interface) -> c_int {
    // SAFETY: as it came.
    unsafe { negotiate(interface, instance_proc, device_proc) }
}

unsafe extern "C" fn instance_proc(instance: *mut c_void, name: *const c_char) -> Function {
    // SAFETY: names are strings that end with 0.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkGetInstanceProcAddr" => erased(instance_proc as *const ()),
        b"vkCreateInstance" => erased(create_instance_and_look_up as *const ()),
        b"vkCreateDevice" => erased(create_device as *const ()),
        b"vkGetDeviceProcAddr" => erased(device_proc as *const ()),
        b"vkGetPhysicalDeviceFeatures2" | b"vkGetPhysicalDeviceFeatures2KHR" => erased(features as *const ()),
        // SAFETY: as it came.
        _ => unsafe { next(&NEXT_OF_INSTANCES, instance, name) },
    }
}

unsafe extern "C" fn device_proc(device: *mut c_void, name: *const c_char) -> Function {
    // SAFETY: names are strings that end with 0.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkGetDeviceProcAddr" => erased(device_proc as *const ()),
        // SAFETY: as it came.
        _ => unsafe { next(&NEXT_OF_DEVICES, device, name) },
    }
}

unsafe extern "C" fn create_instance_and_look_up(
    info: *const c_void,
    allocator: *const c_void,
    instance: *mut *mut c_void,
) -> c_int {
    // SAFETY: as it came; on success the instance is written, and what is looked up has the type that its name says.
    unsafe {
        let result = create_instance(info, allocator, instance);
        if result == SUCCESS {
            for (function, name) in [
                (&FEATURES, c"vkGetPhysicalDeviceFeatures2"),
                (&PROPERTIES, c"vkGetPhysicalDeviceProperties"),
            ] {
                let found = next(&NEXT_OF_INSTANCES, *instance, name.as_ptr());
                function.store(found.map_or(ptr::null_mut(), |found| found as *mut c_void), Ordering::Release);
            }
        }
        result
    }
}

unsafe extern "C" fn features(device: *mut c_void, features: *mut Head) {
    let next = FEATURES.load(Ordering::Acquire);
    if next.is_null() {
        return;
    }
    // SAFETY: the structures are the caller's, each begins with a head, and the last one ends with null.
    unsafe {
        mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *mut Head)>(next)(device, features);
        if !is_cpu(device) {
            return;
        }
        let mut at = features;
        while !at.is_null() {
            if (*at).s_type == MEMORY_MODEL_FEATURES {
                (*at.cast::<MemoryModel>()).supported = 0;
            }
            at = (*at).next;
        }
    }
}

unsafe fn is_cpu(device: *mut c_void) -> bool {
    let next = PROPERTIES.load(Ordering::Acquire);
    let mut properties = Properties {
        api_version: 0,
        driver_version: 0,
        vendor: 0,
        device: 0,
        kind: 0,
        rest: [0; 128],
    };
    if !next.is_null() {
        // SAFETY: there is room for all properties.
        unsafe {
            mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *mut Properties)>(next)(device, &raw mut properties);
        };
    }
    properties.kind == CPU
}
