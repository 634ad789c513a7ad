//! The devices that this build can use and the backends that it lacks, as `bcl-train devices` lists them.

use crate::{BackendChoice, DeviceInfo, built};
use serde::Serialize;
use std::path::PathBuf;

/// The devices that this build can use, and the backends that it lacks.
#[derive(Debug, Serialize)]
pub struct Inventory {
    /// Usable devices; the fastest backend's devices come first.
    pub devices: Vec<DeviceInfo>,
    /// Backends and devices of this build that cannot be used here.
    pub unusable: Vec<Unavailable>,
    /// Backends that are not in this build.
    pub not_in_this_build: Vec<Unavailable>,
    /// The folder of compiled GPU kernels, in a build with GPU backends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_cache: Option<PathBuf>,
}

/// A backend, or one of its devices, that is not available.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// Name of the backend, as `--backend` takes it.
    pub backend: &'static str,
    /// What is wrong, or the command that adds the backend.
    pub remedy: String,
}

impl Inventory {
    /// Asks every backend of this build for its devices and opens each. `command` returns the command that adds a missing
    /// backend.
    pub fn read(command: impl Fn(BackendChoice) -> String) -> Self {
        let mut inventory = Self {
            devices: Vec::new(),
            unusable: Vec::new(),
            not_in_this_build: Vec::new(),
            kernel_cache: crate::kernel_cache(),
        };
        let in_build = built();
        for choice in BackendChoice::PREFERENCE {
            let backend = choice.name();
            if !in_build.contains(&choice) {
                let remedy = if choice.exists_here() {
                    command(choice)
                } else {
                    "not available on this operating system".to_owned()
                };
                inventory.not_in_this_build.push(Unavailable { backend, remedy });
                continue;
            }
            let found = built::devices(choice);
            if found.is_empty() {
                let remedy = "no device found".to_owned();
                inventory.unusable.push(Unavailable { backend, remedy });
            }
            for (index, device) in found.iter().enumerate() {
                match DeviceInfo::read(choice, index, device) {
                    Ok(info) => inventory.devices.push(info),
                    Err(problem) => {
                        let remedy = format!("device {index} cannot be used: {problem}");
                        inventory.unusable.push(Unavailable { backend, remedy });
                    }
                }
            }
        }
        inventory
    }
}
