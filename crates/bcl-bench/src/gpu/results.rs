//! The results as one JSON file.

use super::outcome::{Outcome, State};
use crate::Environment;
use bcl_backend::DeviceInfo;
use bcl_files::{FileError, write_whole};
use serde::Serialize;
use std::{fmt, path::Path};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// What ran, where and when, with the results.
#[derive(Debug, Serialize)]
pub struct GpuResults {
    /// Start time in UTC.
    pub date: String,
    /// Machine and build.
    pub environment: Environment,
    /// The device that computed.
    pub device: DeviceInfo,
    /// The version of PyTorch that is measured, too, or why there is none.
    pub pytorch: String,
    /// The time limit of all parts together.
    pub minutes: f64,
    /// The time they took.
    pub seconds: f64,
    /// The parts so far.
    pub parts: Vec<Outcome>,
}

impl GpuResults {
    pub(super) fn new(device: &DeviceInfo, minutes: f64, pytorch: String) -> Self {
        Self {
            date: now(),
            environment: Environment::read(rayon::current_num_threads()).on(device),
            device: device.clone(),
            pytorch,
            minutes,
            seconds: 0.0,
            parts: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, outcome: Outcome) {
        self.seconds += outcome.seconds;
        self.parts.push(outcome);
    }

    pub(super) fn write(&self, out: &Path) -> Result<(), FileError> {
        write_whole(out, &serde_json::to_vec_pretty(self).expect("results are plain data"))
    }

    /// Whether a part failed.
    pub fn failed(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.state, State::Failed(_)))
    }
}

/// The current time in UTC, to the second.
fn now() -> String {
    let now = OffsetDateTime::now_utc().truncate_to_second();
    now.format(&Rfc3339).unwrap_or_default()
}

impl fmt::Display for GpuResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceInfo {
            backend, name, driver, ..
        } = &self.device;
        let driver = driver.as_ref().map_or_else(String::new, |driver| format!(", {driver}"));
        let revision = self.environment.revision.as_deref().unwrap_or("unknown");
        write!(
            f,
            "{backend} on {name}{driver}, commit {revision}, {}: {:.0} s of {} minutes.\nPyTorch: {}.",
            self.date, self.seconds, self.minutes, self.pytorch
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_backend::{Backend, BackendChoice};

    fn results(outcomes: Vec<Outcome>) -> GpuResults {
        let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
        let mut results = GpuResults::new(backend.info(), 10.0, "measured beside CUDA only".to_owned());
        for outcome in outcomes {
            results.add(outcome);
        }
        results
    }

    #[test]
    fn the_last_lines_name_the_device_the_time_and_pytorch() {
        let text = results(Vec::new()).to_string();
        assert!(text.starts_with("flex on "), "{text}");
        assert!(
            text.ends_with(": 0 s of 10 minutes.\nPyTorch: measured beside CUDA only."),
            "{text}"
        );
    }

    #[test]
    fn only_a_failure_fails() {
        let part = |state| Outcome::of_nothing("parity", state);
        let passed = [State::Done, State::Skipped(String::new()), State::Stopped].map(part);
        assert!(!results(passed.into()).failed());
        let failed = results([State::Done, State::Failed("off".to_owned())].map(part).into());
        assert!(failed.failed());
        let file = serde_json::to_value(&failed).expect("plain data");
        assert_eq!(
            (&file["parts"][1]["state"], &file["parts"][1]["why"]),
            (&"failed".into(), &"off".into())
        );
        assert_eq!(file["parts"][0]["state"], "done");
    }
}
