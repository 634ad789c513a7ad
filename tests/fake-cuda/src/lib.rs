//! A CUDA driver for machines without a GPU.
//!
//! Device memory is host memory, copies are real, and kernels are loaded, checked and counted, but never executed. With NVIDIA's compiler, which
//! needs no GPU, a program with the CUDA backend runs on it from end to end: every kernel is emitted as CUDA C++ and compiled to PTX. So tests
//! without a GPU find kernels that cannot be emitted or compiled, launches that a GPU would refuse, memory used after it was freed, and how many
//! launches and copies something takes. They find neither wrong results nor times.
//!
//! # How a program gets it
//!
//! Cargo builds `libfake_cuda.so`. Programs look for `libcuda.so`, so link or copy it under that name to a folder of its own and put the folder
//! first in `LD_LIBRARY_PATH`. Not as `libcuda.so.1`: NVRTC looks for that name, and would ask the driver for tables that only NVIDIA's has.
//!
//! # Environment
//!
//! | variable | meaning |
//! | --- | --- |
//! | `FAKE_CUDA_DEVICES=n` | number of devices; 1 by default |
//! | `FAKE_CUDA_MEMORY=bytes` | memory of each device; 16 GiB by default. An allocation beyond it fails with `CUDA_ERROR_OUT_OF_MEMORY` |
//! | `FAKE_CUDA_FAIL_LAUNCH=n` | the n-th launch, counted from 1, fails with `CUDA_ERROR_ILLEGAL_ADDRESS`, and so does every later call on that device |
//! | `FAKE_CUDA_LOG=FILE` | when a process exits (not when a signal ends it), one line of JSON is appended to this file: a [`log::ProcessLog`] |
//! | `FAKE_CUDA_PTX=FOLDER` | keeps the PTX of each module there, as `PROCESS-NUMBER.ptx` |
//!
//! # What it computes
//!
//! Nothing. Memory contains zeros until something is uploaded, set or copied there, and what a kernel would have written reads as zeros. With one
//! exception: **a copy to the host of four bytes that are zeros gives `2.0f32`, and of one such byte gives `1`.** Programs of this workspace compute
//! 1 + 1 on a device before they use it, and stop when a loss is not a positive number or when the answer to "is all of it finite?" is no. These are
//! copies of one `f32` or one `bool`.
//!
//! # What it checks
//!
//! - The limits of an H100 (compute capability 9.0) and the rules of [stream capture].
//! - Each pointer that a kernel dereferences must point into memory that is allocated on the kernel's device, or be null, as for an empty buffer.
//! - Copies must stay within one allocation.
//!
//! What a GPU would refuse is refused with the same error code, printed to standard error once, and listed in the log.
//!
//! [stream capture]: https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#creating-a-graph-using-stream-capture

#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "it has a C interface, and memory that programs address directly")]

pub mod log;

mod api;
mod copy;
mod device;
mod driver;
mod graph;
mod kernel;
mod launch;
mod memory;
mod ptx;
mod settings;
mod status;
mod stream;
