//! The results as one table and one JSON file.

use super::outcome::{Outcome, State};
use crate::Environment;
use bcl_backend::DeviceInfo;
use bcl_report::{
    Column, Table,
    files::{FileError, write_whole},
};
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
    /// The time limit of all parts together.
    pub minutes: f64,
    /// The time they took.
    pub seconds: f64,
    /// The parts so far.
    pub parts: Vec<Outcome>,
}

impl GpuResults {
    pub(super) fn new(device: &DeviceInfo, minutes: f64) -> Self {
        Self {
            date: now(),
            environment: Environment::read(rayon::current_num_threads()).on(device),
            device: device.clone(),
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
        let mut rows = Vec::new();
        for part in &self.parts {
            let mut findings = part.findings().into_iter();
            let first = findings.next().unwrap_or_else(|| "-".to_owned());
            let seconds = format!("{:.1}", part.seconds);
            rows.push([part.part.to_owned(), first, seconds, part.state.to_string()]);
            rows.extend(findings.map(|finding| [String::new(), finding, String::new(), String::new()]));
        }
        let columns = [
            Column::text("part"),
            Column::text("result"),
            Column::number("seconds"),
            Column::text("state"),
        ];
        Table::new(columns, rows).fmt(f)?;
        let DeviceInfo {
            backend, name, driver, ..
        } = &self.device;
        let driver = driver.as_ref().map_or_else(String::new, |driver| format!(", {driver}"));
        let revision = self.environment.revision.as_deref().unwrap_or("unknown");
        write!(
            f,
            "\n{backend} on {name}{driver}, commit {revision}, {}: {:.0} s of {} minutes.",
            self.date, self.seconds, self.minutes
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::JobRecord;
    use super::*;
    use bcl_backend::{Backend, BackendChoice};

    fn results(outcomes: Vec<Outcome>) -> GpuResults {
        let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
        let mut results = GpuResults::new(backend.info(), 20.0);
        for outcome in outcomes {
            results.add(outcome);
        }
        results
    }

    #[test]
    fn the_table_has_a_row_per_part_and_a_line_per_finding() {
        let steps = Outcome::of("steps", vec![JobRecord::of_test("ResNet-18", &["12 ms", "13 ms"])]);
        let parity = Outcome::of_nothing("parity", State::Skipped("no file".to_owned()));
        let text = results(vec![steps, parity]).to_string();
        let lines: Vec<&str> = text.lines().take(4).collect();
        assert_eq!(
            lines,
            [
                "part    result            seconds  state",
                "steps   ResNet-18: 12 ms      1.5  done",
                "        ResNet-18: 13 ms",
                "parity  -                     0.0  skipped: no file",
            ]
        );
        assert!(text.contains("flex on "), "{text}");
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
