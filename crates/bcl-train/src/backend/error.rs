//! Why a backend cannot be had, and what to do about it.

use super::DeviceInfo;
use crate::{
    cli::{BackendChoice, MissingBackend},
    launch::BuildError,
};
use burn::tensor::Device;
use std::fmt::Write;

/// Why a backend cannot be had. Each says how to get it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// It is not in this build.
    #[error(transparent)]
    NotBuilt(#[from] MissingBackend),
    /// It is not in this build, and no program with it can be built from here.
    #[error("{missing}; to get it, run in the folder of the source: {command}")]
    NotBuiltHere {
        /// What is missing.
        missing: MissingBackend,
        /// The command that gets it.
        command: String,
    },
    /// Building a program with it failed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Nothing here computes with it.
    #[error("--backend {} {}; without --backend, the processor computes", choice.name(), no_device(*choice))]
    NoDevice {
        /// The backend.
        choice: BackendChoice,
    },
    /// `--device` does not name one of its devices.
    #[error("--device {index} is none of the devices of --backend {}:{list}", choice.name())]
    NoSuchDevice {
        /// The backend.
        choice: BackendChoice,
        /// What was asked for.
        index: usize,
        /// The devices that there are, a line each.
        list: String,
    },
    /// `--device` counts the devices of one backend, and none was named.
    #[error("--device {index} counts the devices of one backend: name it with --backend; `bcl-train devices` lists them all")]
    IndexOfNothing {
        /// What was asked for.
        index: usize,
    },
    /// The device is there, but cannot be opened or does not compute.
    #[error("--backend {} finds device {index}, but cannot compute on it: {problem}; {}", choice.name(), unusable(*choice))]
    Unusable {
        /// The backend.
        choice: BackendChoice,
        /// Which of its devices.
        index: usize,
        /// What its driver says.
        problem: String,
    },
}

impl BackendError {
    pub(super) fn no_such_device(choice: BackendChoice, index: usize, devices: &[Device]) -> Self {
        let mut list = String::new();
        for (place, device) in devices.iter().enumerate() {
            let name =
                DeviceInfo::read(choice, place, device).map_or_else(|problem| format!("unusable: {problem}"), |info| info.name);
            let _ = write!(list, "\n  {place}  {name}");
        }
        Self::NoSuchDevice { choice, index, list }
    }
}

/// What is missing where a backend finds nothing, and how to get it.
fn no_device(choice: BackendChoice) -> &'static str {
    match choice {
        BackendChoice::Cuda if cfg!(target_os = "macos") => {
            "computes on NVIDIA's GPUs, which macOS does not drive: take --backend metal"
        }
        BackendChoice::Cuda => "finds no GPU of NVIDIA's: install the driver with which `nvidia-smi` lists one",
        BackendChoice::Metal if !cfg!(target_os = "macos") => {
            "computes on Apple's GPUs, and this is no macOS: take --backend cuda, vulkan or wgpu"
        }
        BackendChoice::Metal => "finds no GPU that speaks Metal",
        _ => {
            "finds no device: install the Vulkan driver of the GPU (Debian and Ubuntu: `apt-get install mesa-vulkan-drivers libvulkan1`, \
             which has one for processors, too)"
        }
    }
}

fn unusable(choice: BackendChoice) -> &'static str {
    match choice {
        BackendChoice::Cuda => "it needs a current driver, and NVRTC of the CUDA toolkit to compile kernels",
        _ => "`bcl-train devices` lists what else there is",
    }
}
