//! Opens Burn devices by name, lists those that work on this machine, and builds a program again with a backend that it lacks.
//!
//! Burn's tensors have no backend type: a [`Device`](burn::tensor::Device) decides where they compute, and one program may contain
//! several backends. The features `cuda`, `metal`, `vulkan` and `wgpu` of this crate add one each; flex, the CPU, is always there.
//!
//! | to | see |
//! | --- | --- |
//! | open what `--backend` and `--device` name | [`Backend::open`] |
//! | list all devices | [`Inventory`] |
//! | get a program with another backend | [`launch`] |
//! | end with one line when a GPU fails | [`device_failures`] |
//! | set up a process before its first tensor | [`prepare_process`] |
//!
//! ```
//! use bcl_backend::{Backend, BackendChoice};
//! use burn::tensor::Tensor;
//!
//! let backend = Backend::open(BackendChoice::Flex, None)?;
//! let ones = Tensor::<1>::ones([3], &backend.device());
//! assert_eq!(ones.sum().into_scalar::<f32>(), 3.0);
//! # Ok::<(), bcl_backend::BackendError>(())
//! ```
//!
//! Drivers are asked for their devices before one is used, and a panic during the first use becomes an error.

#[cfg(feature = "program")]
mod arguments;
mod backend;
mod built;
mod choice;
mod device;
mod error;
mod failure;
mod inventory;
mod kernel_cache;
#[cfg(feature = "program")]
pub mod launch;
mod memory;
mod process;
mod processor;

#[cfg(feature = "program")]
pub use arguments::exit;
pub use backend::Backend;
pub use built::built;
pub use choice::{BackendChoice, MissingBackend};
pub use device::{DeviceInfo, DeviceKind};
pub use error::BackendError;
pub use failure::{DeviceFailure, device_failure, device_failures};
pub use inventory::{Inventory, Unavailable};
pub use kernel_cache::kernel_cache;
pub use memory::{keep_memory, release_memory};
pub use process::prepare_process;
pub use processor::{memory as processor_memory, model as processor_model};

#[cfg(test)]
mod tests;
