//! What a measurement depends on besides the code.

use bcl_backend::{DeviceInfo, processor_model};
use serde::{Deserialize, Serialize};
use std::{env, fmt, process::Command};

/// Machine and build of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this program.
    pub version: String,
    /// Git revision of the current folder.
    pub revision: Option<String>,
    /// Build profile, `debug` or `release`.
    pub profile: Option<String>,
    /// Backend that computed.
    pub backend: String,
    /// Device that computed.
    pub device: String,
    /// Driver of the device, if known.
    pub driver: Option<String>,
    /// Operating system and architecture.
    pub system: String,
    /// Model of the CPU.
    pub processor: String,
    /// Number of threads of a measurement.
    pub threads: usize,
    /// Available memory at the start, in MiB.
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

/// The profile is not known at run time, but cargo names the program's folder after it.
fn profile() -> Option<String> {
    let folder = env::current_exe().ok()?.parent()?.file_name()?.to_str()?.to_owned();
    ["debug", "release"].contains(&folder.as_str()).then_some(folder)
}
