//! Device memory and pinned host memory.

use super::{call, call_here, call_on, caller, pointers::Out};
use crate::{
    graph::Node,
    status::{Answer, CuResult},
};
use std::ffi::c_uint;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) -> CuResult {
    call_here("cuMemAlloc_v2", |driver, device| {
        driver.streams.refuse_unsafe(caller(), "allocates memory")?;
        let allocated = driver.memory.allocate(device, bytes as u64)?;
        driver.log.allocations += 1;
        Ok(address.set(allocated)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemFree_v2(address: u64) -> CuResult {
    call_here("cuMemFree_v2", |driver, _| {
        driver.streams.refuse_unsafe(caller(), "frees memory")?;
        if address != 0 {
            driver.memory.free(address)?;
            driver.log.frees += 1;
        }
        Ok(())
    })
}

/// On a captured stream it becomes part of the graph, whose memory is there from now on.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAllocAsync(address: Out<u64>, bytes: usize, stream: u64) -> CuResult {
    call_on("cuMemAllocAsync", stream, |driver, device| {
        driver.streams.enqueue(stream, Node::Allocate)?;
        let allocated = driver.memory.allocate(device, bytes as u64)?;
        driver.log.allocations += 1;
        Ok(address.set(allocated)?)
    })
}

/// On a captured stream it becomes part of the graph, and the memory stays.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemFreeAsync(address: u64, stream: u64) -> CuResult {
    call_on("cuMemFreeAsync", stream, |driver, _| {
        driver.memory.check(address, 0)?;
        if driver.streams.enqueue(stream, Node::Free)?.is_some() {
            driver.memory.free(address)?;
            driver.log.frees += 1;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> CuResult {
    call_here("cuMemGetInfo_v2", |driver, device| {
        let (free_bytes, total_bytes) = driver.memory.info(device);
        free.set(free_bytes as usize)?;
        Ok(total.set(total_bytes as usize)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAllocHost_v2(address: Out<u64>, bytes: usize) -> CuResult {
    allocate_pinned("cuMemAllocHost_v2", address, bytes)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemHostAlloc(address: Out<u64>, bytes: usize, _flags: c_uint) -> CuResult {
    allocate_pinned("cuMemHostAlloc", address, bytes)
}

fn allocate_pinned(name: &str, address: Out<u64>, bytes: usize) -> CuResult {
    call_here(name, |driver, _| {
        driver.streams.refuse_unsafe(caller(), "allocates pinned memory")?;
        Ok(address.set(driver.memory.allocate_pinned(bytes as u64)?)?)
    })
}

/// Works without a context, and on a lost device.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemFreeHost(address: u64) -> CuResult {
    call("cuMemFreeHost", |driver| -> Answer {
        driver.streams.refuse_unsafe(caller(), "frees pinned memory")?;
        Ok(driver.memory.free_pinned(address)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::fixture::{Gpu, assert_refused},
        settings::Settings,
        status::Status,
    };

    const OUT_OF_MEMORY: CuResult = Status::OutOfMemory as CuResult;

    fn free_bytes() -> usize {
        let (mut free, mut total) = (0, 0);
        assert_eq!(cuMemGetInfo_v2((&mut free).into(), (&mut total).into()), 0);
        free
    }

    #[test]
    fn memory_runs_out_and_frees_give_it_back() {
        let gpu = Gpu::with(Settings {
            memory: 10_000 << 10,
            ..Settings::default()
        });
        let mut address = 0;
        let first = gpu.allocate(6_000 << 10);
        assert_eq!(free_bytes(), 4_000 << 10);
        assert_eq!(cuMemAlloc_v2((&mut address).into(), 5_000 << 10), OUT_OF_MEMORY);
        assert_eq!(cuMemAllocAsync((&mut address).into(), 5_000 << 10, 0), OUT_OF_MEMORY);
        assert_eq!(cuMemFree_v2(first), 0);
        let second = gpu.allocate(10_000 << 10);
        assert_eq!((free_bytes(), cuMemFreeAsync(second, 0), free_bytes()), (0, 0, 10_000 << 10));
        let log = gpu.log();
        assert_eq!((log.allocations, log.frees, log.peak_bytes), (2, 2, 10_000 << 10));
        assert_eq!(log.refused, []);
    }

    #[test]
    fn a_second_free_is_refused() {
        let gpu = Gpu::new();
        let address = gpu.allocate(64);
        assert_eq!((cuMemFree_v2(address), cuMemFree_v2(0)), (0, 0));
        assert_refused(cuMemFree_v2(address), Status::InvalidValue, "was freed");
        assert_refused(cuMemFreeHost(address), Status::InvalidValue, "is not pinned memory");
    }

    #[test]
    fn each_device_has_its_own_memory() {
        let gpu = Gpu::with(Settings {
            devices: 2,
            memory: 1 << 20,
            ..Settings::default()
        });
        gpu.allocate(1 << 20);
        gpu.use_device(1);
        assert_eq!(free_bytes(), 1 << 20);
        gpu.allocate(1 << 20);
        assert_eq!(gpu.log().peak_bytes, 2 << 20);
    }
}
