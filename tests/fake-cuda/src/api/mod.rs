//! The functions that programs call, with names, arguments and error codes of the CUDA driver API: those that `cubecl-cuda` calls, and their nearest
//! relatives.
//!
//! None of them panics: a panic inside becomes `CUDA_ERROR_UNKNOWN`.

#![expect(clippy::too_many_arguments, reason = "the API's arguments")]

mod contexts;
mod copies;
mod devices;
mod events;
mod graphs;
mod launches;
mod memory;
mod modules;
mod pointers;
mod streams;
mod tensor_maps;

#[cfg(test)]
mod fixture;

use crate::{
    driver::{self, Driver},
    status::{Answer, CuResult, Failure, Status},
    stream::{Caller, CaptureMode},
};
use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
};

thread_local! {
    /// The current context of this thread, or 0.
    static CONTEXT: Cell<u64> = const { Cell::new(0) };
    /// How far captures of other threads limit this one.
    static MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// The thread that calls.
fn caller() -> Caller {
    Caller::new(MODE.get())
}

/// Answers a call that needs no driver.
fn answer(body: impl FnOnce() -> Result<(), Status>) -> CuResult {
    match panic::catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status as CuResult,
        Err(_) => Status::Unknown as CuResult,
    }
}

/// Answers a call of the function `name`, and reports what a GPU would refuse.
fn call(name: &str, body: impl FnOnce(&mut Driver) -> Answer) -> CuResult {
    answer(|| {
        let mut driver = driver::lock();
        let driver = driver.as_mut().ok_or(Status::NotInitialized)?;
        body(driver).map_err(|failure| match failure {
            Failure::Expected(status) => status,
            Failure::Refused(refusal) => {
                let status = refusal.status;
                driver.report(name, refusal);
                status
            }
        })
    })
}

/// Answers a call that needs a current context, with its device.
fn call_here(name: &str, body: impl FnOnce(&mut Driver, usize) -> Answer) -> CuResult {
    call(name, |driver| {
        let device = contexts::device_of(CONTEXT.get()).ok_or(Status::InvalidContext)?;
        driver.check_device(device)?;
        body(driver, device)
    })
}

/// Answers a call for a stream, after a check of its device.
fn call_on(name: &str, stream: u64, body: impl FnOnce(&mut Driver, usize) -> Answer) -> CuResult {
    call(name, |driver| {
        let device = driver.streams.device(stream, contexts::device_of(CONTEXT.get()))?;
        driver.check_device(device)?;
        body(driver, device)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_code() {
        let gpu = fixture::Gpu::new();
        assert_eq!(
            call("cuCrash", |_| panic!("a panic that this test causes")),
            Status::Unknown as CuResult
        );
        assert_eq!(answer(|| panic!("another one")), Status::Unknown as CuResult);
        assert!(gpu.allocate(16) > 0);
    }
}
