//! Backends: which there are, and the device a run computes on.

use crate::{error::Error, result::Environment};
use burn::tensor::Device;
use std::fmt;

/// The backends this program knows by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// The CPU.
    Flex,
    /// NVIDIA GPUs.
    Cuda,
    /// GPUs through Vulkan.
    Vulkan,
    /// Apple GPUs.
    Metal,
    /// GPUs through whatever graphics interface the system has.
    Wgpu,
}

impl BackendKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Flex, Self::Cuda, Self::Vulkan, Self::Metal, Self::Wgpu];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flex => "flex",
            Self::Cuda => "cuda",
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::Wgpu => "wgpu",
        }
    }

    /// Whether this build holds it.
    pub fn is_built(self) -> bool {
        self == Self::Flex
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A backend with its device.
#[derive(Debug, Clone)]
pub struct Backend {
    kind: BackendKind,
    device: Device,
}

impl Backend {
    /// Opens a backend by name; `auto` takes the best one that is built.
    ///
    /// # Errors
    /// An unknown name, or one that is not in this build.
    pub fn open(name: &str) -> Result<Self, Error> {
        let name = match name {
            "auto" | "cpu" => "flex",
            name => name,
        };
        let kind = BackendKind::ALL.into_iter().find(|kind| kind.name() == name);
        match kind {
            Some(kind) if kind.is_built() => Ok(Self { kind, device: Device::flex() }),
            Some(kind) => {
                Err(Error::Input(format!("--backend {kind} is not in this build, which computes on the CPU alone; use --backend flex")))
            }
            None => Err(Error::Input(format!("--backend {name} is unknown; known are flex, cuda, vulkan, metal, wgpu and auto"))),
        }
    }

    /// The kind.
    pub fn kind(&self) -> BackendKind {
        self.kind
    }

    /// The device for evaluation.
    pub fn device(&self) -> Device {
        self.device.clone()
    }

    /// The device for training: the same with gradients.
    pub fn training_device(&self) -> Device {
        self.device.clone().autodiff()
    }

    /// What a result records of where it was computed.
    pub fn environment(&self) -> Environment {
        Environment {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_revision: option_env!("BCL_GIT_REVISION").map(str::to_owned),
            backend: self.kind.name().to_owned(),
            device: "CPU".to_owned(),
            threads: rayon::current_num_threads(),
        }
    }
}

/// Peak resident memory of this process, bytes, where the system tells it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
