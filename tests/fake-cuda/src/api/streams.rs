//! Streams and their capture.

use super::{MODE, call, call_here, call_on, caller, pointers::Out};
use crate::{
    device,
    graph::Graph,
    status::{CuResult, Status},
    stream::CaptureMode,
};
use std::ffi::{c_int, c_uint};

/// The flag of streams that the default stream does not wait for.
const NON_BLOCKING: c_uint = 1;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamCreate(stream: Out<u64>, flags: c_uint) -> CuResult {
    create("cuStreamCreate", stream, flags, 0)
}

/// A priority outside the range is the nearest in it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamCreateWithPriority(stream: Out<u64>, flags: c_uint, priority: c_int) -> CuResult {
    let (least, greatest) = device::PRIORITIES;
    create("cuStreamCreateWithPriority", stream, flags, priority.clamp(greatest, least))
}

fn create(name: &str, stream: Out<u64>, flags: c_uint, priority: i32) -> CuResult {
    call_here(name, |driver, device| {
        if flags > NON_BLOCKING {
            return Err(Status::InvalidValue.into());
        }
        let handle = driver.new_handle();
        driver.streams.create(handle, device, flags != NON_BLOCKING, priority);
        Ok(stream.set(handle)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamDestroy_v2(stream: u64) -> CuResult {
    call("cuStreamDestroy_v2", |driver| driver.streams.destroy(stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetPriority(stream: u64, priority: Out<c_int>) -> CuResult {
    call("cuStreamGetPriority", |driver| {
        Ok(priority.set(driver.streams.priority(stream)?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamSynchronize(stream: u64) -> CuResult {
    call_on("cuStreamSynchronize", stream, |driver, _| {
        driver.streams.refuse_if_captured(stream, "waits for a stream")?;
        driver.log.waits += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamQuery(stream: u64) -> CuResult {
    call_on("cuStreamQuery", stream, |driver, _| {
        driver.streams.refuse_if_captured(stream, "asks whether a stream is done")
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamWaitEvent(stream: u64, event: u64, _flags: c_uint) -> CuResult {
    call_on("cuStreamWaitEvent", stream, |driver, _| {
        driver.streams.wait_for(stream, event)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamBeginCapture_v2(stream: u64, mode: c_int) -> CuResult {
    call_on("cuStreamBeginCapture_v2", stream, |driver, _| {
        let mode = CaptureMode::from_number(mode).ok_or(Status::InvalidValue)?;
        let capture = driver.new_handle();
        driver.streams.begin_capture(stream, mode, caller(), capture)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamEndCapture(stream: u64, graph: Out<u64>) -> CuResult {
    call_on("cuStreamEndCapture", stream, |driver, _| {
        graph.set(0)?;
        let nodes = driver.streams.end_capture(stream, caller())?;
        let number = driver.new_handle();
        driver.log.graphs_captured += 1;
        Ok(graph.set(driver.graphs.insert(number, Graph::new(nodes)))?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamIsCapturing(stream: u64, status: Out<c_int>) -> CuResult {
    call("cuStreamIsCapturing", |driver| {
        Ok(status.set(driver.streams.capture_status(stream)?)?)
    })
}

/// Sets the capture mode of this thread, and returns the one before.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuThreadExchangeStreamCaptureMode(mode: Out<c_int>) -> CuResult {
    call("cuThreadExchangeStreamCaptureMode", |_| {
        let new = CaptureMode::from_number(mode.get()?).ok_or(Status::InvalidValue)?;
        Ok(mode.set(MODE.replace(new) as c_int)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{
        contexts::cuCtxSynchronize,
        copies::{cuMemcpyDtoH_v2, cuMemcpyHtoDAsync_v2},
        events::{cuEventQuery, cuEventRecord, cuEventSynchronize},
        fixture::{Gpu, IntoIn, assert_refused},
        memory::{cuMemAlloc_v2, cuMemAllocHost_v2, cuMemFree_v2},
        modules::cuModuleLoadData,
    };

    const GLOBAL: i32 = CaptureMode::Global as i32;
    const THREAD_LOCAL: i32 = CaptureMode::ThreadLocal as i32;
    const RELAXED: i32 = CaptureMode::Relaxed as i32;
    const UNSUPPORTED: CuResult = Status::CaptureUnsupported as CuResult;
    const INVALIDATED: CuResult = Status::CaptureInvalidated as CuResult;

    fn allocate() -> CuResult {
        let mut address = 0;
        cuMemAlloc_v2((&mut address).into(), 64)
    }

    fn end(stream: u64) -> (CuResult, u64) {
        let mut graph = 7;
        let result = cuStreamEndCapture(stream, (&mut graph).into());
        (result, graph)
    }

    fn status(stream: u64) -> i32 {
        let mut status = -1;
        assert_eq!(cuStreamIsCapturing(stream, (&mut status).into()), 0);
        status
    }

    #[test]
    fn an_allocation_in_a_capture_is_refused_and_invalidates_it() {
        let gpu = Gpu::new();
        let (stream, add, address) = (gpu.stream(), gpu.kernel(c"add"), gpu.allocate(64));
        assert_eq!(cuStreamBeginCapture_v2(stream, GLOBAL), 0);
        assert_eq!((gpu.add(add, stream, [address; 2]), status(stream)), (0, 1));
        assert_refused(
            allocate(),
            Status::CaptureUnsupported,
            "allocates memory while a stream is captured",
        );
        assert_eq!(status(stream), 2);
        assert_eq!(gpu.add(add, stream, [address; 2]), INVALIDATED);
        assert_eq!((end(stream), status(stream)), ((INVALIDATED, 0), 0));
        assert_eq!((allocate(), gpu.add(add, stream, [address; 2])), (0, 0));
        let log = gpu.log();
        assert_eq!((log.graphs_captured, log.launches), (0, 1));
    }

    #[test]
    fn waits_copies_and_modules_in_a_capture_are_refused() {
        let gpu = Gpu::new();
        let (stream, event, address) = (gpu.stream(), gpu.event(), gpu.allocate(64));
        let mut bytes = [0_u8; 8];
        let (mut pinned, mut module) = (0, 0);
        let calls: [&mut dyn FnMut() -> CuResult; 9] = [
            &mut || cuStreamSynchronize(stream),
            &mut || cuStreamQuery(stream),
            &mut || cuCtxSynchronize(),
            &mut || cuEventSynchronize(event),
            &mut || cuEventQuery(event),
            &mut || cuMemcpyDtoH_v2(bytes.as_mut_ptr() as u64, address, 8),
            &mut || cuMemAllocHost_v2((&mut pinned).into(), 64),
            &mut || cuMemFree_v2(address),
            &mut || cuModuleLoadData((&mut module).into(), c".version 9.0\n.target sm_90".as_ptr().into_in()),
        ];
        for refused in calls {
            assert_eq!(cuStreamBeginCapture_v2(stream, GLOBAL), 0);
            assert_eq!((refused(), end(stream).0), (UNSUPPORTED, INVALIDATED));
        }
        let log = gpu.log();
        assert_eq!((log.waits, log.copies_down.count, log.refused.len()), (0, 0, 9));
    }

    #[test]
    fn an_asynchronous_copy_becomes_part_of_the_graph() {
        let gpu = Gpu::new();
        let (stream, address) = (gpu.stream(), gpu.allocate(64));
        assert_eq!(cuStreamBeginCapture_v2(stream, GLOBAL), 0);
        assert_eq!(cuMemcpyHtoDAsync_v2(address, [1_u8; 8].as_ptr() as u64, 8, stream), 0);
        assert_eq!(end(stream).0, 0);
        assert_eq!(gpu.log().copies_up.count, 0);
    }

    #[test]
    fn the_mode_of_a_capture_decides_whose_calls_it_forbids() {
        let gpu = Gpu::new();
        let stream = gpu.stream();
        let elsewhere = || {
            std::thread::spawn(|| {
                assert_eq!(crate::api::contexts::cuCtxSetCurrent(0x100), 0);
                allocate()
            })
            .join()
            .expect("it ends")
        };
        for (mode, here, there) in [
            (GLOBAL, UNSUPPORTED, UNSUPPORTED),
            (THREAD_LOCAL, UNSUPPORTED, 0),
            (RELAXED, 0, 0),
        ] {
            assert_eq!(cuStreamBeginCapture_v2(stream, mode), 0);
            assert_eq!((allocate(), elsewhere()), (here, there), "mode {mode}");
            end(stream);
        }
        let mut of_thread = RELAXED;
        assert_eq!(cuThreadExchangeStreamCaptureMode((&mut of_thread).into()), 0);
        assert_eq!(of_thread, GLOBAL);
        assert_eq!(cuStreamBeginCapture_v2(stream, GLOBAL), 0);
        assert_eq!((allocate(), end(stream).0), (0, 0));
        assert_eq!(cuThreadExchangeStreamCaptureMode((&mut of_thread).into()), 0);
    }

    #[test]
    fn a_capture_ends_where_and_by_whom_it_was_begun() {
        let gpu = Gpu::new();
        let (stream, other) = (gpu.stream(), gpu.stream());
        assert_refused(end(stream).0, Status::IllegalState, "is not captured");
        assert_refused(
            cuStreamBeginCapture_v2(0, GLOBAL),
            Status::CaptureUnsupported,
            "default stream",
        );
        assert_eq!(cuStreamBeginCapture_v2(stream, 9), Status::InvalidValue as CuResult);
        assert_eq!(cuStreamBeginCapture_v2(stream, GLOBAL), 0);
        assert_refused(
            cuStreamBeginCapture_v2(stream, GLOBAL),
            Status::IllegalState,
            "captured already",
        );
        assert_refused(end(other).0, Status::IllegalState, "is not captured");
        let elsewhere = std::thread::spawn(move || end(stream).0).join().expect("it ends");
        assert_refused(elsewhere, Status::CaptureWrongThread, "another thread");
        assert_eq!(end(stream).0, 0);
    }

    #[test]
    fn streams_join_a_capture_through_events_and_must_be_waited_for() {
        let gpu = Gpu::new();
        let (origin, fork, add) = (gpu.stream(), gpu.stream(), gpu.kernel(c"add"));
        let (begun, done) = (gpu.event(), gpu.event());
        let begin = || {
            assert_eq!(cuStreamBeginCapture_v2(origin, GLOBAL), 0);
            assert_eq!((cuEventRecord(begun, origin), cuStreamWaitEvent(fork, begun, 0)), (0, 0));
            assert_eq!((status(fork), gpu.add(add, fork, [0; 2])), (1, 0));
        };
        begin();
        assert_refused(end(fork).0, Status::CaptureUnmatched, "another stream");
        assert_refused(end(origin).0, Status::CaptureUnjoined, "does not wait for");
        begin();
        assert_eq!((cuEventRecord(done, fork), cuStreamWaitEvent(origin, done, 0)), (0, 0));
        assert_eq!((end(origin).0, status(fork)), (0, 0));
        assert_refused(
            cuEventSynchronize(done),
            Status::CapturedEvent,
            "a captured stream recorded it",
        );
        begin();
        assert_eq!(
            (
                cuEventRecord(done, fork),
                gpu.add(add, fork, [0; 2]),
                cuStreamWaitEvent(origin, done, 0)
            ),
            (0, 0, 0)
        );
        assert_refused(end(origin).0, Status::CaptureUnjoined, "does not wait for");
        begin();
        assert_eq!((cuEventRecord(done, fork), cuStreamWaitEvent(origin, done, 0)), (0, 0));
        assert_eq!(
            (gpu.add(add, fork, [0; 2]), end(origin).0),
            (0, Status::CaptureUnjoined as CuResult)
        );
    }

    #[test]
    fn a_captured_stream_cannot_wait_for_other_work() {
        let gpu = Gpu::new();
        let (stream, second, event) = (gpu.stream(), gpu.stream(), gpu.event());
        assert_eq!(cuStreamBeginCapture_v2(stream, GLOBAL), 0);
        assert_eq!(cuStreamWaitEvent(stream, event, 0), 0);
        assert_eq!(cuEventRecord(event, second), 0);
        assert_refused(cuStreamWaitEvent(stream, event, 0), Status::CaptureIsolation, "not captured");
        assert_eq!(end(stream).0, INVALIDATED);

        assert_eq!(
            (
                cuStreamBeginCapture_v2(stream, GLOBAL),
                cuStreamBeginCapture_v2(second, GLOBAL)
            ),
            (0, 0)
        );
        assert_eq!(cuEventRecord(event, second), 0);
        assert_refused(cuStreamWaitEvent(stream, event, 0), Status::CaptureMerge, "another capture");
        assert_eq!((end(stream).0, end(second).0), (INVALIDATED, INVALIDATED));
    }

    #[test]
    fn the_default_stream_cannot_be_used_while_a_blocking_stream_is_captured() {
        let gpu = Gpu::new();
        let (mut blocking, address) = (0, gpu.allocate(64));
        assert_eq!(cuStreamCreate((&mut blocking).into(), 0), 0);
        assert_eq!(cuStreamBeginCapture_v2(blocking, THREAD_LOCAL), 0);
        let mut bytes = [0_u8; 8];
        assert_refused(
            cuMemcpyDtoH_v2(bytes.as_mut_ptr() as u64, address, 8),
            Status::CaptureImplicit,
            "the default stream while a blocking stream",
        );
        assert_eq!(end(blocking).0, INVALIDATED);
    }

    #[test]
    fn waits_are_counted_and_destroyed_streams_are_gone() {
        let gpu = Gpu::new();
        let (stream, event) = (gpu.stream(), gpu.event());
        assert_eq!(
            (cuStreamSynchronize(stream), cuStreamSynchronize(0), cuCtxSynchronize()),
            (0, 0, 0)
        );
        assert_eq!((cuEventRecord(event, stream), cuEventSynchronize(event)), (0, 0));
        assert_eq!(gpu.log().waits, 4);
        let (mut urgent, mut priority) = (0, 0);
        assert_eq!(cuStreamCreateWithPriority((&mut urgent).into(), 1, -9), 0);
        assert_eq!(cuStreamGetPriority(urgent, (&mut priority).into()), 0);
        assert_eq!(priority, -5);
        assert_eq!(
            (cuStreamDestroy_v2(stream), cuStreamSynchronize(stream)),
            (0, Status::InvalidHandle as CuResult)
        );
    }
}
