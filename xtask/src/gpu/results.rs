//! The results as one table and one JSON file.

use super::backend::{Backend, Device};
use super::outcome::{Outcome, State};
use crate::root;
use anyhow::Context;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::fs;
use std::path::Path;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// What ran, where and when, with the results.
#[derive(Debug, Serialize)]
pub(super) struct Results {
    /// Start time in UTC.
    date: String,
    /// Git revision of the source.
    commit: Option<String>,
    version: &'static str,
    backend: Backend,
    pub(super) device: Option<Device>,
    /// The time limit of all parts together.
    minutes: f64,
    /// The time they took.
    pub(super) seconds: f64,
    parts: Vec<Outcome>,
}

impl Results {
    pub(super) fn new(backend: Backend, minutes: f64) -> Self {
        Self {
            date: now(),
            commit: revision(),
            version: env!("CARGO_PKG_VERSION"),
            backend,
            device: None,
            minutes,
            seconds: 0.0,
            parts: Vec::new(),
        }
    }

    /// Adds a part and writes everything so far.
    pub(super) fn add(&mut self, outcome: Outcome, out: &Path) -> anyhow::Result<()> {
        self.seconds += outcome.seconds;
        // Prebuilt programs know the git revision of their source even if the source is not here.
        let built_from = outcome
            .jobs
            .iter()
            .filter_map(|job| job.report.as_ref())
            .find_map(revision_of_program);
        self.commit = self.commit.take().or(built_from);
        self.parts.push(outcome);
        self.write(out)
    }

    pub(super) fn write(&self, out: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self).expect("results are plain data");
        fs::write(out, text).with_context(|| format!("cannot write {}", out.display()))
    }

    /// Returns whether a part failed.
    pub(super) fn failed(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.state, State::Failed(_)))
    }
}

/// The current time in UTC, to the second.
fn now() -> String {
    let now = OffsetDateTime::now_utc().truncate_to_second();
    now.format(&Rfc3339).unwrap_or_default()
}

fn revision() -> Option<String> {
    let root = root::workspace_root();
    if !root.is_dir() {
        return None;
    }
    let output = root::stdout_of(root::git(&root).args(["describe", "--always", "--dirty"])).ok()?;
    Some(String::from_utf8(output).ok()?.trim().to_owned()).filter(|revision| !revision.is_empty())
}

fn revision_of_program(report: &Value) -> Option<String> {
    let revision = report.pointer("/result/environment/git_revision")?.as_str()?;
    Some(revision.to_owned())
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![["part", "result", "seconds", "state"].map(str::to_owned)];
        for part in &self.parts {
            let mut findings = part.findings().into_iter();
            let first = findings.next().unwrap_or_else(|| "-".to_owned());
            let seconds = format!("{:.1}", part.seconds);
            rows.push([part.part.to_owned(), first, seconds, part.state.to_string()]);
            rows.extend(findings.map(|finding| [String::new(), finding, String::new(), String::new()]));
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let [part, result, seconds] = [0, 1, 2].map(width);
        for row in &rows {
            let line = format!("{:part$}  {:result$}  {:>seconds$}  {}", row[0], row[1], row[2], row[3]);
            writeln!(f, "{}", line.trim_end())?;
        }
        let device = self.device.as_ref().map_or("no device", |device| device.name.as_str());
        let driver = self.device.as_ref().and_then(|device| device.driver.clone());
        let commit = self.commit.as_deref().unwrap_or("unknown");
        write!(f, "\n{} on {device}", self.backend.name())?;
        if let Some(driver) = driver {
            write!(f, ", {driver}")?;
        }
        write!(
            f,
            ", commit {commit}, {}: {:.0} s of {} minutes.",
            self.date, self.seconds, self.minutes
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::JobRecord;
    use super::*;
    use serde_json::json;

    fn report(outcomes: Vec<Outcome>) -> (Results, Value) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("gpu.json");
        let mut report = Results::new(Backend::Wgpu, 20.0);
        for outcome in outcomes {
            report.add(outcome, &out).unwrap();
        }
        let file = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
        (report, file)
    }

    #[test]
    fn the_table_has_a_row_per_part_and_a_line_per_finding() {
        let steps = Outcome::of("steps", vec![JobRecord::of_test("ResNet-18", &["12 ms", "13 ms"])]);
        let parity = Outcome::of_nothing("parity", State::Skipped("no file".to_owned()));
        let (report, _) = report(vec![steps, parity]);
        let text = report.to_string();
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
        assert!(text.contains("wgpu on no device"), "{text}");
    }

    #[test]
    fn only_a_failure_fails() {
        let part = |state| Outcome::of_nothing("parity", state);
        assert!(
            !report(vec![
                part(State::Done),
                part(State::Skipped(String::new())),
                part(State::Stopped)
            ])
            .0
            .failed()
        );
        let (failed, file) = report(vec![part(State::Done), part(State::Failed("off".to_owned()))]);
        assert!(failed.failed());
        assert_eq!(
            (&file["parts"][1]["state"], &file["parts"][1]["why"]),
            (&json!("failed"), &json!("off"))
        );
        assert_eq!(file["parts"][0]["state"], "done");
    }

    #[test]
    fn without_the_source_the_programs_tell_the_revision() {
        let training = json!({"result": {"environment": {"git_revision": "abc123"}}});
        assert_eq!(revision_of_program(&training).as_deref(), Some("abc123"));
        assert_eq!(revision_of_program(&json!({"result": null})), None);
    }
}
