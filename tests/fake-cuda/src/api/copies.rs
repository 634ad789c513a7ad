//! Copies between host and devices, and fills.

use super::{call_here, call_on, caller, pointers::In};
use crate::{
    copy::{Copy, Fill, Place},
    driver::Driver,
    graph::Node,
    status::{Answer, CuResult, Status, refuse},
};
use std::ffi::c_uint;

/// A copy of rows: `CUDA_MEMCPY2D`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Memcpy2D {
    pub(crate) from: Side,
    pub(crate) to: Side,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// One side of it. For both, an offset of so many bytes and rows comes first.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Side {
    pub(crate) x_bytes: usize,
    pub(crate) y: usize,
    pub(crate) kind: c_uint,
    pub(crate) host: u64,
    pub(crate) device: u64,
    pub(crate) array: u64,
    pub(crate) pitch: usize,
}

/// Kinds of memory: `CUmemorytype`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const UNIFIED: c_uint = 4;

impl Side {
    fn place(&self, driver: &Driver) -> Answer<Place> {
        let offset = (self.y * self.pitch + self.x_bytes) as u64;
        match self.kind {
            HOST => Ok(Place::Host(self.host + offset)),
            DEVICE => Ok(Place::Device(self.device + offset)),
            UNIFIED if driver.memory.find(self.device + offset).is_ok() => Ok(Place::Device(self.device + offset)),
            UNIFIED => Ok(Place::Host(self.device + offset)),
            _ => refuse(Status::NotSupported, "a copy from or to an array")?,
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) -> CuResult {
    copy_now("cuMemcpyHtoD_v2", Place::Host(from), Place::Device(to), bytes)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) -> CuResult {
    copy_now("cuMemcpyDtoH_v2", Place::Device(from), Place::Host(to), bytes)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) -> CuResult {
    copy_now("cuMemcpyDtoD_v2", Place::Device(from), Place::Device(to), bytes)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) -> CuResult {
    copy_on("cuMemcpyHtoDAsync_v2", Place::Host(from), Place::Device(to), bytes, stream)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) -> CuResult {
    copy_on("cuMemcpyDtoHAsync_v2", Place::Device(from), Place::Host(to), bytes, stream)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) -> CuResult {
    copy_on("cuMemcpyDtoDAsync_v2", Place::Device(from), Place::Device(to), bytes, stream)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy2DAsync_v2(copy: In<Memcpy2D>, stream: u64) -> CuResult {
    call_on("cuMemcpy2DAsync_v2", stream, |driver, _| {
        let Memcpy2D { from, to, width, height } = copy.at(0)?;
        let copy = Copy {
            from: from.place(driver)?,
            from_pitch: pitch(from.pitch, width),
            to: to.place(driver)?,
            to_pitch: pitch(to.pitch, width),
            width: width as u64,
            height: height as u64,
        };
        enqueue(driver, copy, stream)
    })
}

/// A pitch of zero means rows without gaps.
fn pitch(pitch: usize, width: usize) -> u64 {
    if pitch == 0 { width as u64 } else { pitch as u64 }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemsetD8_v2(to: u64, byte: u8, bytes: usize) -> CuResult {
    call_here("cuMemsetD8_v2", |driver, _| {
        driver.streams.refuse_synchronous(caller(), "fills memory and waits")?;
        fill(driver, to, byte, bytes, 0)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemsetD8Async(to: u64, byte: u8, bytes: usize, stream: u64) -> CuResult {
    call_on("cuMemsetD8Async", stream, |driver, _| fill(driver, to, byte, bytes, stream))
}

fn fill(driver: &mut Driver, to: u64, byte: u8, bytes: usize, stream: u64) -> Answer {
    let bytes = bytes as u64;
    driver.memory.check(to, bytes)?;
    // SAFETY: it involves no memory of the host.
    unsafe { driver.enqueue(stream, Node::Fill(Fill { to, byte, bytes })) }
}

/// Copies and waits.
fn copy_now(name: &str, from: Place, to: Place, bytes: usize) -> CuResult {
    call_here(name, |driver, _| {
        driver.streams.refuse_synchronous(caller(), "copies memory and waits")?;
        enqueue(driver, Copy::linear(from, to, bytes as u64), 0)
    })
}

fn copy_on(name: &str, from: Place, to: Place, bytes: usize, stream: u64) -> CuResult {
    call_on(name, stream, |driver, _| {
        enqueue(driver, Copy::linear(from, to, bytes as u64), stream)
    })
}

fn enqueue(driver: &mut Driver, copy: Copy, stream: u64) -> Answer {
    copy.check(&driver.memory)?;
    let is_captured = driver.streams.capture_status(stream)? != 0;
    // SAFETY: the program vouches for its own memory, which is read now or, pinned, by a graph.
    unsafe {
        let copy = if is_captured { copy.staged() } else { copy };
        driver.enqueue(stream, Node::Copy(copy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::{
            fixture::{Gpu, assert_refused},
            memory::cuMemFree_v2,
        },
        log::Copies,
    };

    fn download<const N: usize>(address: u64) -> [u8; N] {
        let mut bytes = [9; N];
        assert_eq!(cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr() as u64, address, N, 0), 0);
        bytes
    }

    #[test]
    fn what_was_uploaded_comes_back_and_the_rest_is_zero() {
        let gpu = Gpu::new();
        let (first, second) = (gpu.allocate(64), gpu.allocate(64));
        let bytes = [1_u8, 2, 3];
        assert_eq!(cuMemcpyHtoDAsync_v2(first + 8, bytes.as_ptr() as u64, 3, 0), 0);
        assert_eq!(cuMemcpyDtoDAsync_v2(second, first + 8, 8, 0), 0);
        assert_eq!(cuMemsetD8Async(second + 6, 5, 1, 0), 0);
        assert_eq!(download(first + 7), [0, 1, 2, 3, 0]);
        assert_eq!(download(second), [1, 2, 3, 0, 0, 0, 5, 0]);
        let log = gpu.log();
        assert_eq!(log.copies_up, Copies { count: 1, bytes: 3 });
        assert_eq!(log.copies_across, Copies { count: 1, bytes: 8 });
        assert_eq!(log.copies_down, Copies { count: 2, bytes: 13 });
    }

    #[test]
    fn a_single_zero_becomes_a_two_or_true() {
        let gpu = Gpu::new();
        let address = gpu.allocate(64);
        assert_eq!(f32::from_ne_bytes(download(address)), 2.0);
        assert_eq!(cuMemcpyHtoD_v2(address, 1.5_f32.to_ne_bytes().as_ptr() as u64, 4), 0);
        assert_eq!(f32::from_ne_bytes(download(address)), 1.5);
        assert_eq!((download(address + 8), download(address + 8)), ([0; 8], [1]));
    }

    #[test]
    fn what_a_kernel_writes_reads_as_zeros_until_it_is_uploaded_again() {
        let gpu = Gpu::new();
        let (add, input, output, copied) = (gpu.kernel(c"add"), gpu.allocate(64), gpu.allocate(64), gpu.allocate(64));
        let ones = [1_u8; 64];
        let upload = |address, bytes| assert_eq!(cuMemcpyHtoDAsync_v2(address, ones.as_ptr() as u64, bytes, 0), 0);
        upload(input, 64);
        upload(output, 64);
        assert_eq!(gpu.add(add, 0, [input, output]), 0);
        assert_eq!((download(input), download(output)), ([1; 64], [0; 64]));
        assert_eq!(f32::from_ne_bytes(download(output)), 2.0);
        assert_eq!(cuMemcpyDtoDAsync_v2(copied, output, 64, 0), 0);
        upload(output, 8);
        assert_eq!((download(copied), download(output)), ([0; 8], [1; 8]));
        assert_eq!((cuMemsetD8Async(copied, 3, 64, 0), download(copied)), (0, [3; 8]));
    }

    #[test]
    fn rows_are_copied_with_their_pitches() {
        let gpu = Gpu::new();
        let address = gpu.allocate(1024);
        let rows = *b"abcdef";
        let host = |bytes: *const u8, pitch| Side {
            kind: HOST,
            host: bytes as u64,
            pitch,
            ..Side::default()
        };
        let device = Side {
            kind: DEVICE,
            device: address,
            pitch: 512,
            ..Side::default()
        };
        let copy = |from, to| Memcpy2D {
            from,
            to,
            width: 3,
            height: 2,
        };
        assert_eq!(cuMemcpy2DAsync_v2((&copy(host(rows.as_ptr(), 3), device)).into(), 0), 0);
        assert_eq!(download(address + 512), *b"def");
        let mut back = [0; 8];
        assert_eq!(cuMemcpy2DAsync_v2((&copy(device, host(back.as_mut_ptr(), 4))).into(), 0), 0);
        assert_eq!(back, *b"abc\0def\0");
        let outside = Side { y: 1, ..device };
        assert_refused(
            cuMemcpy2DAsync_v2((&copy(outside, host(back.as_ptr(), 4))).into(), 0),
            Status::InvalidValue,
            "has 512 left",
        );
    }

    #[test]
    fn copies_beyond_an_allocation_or_of_freed_memory_are_refused() {
        let gpu = Gpu::new();
        let address = gpu.allocate(64);
        let mut bytes = [0_u8; 128];
        let place = bytes.as_mut_ptr() as u64;
        assert_refused(cuMemcpyDtoH_v2(place, address + 32, 33), Status::InvalidValue, "has 32 left");
        assert_refused(cuMemcpyHtoD_v2(place, place, 4), Status::InvalidValue, "is not device memory");
        assert_refused(cuMemcpyDtoH_v2(0, address, 4), Status::InvalidValue, "null pointer");
        assert_eq!(cuMemFree_v2(address), 0);
        assert_refused(cuMemcpyDtoH_v2(place, address, 4), Status::InvalidValue, "was freed");
        assert_refused(cuMemsetD8_v2(address, 0, 4), Status::InvalidValue, "was freed");
    }
}
