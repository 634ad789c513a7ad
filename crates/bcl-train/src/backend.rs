//! Backends: which this build holds, and the device a run computes on.

use crate::{
    cli::{BackendChoice, MissingBackend},
    result::Environment,
};
use burn::tensor::Device;

/// The backends of this build.
pub const BUILT: [BackendChoice; 1] = [BackendChoice::Flex];

/// A backend with its device.
#[derive(Debug, Clone)]
pub struct Backend {
    choice: BackendChoice,
    device: Device,
}

impl Backend {
    /// Opens a backend.
    ///
    /// # Errors
    /// When it is not in this build.
    pub fn open(choice: BackendChoice) -> Result<Self, MissingBackend> {
        let choice = choice.candidates(&BUILT)?[0];
        Ok(Self {
            choice,
            device: Device::flex(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.choice.name()
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
            backend: self.name().to_owned(),
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
