//! Contexts: each device has one, its primary context.

use super::{CONTEXT, answer, call, call_here, devices, pointers::Out};
use crate::{
    device,
    status::{CuResult, Status},
};
use std::ffi::c_int;

/// Handles of contexts are multiples of this.
const STRIDE: u64 = 0x100;

/// The context of a device.
fn of_device(device: usize) -> u64 {
    (device as u64 + 1) * STRIDE
}

/// The device of a context.
pub(super) fn device_of(context: u64) -> Option<usize> {
    (context / STRIDE).checked_sub(1).map(|device| device as usize)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDevicePrimaryCtxRetain(context: Out<u64>, device: c_int) -> CuResult {
    call("cuDevicePrimaryCtxRetain", |driver| {
        Ok(context.set(of_device(devices::index(driver, device)?))?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> CuResult {
    call("cuDevicePrimaryCtxRelease_v2", |driver| {
        devices::index(driver, device)?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxSetCurrent(context: u64) -> CuResult {
    call("cuCtxSetCurrent", |driver| {
        let is_known = device_of(context).is_some_and(|device| device < driver.settings.devices);
        if context != 0 && !is_known {
            return Err(Status::InvalidContext.into());
        }
        CONTEXT.set(context);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetCurrent(context: Out<u64>) -> CuResult {
    answer(|| context.set(CONTEXT.get()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetDevice(device: Out<c_int>) -> CuResult {
    answer(|| device.set(device_of(CONTEXT.get()).ok_or(Status::InvalidContext)? as c_int))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxSynchronize() -> CuResult {
    call_here("cuCtxSynchronize", |driver, device| {
        driver.streams.refuse_device_wait(device)?;
        driver.log.waits += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) -> CuResult {
    call_here("cuCtxGetStreamPriorityRange", |_, _| {
        // Either may be null.
        for (place, value) in [(least, device::PRIORITIES.0), (greatest, device::PRIORITIES.1)] {
            if !place.is_null() {
                place.set(value)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::fixture::Gpu;

    #[test]
    fn a_thread_works_on_the_device_of_its_context() {
        let _gpu = Gpu::with(crate::settings::Settings {
            devices: 2,
            ..crate::settings::Settings::default()
        });
        let (mut context, mut current, mut device) = (0, 0, 7);
        assert_eq!(cuDevicePrimaryCtxRetain((&mut context).into(), 1), 0);
        assert_eq!(cuCtxSetCurrent(context), 0);
        assert_eq!(cuCtxGetCurrent((&mut current).into()), 0);
        assert_eq!(cuCtxGetDevice((&mut device).into()), 0);
        assert_eq!((current, device), (context, 1));
        let elsewhere = std::thread::spawn(|| cuCtxSynchronize()).join().expect("it ends");
        assert_eq!(elsewhere, Status::InvalidContext as CuResult);
        assert_eq!(cuCtxSetCurrent(0x5000), Status::InvalidContext as CuResult);
    }
}
