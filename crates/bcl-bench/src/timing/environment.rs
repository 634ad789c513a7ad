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
            available_mib: super::memory::available(),
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

    /// One line per property that both environments know and that differs. The revision and the free memory do not count.
    pub(super) fn differences(&self, new: &Self) -> Vec<String> {
        let properties = |of: &Self| {
            [
                ("backend", Some(of.backend.clone())),
                ("device", Some(of.device.clone())),
                ("driver", of.driver.clone()),
                ("system", Some(of.system.clone())),
                ("processor", Some(of.processor.clone())),
                ("threads", Some(of.threads.to_string())),
                ("profile", of.profile.clone()),
                ("version", Some(of.version.clone())),
            ]
        };
        let both = properties(self).into_iter().zip(properties(new));
        let differing = both.filter_map(|((name, old), (_, new))| {
            let (old, new) = old.zip(new)?;
            (old != new).then(|| format!("{name} was {old} and is {new}"))
        });
        differing.collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_listed_except_the_revision_and_what_one_side_does_not_know() {
        let old = Environment {
            profile: Some("debug".to_owned()),
            ..Environment::read(1)
        };
        let mut new = Environment {
            revision: Some("another".to_owned()),
            available_mib: Some(1.0),
            driver: Some("1".to_owned()),
            ..old.clone()
        };
        assert_eq!(old.differences(&new), Vec::<String>::new());
        (new.threads, new.profile) = (7, Some("release".to_owned()));
        assert_eq!(
            old.differences(&new),
            ["threads was 1 and is 7", "profile was debug and is release"]
        );
    }
}
