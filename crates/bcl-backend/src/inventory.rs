//! The devices that this build can use and the backends that it lacks, as `bcl-train devices` lists them.

use crate::{BackendChoice, DeviceInfo, DeviceKind, built};
use bcl_report::{Column, Table};
use indicatif::HumanBytes;
use serde::Serialize;
use std::{fmt, path::PathBuf};

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

impl fmt::Display for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = ["backend", "device", "name", "memory", "precisions", "driver"].map(Column::text);
        Table::new(columns, self.devices.iter().map(cells)).fmt(f)?;
        if let Some(folder) = &self.kernel_cache {
            writeln!(f, "\nCompiled GPU kernels are kept in {}", folder.display())?;
        }
        let absent = |f: &mut fmt::Formatter<'_>, title: &str, list: &[Unavailable]| {
            if list.is_empty() {
                return Ok(());
            }
            writeln!(f, "\n{title}")?;
            let rows = list.iter().map(|absent| [absent.backend, &absent.remedy]);
            Table::new([Column::text(""), Column::verbatim("")], rows).fmt(f)
        };
        absent(f, "In this build, but not usable here:", &self.unusable)?;
        absent(
            f,
            "Not in this build; to add a backend, run its command:",
            &self.not_in_this_build,
        )
    }
}

fn cells(device: &DeviceInfo) -> [String; 6] {
    let name = match device.kind {
        DeviceKind::Software => format!("{} (a CPU that presents itself as a GPU)", device.name),
        _ => device.name.clone(),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        device.backend.to_owned(),
        device.index.to_string(),
        name,
        or_dash(device.memory_bytes.map(|bytes| HumanBytes(bytes).to_string())),
        device.precisions.join(" "),
        or_dash(device.driver.clone()),
    ]
}
