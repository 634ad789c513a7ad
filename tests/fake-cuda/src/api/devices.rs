//! Start, versions, errors, and what the devices are.

use super::{answer, call, pointers::Out};
use crate::{
    device,
    driver::{self, Driver},
    settings::Settings,
    status::{self, CuResult, Status},
};
use std::ffi::{c_char, c_int, c_uint};

/// Reads the environment and starts the driver.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuInit(flags: c_uint) -> CuResult {
    answer(|| {
        let mut driver = driver::lock();
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        if driver.is_none() {
            let settings = Settings::from_environment().map_err(|error| {
                eprintln!("fake CUDA: {error}");
                Status::InvalidValue
            })?;
            if settings.devices == 0 {
                return Err(Status::NoDevice);
            }
            *driver = Some(Driver::new(settings));
            // SAFETY: the handler is a function of this library, which `atexit` calls before the library is unloaded.
            unsafe { libc::atexit(write_log) };
        }
        Ok(())
    })
}

extern "C" fn write_log() {
    call("exit", |driver| {
        driver.write_log();
        Ok(())
    });
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDriverGetVersion(version: Out<c_int>) -> CuResult {
    answer(|| version.set(device::DRIVER_VERSION))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetErrorName(error: CuResult, name: Out<*const c_char>) -> CuResult {
    answer(|| {
        let (text, _) = status::texts(error).ok_or(Status::InvalidValue)?;
        name.set(text.as_ptr())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetErrorString(error: CuResult, text: Out<*const c_char>) -> CuResult {
    answer(|| {
        let (_, description) = status::texts(error).ok_or(Status::InvalidValue)?;
        text.set(description.as_ptr())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetCount(count: Out<c_int>) -> CuResult {
    call("cuDeviceGetCount", |driver| Ok(count.set(driver.settings.devices as c_int)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGet(device: Out<c_int>, ordinal: c_int) -> CuResult {
    call("cuDeviceGet", |driver| {
        index(driver, ordinal)?;
        Ok(device.set(ordinal)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetName(name: Out<c_char>, len: c_int, device: c_int) -> CuResult {
    call("cuDeviceGetName", |driver| {
        index(driver, device)?;
        Ok(name.set_text(device::NAME, len)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetPCIBusId(address: Out<c_char>, len: c_int, device: c_int) -> CuResult {
    call("cuDeviceGetPCIBusId", |driver| {
        Ok(address.set_text(&device::pci_address(index(driver, device)?), len)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetUuid(uuid: Out<[u8; 16]>, device: c_int) -> CuResult {
    call(
        "cuDeviceGetUuid",
        |driver| Ok(uuid.set(device::uuid(index(driver, device)?))?),
    )
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, device: c_int) -> CuResult {
    cuDeviceGetUuid(uuid, device)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_int, device: c_int) -> CuResult {
    call("cuDeviceGetAttribute", |driver| {
        let index = index(driver, device)?;
        Ok(value.set(device::attribute(index, attribute).ok_or(Status::InvalidValue)?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: c_int) -> CuResult {
    call("cuDeviceTotalMem_v2", |driver| {
        let (_, total) = driver.memory.info(index(driver, device)?);
        Ok(bytes.set(total as usize)?)
    })
}

/// The index of a device of the API.
pub(super) fn index(driver: &Driver, device: c_int) -> Result<usize, Status> {
    let index = usize::try_from(device).ok().filter(|index| *index < driver.settings.devices);
    index.ok_or(Status::InvalidDevice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::fixture::{Gpu, assert_refused},
        log::ProcessLog,
    };
    use std::{ffi::CStr, fs};

    #[test]
    fn each_device_has_a_name_an_address_and_attributes() {
        let _gpu = Gpu::with(Settings {
            devices: 2,
            ..Settings::default()
        });
        let (mut count, mut major, mut shared) = (0, 0, 0);
        assert_eq!(cuDeviceGetCount((&mut count).into()), 0);
        assert_eq!(cuDeviceGetAttribute((&mut major).into(), 75, 1), 0);
        assert_eq!(cuDeviceGetAttribute((&mut shared).into(), 97, 1), 0);
        assert_eq!((count, major, shared), (2, 9, 232_448));
        let mut address = [0; 32];
        assert_eq!(cuDeviceGetPCIBusId((&mut address[0]).into(), 32, 1), 0);
        let address = address.map(|c| c as u8);
        assert_eq!(CStr::from_bytes_until_nul(&address), Ok(c"0000:02:00.0"));
        let mut device = 7;
        assert_eq!(cuDeviceGet((&mut device).into(), 2), Status::InvalidDevice as CuResult);
        assert_eq!(cuDeviceGet((&mut device).into(), -1), Status::InvalidDevice as CuResult);
    }

    #[test]
    fn a_name_that_is_too_long_is_cut() {
        let _gpu = Gpu::new();
        let mut name = [b'x' as c_char; 8];
        assert_eq!(cuDeviceGetName((&mut name[0]).into(), 5, 0), 0);
        assert_eq!(name.map(|c| c as u8), *b"Fake\0xxx");
        assert_eq!(cuDeviceGetName((&mut name[0]).into(), 0, 0), Status::InvalidValue as CuResult);
    }

    #[test]
    fn the_log_is_one_line_with_everything_that_was_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.jsonl");
        fs::write(&path, "of another process\n").expect("writable");
        let gpu = Gpu::with(Settings {
            log: Some(path.clone()),
            ..Settings::default()
        });
        let (add, addresses) = (gpu.kernel(c"add"), [gpu.allocate(64), 0]);
        assert_eq!(gpu.add(add, 0, addresses), 0);
        assert_refused(
            gpu.launch(add, 0, [[0; 3], [1; 3]], 0, addresses),
            Status::InvalidValue,
            "blocks",
        );
        let log = gpu.log();
        let text = fs::read_to_string(&path).expect("it was written");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (2, "of another process"));
        assert_eq!(serde_json::from_str::<ProcessLog>(lines[1]).expect("JSON"), log);
        assert_eq!((log.pid, log.launches, log.refused.len()), (std::process::id(), 1, 1));
        assert!(log.program.starts_with("fake_cuda-"), "{}", log.program);
    }

    #[test]
    fn errors_have_names() {
        let mut name = std::ptr::null::<c_char>();
        assert_eq!(cuGetErrorName(700, (&mut name).into()), 0);
        // SAFETY: the driver's own text.
        assert_eq!(unsafe { CStr::from_ptr(name) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(cuGetErrorString(54_321, (&mut name).into()), Status::InvalidValue as CuResult);
    }
}
