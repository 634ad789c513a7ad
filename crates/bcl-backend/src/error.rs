//! Why a backend is not available, and what to do about it.

use crate::{BackendChoice, DeviceInfo, MissingBackend};
use burn::tensor::Device;
use std::fmt::Write;

/// Why a backend is not available. Each message says how to get it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The backend is not in this build.
    #[error(transparent)]
    NotBuilt(#[from] MissingBackend),
    /// The backend is not in this build, and the program cannot be rebuilt from here.
    #[error("{missing}; to add it, run this in the source folder: {command}")]
    NotBuiltHere {
        /// The missing backend.
        missing: MissingBackend,
        /// The command that adds it.
        command: String,
    },
    /// Building a program with the backend failed.
    #[error("{0}")]
    Build(Box<dyn std::error::Error + Send + Sync>),
    /// The backend finds no device.
    #[error("--backend {} {}; without --backend, the CPU is used", choice.name(), no_device(*choice))]
    NoDevice {
        /// The backend.
        choice: BackendChoice,
    },
    /// `--device` is out of range.
    #[error("--device {index}: --backend {} has only these devices:{list}", choice.name())]
    NoSuchDevice {
        /// The backend.
        choice: BackendChoice,
        /// The requested index.
        index: usize,
        /// The devices of the backend, one per line.
        list: String,
    },
    /// `--device` was given without `--backend`.
    #[error(
        "--device {index} needs --backend, because every backend numbers its own devices; `bcl-train devices` lists them all"
    )]
    IndexOfNothing {
        /// The requested index.
        index: usize,
    },
    /// The device exists, but cannot be opened or does not compute.
    #[error("--backend {} finds device {index}, but cannot compute on it: {problem}; {}", choice.name(), unusable(*choice))]
    Unusable {
        /// The backend.
        choice: BackendChoice,
        /// The index of the device.
        index: usize,
        /// What the driver reports.
        problem: String,
    },
}

impl BackendError {
    pub(crate) fn no_such_device(choice: BackendChoice, index: usize, devices: &[Device]) -> Self {
        let mut list = String::new();
        for (place, device) in devices.iter().enumerate() {
            let name =
                DeviceInfo::read(choice, place, device).map_or_else(|problem| format!("unusable: {problem}"), |info| info.name);
            let _ = write!(list, "\n  {place}  {name}");
        }
        Self::NoSuchDevice { choice, index, list }
    }
}

/// Why a backend finds no device, and how to get one. The text continues `--backend NAME`.
fn no_device(choice: BackendChoice) -> &'static str {
    match choice {
        BackendChoice::Cuda if cfg!(target_os = "macos") => {
            "needs an NVIDIA GPU, which macOS does not support: use --backend metal"
        }
        BackendChoice::Cuda => "finds no NVIDIA GPU: install the NVIDIA driver, and check that `nvidia-smi` lists the GPU",
        BackendChoice::Metal if !cfg!(target_os = "macos") => "needs an Apple GPU and macOS: use --backend cuda, vulkan or wgpu",
        BackendChoice::Metal => "finds no GPU that supports Metal",
        _ => {
            "finds no device: install the GPU's Vulkan driver (Debian and Ubuntu: `apt-get install mesa-vulkan-drivers libvulkan1`, \
             which also works without a GPU)"
        }
    }
}

fn unusable(choice: BackendChoice) -> &'static str {
    match choice {
        BackendChoice::Cuda => "it needs a current NVIDIA driver, and NVRTC from the CUDA toolkit to compile kernels",
        _ => "`bcl-train devices` lists the other devices",
    }
}
