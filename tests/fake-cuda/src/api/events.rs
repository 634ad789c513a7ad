//! Events.

use super::{call, call_here, call_on, caller, pointers::Out};
use crate::{
    driver::Driver,
    status::{Answer, CuResult},
};
use std::ffi::c_uint;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventCreate(event: Out<u64>, _flags: c_uint) -> CuResult {
    call_here("cuEventCreate", |driver, device| {
        let handle = driver.new_handle();
        driver.streams.create_event(handle, device);
        Ok(event.set(handle)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventDestroy_v2(event: u64) -> CuResult {
    call("cuEventDestroy_v2", |driver| Ok(driver.streams.destroy_event(event)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventRecord(event: u64, stream: u64) -> CuResult {
    call_on("cuEventRecord", stream, |driver, _| driver.streams.record(event, stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventSynchronize(event: u64) -> CuResult {
    call_of("cuEventSynchronize", event, |driver| {
        driver.streams.check_event(event, caller(), "waits for an event")?;
        driver.log.waits += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventQuery(event: u64) -> CuResult {
    call_of("cuEventQuery", event, |driver| {
        driver
            .streams
            .check_event(event, caller(), "asks whether an event was reached")
    })
}

/// Answers a call for an event, after a check of its device. It needs no current context.
fn call_of(name: &str, event: u64, body: impl FnOnce(&mut Driver) -> Answer) -> CuResult {
    call(name, |driver| {
        driver.check_device(driver.streams.device_of_event(event)?)?;
        body(driver)
    })
}

/// The time of the host between two records, as nothing is computed.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64) -> CuResult {
    call_of("cuEventElapsedTime", start, |driver| {
        Ok(milliseconds.set(driver.streams.elapsed(start, end)?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: u64, end: u64) -> CuResult {
    cuEventElapsedTime(milliseconds, start, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{api::fixture::Gpu, status::Status};

    #[test]
    fn the_time_between_two_events_is_that_of_the_host() {
        let gpu = Gpu::new();
        let (stream, start, end) = (gpu.stream(), gpu.event(), gpu.event());
        let mut milliseconds = -1.0;
        assert_eq!(cuEventRecord(start, stream), 0);
        let unrecorded = cuEventElapsedTime((&mut milliseconds).into(), start, end);
        assert_eq!(unrecorded, Status::InvalidHandle as CuResult);
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(cuEventRecord(end, stream), 0);
        assert_eq!(cuEventElapsedTime_v2((&mut milliseconds).into(), start, end), 0);
        assert!((2.0..60_000.0).contains(&milliseconds), "{milliseconds}");
        assert_eq!(
            (cuEventDestroy_v2(end), cuEventQuery(end)),
            (0, Status::InvalidHandle as CuResult)
        );
    }
}
