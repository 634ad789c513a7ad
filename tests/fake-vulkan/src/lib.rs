//! Vulkan layers for machines whose only driver is a software driver. [`Layer`] has both.
//!
//! # Empty shaders
//!
//! Software drivers compute, but some die when they compile a shader of ours, and then nothing after it is seen. Below this layer every pipeline
//! is created and every dispatch runs at once: almost nothing is computed, and results are what memory held. Only shaders of a few hundred words, which
//! every driver compiles, reach it, because programs compute 1 + 1 on a device before they use it. Khronos's validation layer, *above* this
//! one, still sees each real module and checks it. So a program with the Vulkan backend runs from end to end on any driver, and what no driver
//! may accept shows up.
//!
//! Layers are named in the order from the program to the driver:
//!
//! ```text
//! VK_LAYER_PATH=FOLDER/OF/MANIFEST:/usr/share/vulkan/explicit_layer.d
//! VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation:VK_LAYER_BCL_empty_shaders
//! ```
//!
//! `FAKE_VULKAN_LOG=FILE` appends a line per module: the entry point and the number of words. [`Layer::manifest`] is the text of the manifest.
//!
//! # WGSL
//!
//! A program with the Vulkan backend writes SPIR-V for every driver that has the Vulkan memory model, also with `--backend wgpu`. Mesa's software driver
//! has it, but dies when it compiles some of this SPIR-V. Below this layer a CPU has no memory model, so a program writes WGSL for it, which works.
//! GPUs keep theirs.
#![cfg(unix)]
#![allow(non_snake_case, reason = "the names are Vulkan's")]
#![allow(unsafe_code, reason = "a layer is called through the C interface of the loader")]

mod chain;
mod empty;
mod wgsl;

pub use empty::empty_shader;

use chain::{DeviceLink, InstanceLink, link};
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    fs::File,
    io::Write,
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// What a layer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// No shader reaches the driver.
    EmptyShaders,
    /// Programs write WGSL for software drivers.
    Wgsl,
}

impl Layer {
    /// The name that `VK_INSTANCE_LAYERS` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::EmptyShaders => "VK_LAYER_BCL_empty_shaders",
            Self::Wgsl => "VK_LAYER_BCL_wgsl",
        }
    }

    /// The function of the library that the loader calls first.
    fn entry(self) -> &'static str {
        match self {
            Self::EmptyShaders => "bcl_negotiate_empty_shaders",
            Self::Wgsl => "bcl_negotiate_wgsl",
        }
    }

    /// The manifest by which the loader finds the layer in a library.
    pub fn manifest(self, library: &str) -> String {
        let (name, entry) = (self.name(), self.entry());
        format!(
            r#"{{"file_format_version": "1.2.0", "layer": {{"name": "{name}", "type": "GLOBAL", "library_path": "{library}", "api_version": "1.3.0",
    "implementation_version": "1", "description": "for tests of bcl", "functions": {{"vkNegotiateLoaderLayerInterfaceVersion": "{entry}"}}}}}}
"#
        )
    }
}

type Function = Option<unsafe extern "C" fn()>;
type GetProc = unsafe extern "C" fn(*mut c_void, *const c_char) -> Function;

const SUCCESS: c_int = 0;
const INITIALIZATION_FAILED: c_int = -3;

/// The words of the largest shader that the driver gets: a constant plus a tensor has 533.
const SMALL: usize = 600;

/// The next layers' look-ups. All instances and devices of a process have the same layers below them.
static NEXT_OF_INSTANCES: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static NEXT_OF_DEVICES: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// `VkNegotiateLayerInterface`.
#[repr(C)]
#[derive(Debug)]
pub struct Interface {
    s_type: c_int,
    next: *mut c_void,
    version: u32,
    instance_procs: Option<GetProc>,
    device_procs: Option<GetProc>,
    physical_device_procs: Option<GetProc>,
}

/// The loader's first call of [`Layer::EmptyShaders`], which its manifest names.
///
/// # Safety
/// `interface` is the loader's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcl_negotiate_empty_shaders(interface: *mut Interface) -> c_int {
    // SAFETY: as it came.
    unsafe { negotiate(interface, instance_proc, device_proc) }
}

/// Tells the loader which look-ups a layer has.
unsafe fn negotiate(interface: *mut Interface, instance_procs: GetProc, device_procs: GetProc) -> c_int {
    // SAFETY: the loader passes a valid structure.
    let Some(interface) = (unsafe { interface.as_mut() }) else {
        return INITIALIZATION_FAILED;
    };
    interface.version = 2;
    interface.instance_procs = Some(instance_procs);
    interface.device_procs = Some(device_procs);
    interface.physical_device_procs = None;
    SUCCESS
}

fn erased(function: *const ()) -> Function {
    // SAFETY: Vulkan's callers cast a function to its true type before they call it.
    unsafe { mem::transmute::<*const (), Function>(function) }
}

/// Looks a function up in the next layer.
unsafe fn next(of: &AtomicPtr<c_void>, handle: *mut c_void, name: *const c_char) -> Function {
    let procs = of.load(Ordering::Acquire);
    if procs.is_null() {
        return None;
    }
    // SAFETY: only `GetProc`s are stored, and handle and name are the caller's.
    unsafe { mem::transmute::<*mut c_void, GetProc>(procs)(handle, name) }
}

unsafe extern "C" fn instance_proc(instance: *mut c_void, name: *const c_char) -> Function {
    // SAFETY: names are strings that end with 0.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkGetInstanceProcAddr" => erased(instance_proc as *const ()),
        b"vkCreateInstance" => erased(create_instance as *const ()),
        b"vkCreateDevice" => erased(create_device as *const ()),
        b"vkGetDeviceProcAddr" => erased(device_proc as *const ()),
        b"vkCreateShaderModule" => erased(create_shader_module as *const ()),
        // SAFETY: as it came.
        _ => unsafe { next(&NEXT_OF_INSTANCES, instance, name) },
    }
}

unsafe extern "C" fn device_proc(device: *mut c_void, name: *const c_char) -> Function {
    // SAFETY: names are strings that end with 0.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkGetDeviceProcAddr" => erased(device_proc as *const ()),
        b"vkCreateShaderModule" => erased(create_shader_module as *const ()),
        // SAFETY: as it came.
        _ => unsafe { next(&NEXT_OF_DEVICES, device, name) },
    }
}

unsafe extern "C" fn create_instance(info: *const c_void, allocator: *const c_void, instance: *mut *mut c_void) -> c_int {
    // SAFETY: the loader's chain has a link for each layer, which the layer advances.
    unsafe {
        let Some(link) = link::<InstanceLink>(info, chain::LOADER_INSTANCE) else {
            return INITIALIZATION_FAILED;
        };
        let procs = (**link).procs;
        *link = (**link).next;
        NEXT_OF_INSTANCES.store(procs as *mut c_void, Ordering::Release);
        let Some(create) = procs(ptr::null_mut(), c"vkCreateInstance".as_ptr()) else {
            return INITIALIZATION_FAILED;
        };
        let create: unsafe extern "C" fn(*const c_void, *const c_void, *mut *mut c_void) -> c_int = mem::transmute(create);
        create(info, allocator, instance)
    }
}

unsafe extern "C" fn create_device(
    physical: *mut c_void,
    info: *const c_void,
    allocator: *const c_void,
    device: *mut *mut c_void,
) -> c_int {
    // SAFETY: as for instances.
    unsafe {
        let Some(link) = link::<DeviceLink>(info, chain::LOADER_DEVICE) else {
            return INITIALIZATION_FAILED;
        };
        let (instance_procs, device_procs) = ((**link).instance_procs, (**link).device_procs);
        *link = (**link).next;
        NEXT_OF_DEVICES.store(device_procs as *mut c_void, Ordering::Release);
        let Some(create) = instance_procs(ptr::null_mut(), c"vkCreateDevice".as_ptr()) else {
            return INITIALIZATION_FAILED;
        };
        let create: unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *mut *mut c_void) -> c_int =
            mem::transmute(create);
        create(physical, info, allocator, device)
    }
}

/// `VkShaderModuleCreateInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
struct ShaderModuleInfo {
    s_type: c_int,
    next: *const c_void,
    flags: u32,
    num_bytes: usize,
    code: *const u32,
}

unsafe extern "C" fn create_shader_module(
    device: *mut c_void,
    info: *const ShaderModuleInfo,
    allocator: *const c_void,
    module: *mut u64,
) -> c_int {
    // SAFETY: the caller's structure describes its code.
    unsafe {
        let Some(create) = next(&NEXT_OF_DEVICES, device, c"vkCreateShaderModule".as_ptr()) else {
            return INITIALIZATION_FAILED;
        };
        let create: unsafe extern "C" fn(*mut c_void, *const ShaderModuleInfo, *const c_void, *mut u64) -> c_int =
            mem::transmute(create);
        let code = std::slice::from_raw_parts((*info).code, (*info).num_bytes / 4);
        let Some((name, empty)) = empty_shader(code) else {
            return create(device, info, allocator, module);
        };
        log(&name, code.len());
        if code.len() <= SMALL {
            return create(device, info, allocator, module);
        }
        let replaced = ShaderModuleInfo {
            num_bytes: 4 * empty.len(),
            code: empty.as_ptr(),
            ..*info
        };
        create(device, &raw const replaced, allocator, module)
    }
}

/// Appends a line in one call, so that lines of several threads and processes do not mix.
fn log(name: &str, words: usize) {
    let Some(path) = std::env::var_os("FAKE_VULKAN_LOG") else {
        return;
    };
    if let Ok(mut file) = File::options().create(true).append(true).open(path) {
        let _ = file.write_all(format!("{name} {words}\n").as_bytes());
    }
}
