//! The outcome of a part.

use super::job::JobRecord;
use serde::Serialize;
use std::fmt;

/// How a part ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "why", rename_all = "snake_case")]
pub enum State {
    /// All of it is done.
    Done,
    /// Not run, for this reason.
    Skipped(String),
    /// A command failed; this is the error of the first that did.
    Failed(String),
    /// Its time ran out; measurements so far are kept.
    Stopped,
}

/// A part, how it ended, and its reports.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Name of the part.
    pub part: &'static str,
    /// How it ended.
    #[serde(flatten)]
    pub state: State,
    /// How long it took.
    pub seconds: f64,
    /// Its commands.
    pub jobs: Vec<JobRecord>,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Skipped(why) => write!(f, "skipped: {why}"),
            Self::Failed(why) => write!(f, "failed: {why}"),
            Self::Stopped => f.write_str("stopped: time ran out"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:.1} s): {}", self.part, self.seconds, self.state)?;
        self.findings().iter().try_for_each(|finding| write!(f, "\n  {finding}"))
    }
}

impl Outcome {
    pub(super) fn of_nothing(part: &'static str, state: State) -> Self {
        Self {
            part,
            state,
            seconds: 0.0,
            jobs: Vec::new(),
        }
    }

    /// Combines the jobs of a part. A failed job takes precedence over a stopped one.
    pub(super) fn of(part: &'static str, jobs: Vec<JobRecord>) -> Self {
        let failure = jobs.iter().find_map(|job| job.failure.clone());
        let state = match failure {
            Some(why) => State::Failed(why),
            None if jobs.iter().any(|job| job.stopped) => State::Stopped,
            None => State::Done,
        };
        Self {
            part,
            state,
            seconds: jobs.iter().map(|job| job.seconds).sum(),
            jobs,
        }
    }

    /// All findings, one per line, each with the label of its job.
    pub(super) fn findings(&self) -> Vec<String> {
        let of_job = |job: &JobRecord| {
            let label = job.label.clone();
            let say = move |finding: &String| match label.as_str() {
                "" => finding.clone(),
                label => format!("{label}: {finding}"),
            };
            job.findings.iter().map(say).collect::<Vec<_>>()
        };
        self.jobs.iter().flat_map(of_job).collect()
    }
}

#[cfg(test)]
impl JobRecord {
    pub(super) fn of_test(label: &str, findings: &[&str]) -> Self {
        Self {
            label: label.to_owned(),
            command: String::new(),
            seconds: 1.5,
            exit_code: Some(0),
            stopped: false,
            failure: None,
            findings: findings.iter().map(ToString::to_string).collect(),
            report: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_weighs_more_than_a_stop() {
        let good = || JobRecord::of_test("", &[]);
        let stopped = || JobRecord { stopped: true, ..good() };
        let failed = || JobRecord {
            failure: Some("no".to_owned()),
            ..good()
        };
        let state = |jobs: Vec<JobRecord>| Outcome::of("steps", jobs).state;
        assert_eq!(state(vec![good(), good()]), State::Done);
        assert_eq!(state(vec![good(), stopped()]), State::Stopped);
        assert_eq!(state(vec![stopped(), failed()]), State::Failed("no".to_owned()));
    }

    #[test]
    fn findings_have_the_label_of_their_job() {
        let jobs = vec![JobRecord::of_test("ResNet-18", &["a", "b"]), JobRecord::of_test("", &["c"])];
        let outcome = Outcome::of("steps", jobs);
        assert_eq!(outcome.findings(), ["ResNet-18: a", "ResNet-18: b", "c"]);
        assert_eq!(
            outcome.to_string(),
            "steps (3.0 s): done\n  ResNet-18: a\n  ResNet-18: b\n  c"
        );
    }
}
