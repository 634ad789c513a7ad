//! Devices for tests of the functions, and a module with two kernels.

#![expect(clippy::unused_self, reason = "only a test that has the driver to itself may use it")]

use super::{contexts, events, launches, memory, modules, streams};
use crate::{
    driver::{self, Driver},
    log::{ProcessLog, RefusedCall},
    settings::Settings,
    status::{CuResult, Status},
};
use std::{
    ffi::CStr,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The driver of a process, which tests have to themselves one after the other.
pub(crate) struct Gpu(#[expect(dead_code, reason = "held until the test ends")] MutexGuard<'static, ()>);

/// Two kernels: `add` takes a pointer to read from, one to write to and a number, and `wide` a pointer, in clusters of two blocks of at most 64 threads.
const MODULE: &CStr = c"
.version 9.0
.target sm_90a
.visible .entry add(.param .u64 add_0, .param .u64 add_1, .param .u32 add_2)
{
    ld.param.u64 %rd1, [add_0];
    ld.param.u64 %rd2, [add_1];
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    ld.global.f32 %f1, [%rd3];
    st.global.f32 [%rd4], %f1;
    ret;
}
.visible .entry wide(.param .u64 .ptr .global wide_0)
.maxntid 64, 1, 1
.explicitcluster
.reqnctapercluster 2, 1, 1
{
    .shared .align 4 .b8 tile[1024];
    ret;
}
";

impl Gpu {
    /// One device with the default settings, whose context is current.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    /// Devices with other settings; the context of the first is current.
    pub(crate) fn with(settings: Settings) -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        *driver::lock() = Some(Driver::new(settings));
        let gpu = Self(guard);
        gpu.use_device(0);
        gpu
    }

    pub(crate) fn use_device(&self, device: i32) {
        let mut context = 0;
        assert_eq!(contexts::cuDevicePrimaryCtxRetain((&mut context).into(), device), 0);
        assert_eq!(contexts::cuCtxSetCurrent(context), 0);
    }

    pub(crate) fn allocate(&self, bytes: usize) -> u64 {
        let mut address = 0;
        assert_eq!(memory::cuMemAlloc_v2((&mut address).into(), bytes), 0);
        address
    }

    /// A stream that does not wait for the default stream.
    pub(crate) fn stream(&self) -> u64 {
        let mut stream = 0;
        assert_eq!(streams::cuStreamCreate((&mut stream).into(), 1), 0);
        stream
    }

    pub(crate) fn event(&self) -> u64 {
        let mut event = 0;
        assert_eq!(events::cuEventCreate((&mut event).into(), 0), 0);
        event
    }

    /// A kernel of the fixture's module.
    pub(crate) fn kernel(&self, name: &CStr) -> u64 {
        let (mut module, mut kernel) = (0, 0);
        assert_eq!(modules::cuModuleLoadData((&mut module).into(), MODULE.as_ptr().into_in()), 0);
        assert_eq!(
            modules::cuModuleGetFunction((&mut kernel).into(), module, name.as_ptr().into_in()),
            0
        );
        kernel
    }

    /// Launches `add` on two addresses.
    pub(crate) fn add(&self, kernel: u64, stream: u64, addresses: [u64; 2]) -> CuResult {
        self.launch(kernel, stream, [[4, 1, 1], [32, 1, 1]], 0, addresses)
    }

    /// Launches `add` or `wide` with blocks and threads, dynamic shared memory and addresses.
    pub(crate) fn launch(
        &self,
        kernel: u64,
        stream: u64,
        [grid, block]: [[u32; 3]; 2],
        shared: u32,
        addresses: [u64; 2],
    ) -> CuResult {
        let count = 7_u32;
        let arguments = [
            &raw const addresses[0] as u64,
            &raw const addresses[1] as u64,
            &raw const count as u64,
        ];
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let arguments = (&arguments[0]).into();
        launches::cuLaunchKernel(
            kernel,
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared,
            stream,
            arguments,
            super::pointers::In::from_address(0),
        )
    }

    /// The log so far.
    pub(crate) fn log(&self) -> ProcessLog {
        let mut driver = driver::lock();
        let driver = driver.as_mut().expect("it was started");
        driver.write_log();
        driver.log.clone()
    }
}

/// A pointer as an argument.
pub(crate) trait IntoIn<T> {
    fn into_in(self) -> super::pointers::In<T>;
}

impl<T> IntoIn<T> for *const T {
    fn into_in(self) -> super::pointers::In<T> {
        super::pointers::In::from_address(self as u64)
    }
}

/// Asserts that a call failed with a status, and that the log has a refusal of that status with a reason that contains `reason`.
#[track_caller]
pub(crate) fn assert_refused(result: CuResult, status: Status, reason: &str) {
    assert_eq!(result, status as CuResult);
    let driver = driver::lock();
    let refused = &driver.as_ref().expect("it was started").log.refused;
    let is_that = |call: &RefusedCall| call.status == status.name() && call.reason.contains(reason);
    assert!(refused.iter().any(is_that), "{refused:?}");
}
