//! Modules, their kernels, and attributes of kernels.

use super::{
    call, call_here, caller,
    pointers::{In, Out},
};
use crate::{
    device,
    status::{CuResult, Refusal, Status},
};
use std::ffi::{c_char, c_int};

/// Attributes of kernels: `CUfunction_attribute`.
const MAX_THREADS_PER_BLOCK: c_int = 0;
const SHARED_SIZE_BYTES: c_int = 1;
const PTX_VERSION: c_int = 5;
const BINARY_VERSION: c_int = 6;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
const ATTRIBUTES: std::ops::Range<c_int> = 0..16;

/// Loads PTX. A real driver also loads compiled modules.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleLoadData(module: Out<u64>, image: In<c_char>) -> CuResult {
    call_here("cuModuleLoadData", |driver, device| {
        driver.streams.refuse_unsafe(caller(), "loads a module")?;
        let first = image.at(0)? as u8;
        if !first.is_ascii_graphic() && !first.is_ascii_whitespace() {
            return Err(Refusal::new(Status::InvalidImage, "the module is not PTX").into());
        }
        let text = image.text()?;
        let handle = driver.new_handle();
        driver.log.modules += 1;
        driver.keep_ptx(&text);
        driver.kernels.load(handle, device, &text)?;
        Ok(module.set(handle)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleUnload(module: u64) -> CuResult {
    call_here("cuModuleUnload", |driver, _| Ok(driver.kernels.unload(module)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleGetFunction(kernel: Out<u64>, module: u64, name: In<c_char>) -> CuResult {
    call_here("cuModuleGetFunction", |driver, _| {
        let new = driver.new_handle();
        Ok(kernel.set(driver.kernels.kernel(module, &name.text()?, new)?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncSetAttribute(kernel: u64, attribute: c_int, value: c_int) -> CuResult {
    call("cuFuncSetAttribute", |driver| {
        let kernel = driver.kernels.get_mut(kernel)?;
        match attribute {
            MAX_DYNAMIC_SHARED_SIZE_BYTES => Ok(kernel.allow_dynamic_shared(value)?),
            attribute if ATTRIBUTES.contains(&attribute) => Ok(()),
            _ => Err(Status::InvalidValue.into()),
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncGetAttribute(value: Out<c_int>, attribute: c_int, kernel: u64) -> CuResult {
    call("cuFuncGetAttribute", |driver| {
        let kernel = driver.kernels.get(kernel)?;
        let known = match attribute {
            MAX_THREADS_PER_BLOCK => kernel.max_threads() as c_int,
            SHARED_SIZE_BYTES => kernel.entry.static_shared as c_int,
            PTX_VERSION | BINARY_VERSION => device::COMPUTE_CAPABILITY.0 * 10 + device::COMPUTE_CAPABILITY.1,
            MAX_DYNAMIC_SHARED_SIZE_BYTES => kernel.max_dynamic_shared as c_int,
            attribute if ATTRIBUTES.contains(&attribute) => 0,
            _ => return Err(Status::InvalidValue.into()),
        };
        Ok(value.set(known)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Out<c_int>,
    kernel: u64,
    threads: c_int,
    dynamic_shared: usize,
) -> CuResult {
    call("cuOccupancyMaxActiveBlocksPerMultiprocessor", |driver| {
        let shared = dynamic_shared as u64 + u64::from(driver.kernels.get(kernel)?.entry.static_shared);
        Ok(blocks.set(device::resident_blocks(threads, shared))?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::fixture::{Gpu, IntoIn, assert_refused},
        settings::Settings,
    };
    use std::{ffi::CStr, fs};

    fn load(image: &CStr) -> (CuResult, u64) {
        let mut module = 0;
        let result = cuModuleLoadData((&mut module).into(), image.as_ptr().into_in());
        (result, module)
    }

    #[test]
    fn what_the_driver_cannot_compile_is_refused() {
        let _gpu = Gpu::new();
        assert_refused(load(c"\x7fELF").0, Status::InvalidImage, "not PTX");
        assert_refused(load(c"int main").0, Status::InvalidPtx, "no .version");
        assert_refused(load(c".version 9.1\n.target sm_90").0, Status::UnsupportedPtxVersion, "newer");
        assert_refused(load(c".version 8.7\n.target sm_100a").0, Status::NoBinaryForGpu, "sm_100a");
    }

    #[test]
    fn kernels_are_found_by_name_until_their_module_is_unloaded() {
        let _gpu = Gpu::new();
        let (result, module) = load(c".version 9.0\n.target sm_90a\n.visible .entry one()\n{ ret; }");
        let mut kernel = [0; 2];
        assert_eq!(result, 0);
        for place in &mut kernel {
            assert_eq!(cuModuleGetFunction(place.into(), module, c"one".as_ptr().into_in()), 0);
        }
        assert_eq!(kernel[0], kernel[1]);
        let missing = cuModuleGetFunction((&mut kernel[0]).into(), module, c"two".as_ptr().into_in());
        assert_eq!(missing, Status::NotFound as CuResult);
        assert_eq!(
            (cuModuleUnload(module), cuModuleUnload(module)),
            (0, Status::InvalidHandle as CuResult)
        );
        assert_eq!(cuFuncSetAttribute(kernel[0], 8, 0), Status::InvalidHandle as CuResult);
    }

    #[test]
    fn attributes_of_a_kernel_are_those_of_its_ptx() {
        let gpu = Gpu::new();
        let kernel = gpu.kernel(c"wide");
        let value_of = |attribute| {
            let mut value = -1;
            assert_eq!(cuFuncGetAttribute((&mut value).into(), attribute, kernel), 0);
            value
        };
        assert_eq!([0, 1, 6, 8].map(value_of), [64, 1024, 90, (48 << 10) - 1024]);
        assert_eq!((cuFuncSetAttribute(kernel, 8, 226 << 10), value_of(8)), (0, 226 << 10));
        assert_refused(
            cuFuncSetAttribute(kernel, 8, 227 << 10),
            Status::InvalidValue,
            "the device has 231424",
        );
        let mut blocks = 0;
        assert_eq!(
            cuOccupancyMaxActiveBlocksPerMultiprocessor((&mut blocks).into(), kernel, 64, 0),
            0
        );
        assert_eq!(blocks, 32);
    }

    #[test]
    fn the_ptx_of_modules_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let gpu = Gpu::with(Settings {
            ptx: Some(folder.path().join("ptx")),
            ..Settings::default()
        });
        gpu.kernel(c"add");
        let name = format!("{}-00001.ptx", std::process::id());
        let text = fs::read_to_string(folder.path().join("ptx").join(name)).expect("it was kept");
        assert!(text.contains(".visible .entry add("), "{text}");
        assert_eq!(gpu.log().modules, 1);
    }
}
