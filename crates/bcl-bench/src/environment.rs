//! What a measurement depends on besides the code.

use bcl_train::backend::{DeviceInfo, processor_model};
use serde::{Deserialize, Serialize};
use std::{env, fmt, process::Command};

/// Where and with what a measurement was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this program.
    pub version: String,
    /// Git revision of the folder it was started in.
    pub revision: Option<String>,
    /// Name of the build profile, `debug` or `release`.
    pub profile: Option<String>,
    /// Where it was computed.
    pub backend: String,
    /// On which device.
    pub device: String,
    /// Its driver, where that is told.
    pub driver: Option<String>,
    /// Operating system and architecture.
    pub system: String,
    /// Model of the processor.
    pub processor: String,
    /// Threads a measurement used.
    pub threads: usize,
    /// Memory that could be had at the start, MiB.
    pub available_mib: Option<f64>,
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.system, self.device)
    }
}

impl Environment {
    pub(crate) fn read(threads: usize) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            revision: revision(),
            profile: profile(),
            backend: "flex".to_owned(),
            device: processor_model(),
            driver: None,
            system: format!("{} {}", env::consts::OS, env::consts::ARCH),
            processor: processor_model(),
            threads,
            available_mib: crate::memory::available(),
        }
    }

    pub(crate) fn on(self, device: &DeviceInfo) -> Self {
        Self {
            backend: device.backend.to_owned(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            ..self
        }
    }
}

fn revision() -> Option<String> {
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The folder cargo put the program in is named after the profile; the profile itself is not to be had.
fn profile() -> Option<String> {
    let folder = env::current_exe().ok()?.parent()?.file_name()?.to_str()?.to_owned();
    ["debug", "release"].contains(&folder.as_str()).then_some(folder)
}
