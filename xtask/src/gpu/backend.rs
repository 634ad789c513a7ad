//! The backend to measure and its device.

use super::outcome::{Outcome, State};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A backend, named as in the programs' `--backend` flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Backend {
    Cuda,
    Vulkan,
    Metal,
    Wgpu,
    /// The CPU, with smaller sizes: checks that everything runs.
    Flex,
}

impl Backend {
    /// The backend that fits most GPUs on this operating system.
    pub(super) fn usual() -> Self {
        if cfg!(target_os = "macos") { Self::Metal } else { Self::Cuda }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::Wgpu => "wgpu",
            Self::Flex => "flex",
        }
    }

    /// The cargo feature that compiles it in; flex is in every build.
    pub(super) fn feature(self) -> Option<&'static str> {
        (self != Self::Flex).then(|| self.name())
    }

    pub(super) fn default_file(self) -> PathBuf {
        Path::new("target/gpu").join(self.name()).with_extension("json")
    }
}

/// A device as listed by `bcl-train devices --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(super) backend: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) memory_bytes: Option<u64>,
    pub(super) driver: Option<String>,
    pub(super) precisions: Vec<String>,
}

impl Device {
    /// Returns the first device of the backend that the devices part listed. If there is none, marks the part as failed.
    pub(super) fn read(outcome: &mut Outcome, backend: Backend) -> Option<Self> {
        let inventory = outcome.jobs.first()?.report.as_ref()?;
        let listed = inventory["devices"].as_array().into_iter().flatten();
        let devices = listed.filter_map(|device| serde_json::from_value::<Self>(device.clone()).ok());
        let device = devices.into_iter().find(|device| device.backend == backend.name());
        if device.is_none() {
            outcome.state = State::Failed(absence(inventory, backend));
        }
        device
    }

    /// Returns whether it is a CPU, including software drivers that present a CPU as a GPU.
    pub(super) fn is_processor(&self) -> bool {
        ["processor", "software"].contains(&self.kind.as_str())
    }
}

/// Explains why there is no device.
fn absence(inventory: &Value, backend: Backend) -> String {
    let name = backend.name();
    let in_list = |list: &str| {
        let entries = inventory[list].as_array().into_iter().flatten();
        entries.into_iter().find(|entry| entry["backend"] == name)
    };
    if in_list("not_in_this_build").is_some() {
        return format!("these programs were built without {name}; build them with --features {name}");
    }
    let remedy = in_list("unusable").and_then(|entry| entry["remedy"].as_str());
    format!("{name}: {}", remedy.unwrap_or("no device here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn look(inventory: Value) -> (Outcome, Option<Device>) {
        let mut outcome = Outcome::with_report("devices", inventory);
        let device = Device::read(&mut outcome, Backend::Wgpu);
        (outcome, device)
    }

    #[test]
    fn the_first_device_of_the_backend_is_taken() {
        let entry = |backend: &str, name: &str, kind: &str| json!({"backend": backend, "name": name, "kind": kind, "precisions": ["f32"]});
        let inventory =
            json!({"devices": [entry("cuda", "a", "discrete_gpu"), entry("wgpu", "b", "software"), entry("wgpu", "c", "other")]});
        let (outcome, device) = look(inventory);
        let device = device.unwrap();
        assert_eq!((device.name.as_str(), device.is_processor()), ("b", true));
        assert_eq!(outcome.state, State::Done);
    }

    #[test]
    fn without_a_device_the_error_gives_the_reason() {
        let (outcome, device) =
            look(json!({"devices": [], "unusable": [{"backend": "wgpu", "remedy": "device 0 cannot be used: no"}]}));
        assert_eq!(
            (device, outcome.state),
            (None, State::Failed("wgpu: device 0 cannot be used: no".to_owned()))
        );
        let (outcome, _) = look(json!({"not_in_this_build": [{"backend": "wgpu", "remedy": "cargo run"}]}));
        let expected = "these programs were built without wgpu; build them with --features wgpu";
        assert_eq!(outcome.state, State::Failed(expected.to_owned()));
    }
}
