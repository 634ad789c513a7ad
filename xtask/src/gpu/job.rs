//! One command of a part: its arguments, where it leaves its report, and how the report is read.

use super::process::{self, End};
use super::programs::{Program, Programs};
use anyhow::Context;
use serde::Serialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Where to read the report of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportSource {
    /// JSON on its standard output.
    Printed,
    /// JSON in the file given by `--json FILE`, updated from the first result on.
    Written,
    /// A run folder below `--out DIR`: one line of JSON per epoch, and a result at the end.
    Run,
}

/// A command to run.
pub(super) struct Job {
    label: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    source: ReportSource,
    /// Summarises a report, which may be incomplete.
    finding: fn(&Value) -> Vec<String>,
}

/// The outcome of a job.
#[derive(Debug, Clone, Serialize)]
pub(super) struct JobRecord {
    pub(super) label: String,
    /// The command line, ready to be typed into a shell.
    pub(super) command: String,
    pub(super) seconds: f64,
    /// `None` if it was stopped or killed by a signal.
    pub(super) exit_code: Option<i32>,
    pub(super) stopped: bool,
    /// Why it failed, if it did.
    pub(super) failure: Option<String>,
    pub(super) findings: Vec<String>,
    /// The program's full report.
    pub(super) report: Option<Value>,
}

/// The folder of the files that jobs write.
pub(super) struct JobFolder {
    folder: PathBuf,
}

impl JobFolder {
    /// Creates the folder beside the results file.
    pub(super) fn beside(out: &Path) -> anyhow::Result<Self> {
        let folder = out.with_extension("parts");
        fs::create_dir_all(&folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        Ok(Self { folder })
    }

    /// Path of a job's file or folder. Removes what an earlier call left there.
    fn path(&self, part: &str, label: &str, kind: &str) -> anyhow::Result<PathBuf> {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        };
        let name: String = format!("{part} {label}").trim().chars().map(plain).collect();
        let path = self.folder.join(format!("{name}.{kind}"));
        let cleared = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        match cleared {
            Err(error) if path.exists() => Err(error).with_context(|| format!("cannot remove {}", path.display())),
            _ => Ok(path),
        }
    }
}

impl Job {
    pub(super) fn new(
        programs: &Programs,
        program: Program,
        label: &str,
        source: ReportSource,
        finding: fn(&Value) -> Vec<String>,
    ) -> Self {
        Self {
            label: label.to_owned(),
            program: programs.path(program),
            arguments: Vec::new(),
            source,
            finding,
        }
    }

    /// Tells the job from the others of its part; empty if it is the only one.
    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// Adds arguments separated by spaces.
    pub(super) fn words(mut self, words: &str) -> Self {
        self.arguments.extend(words.split_whitespace().map(OsString::from));
        self
    }

    /// Adds one argument, such as a path.
    pub(super) fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Runs the job and stops it at the deadline.
    pub(super) fn run(self, part: &str, job_folder: &JobFolder, deadline: Instant) -> JobRecord {
        let start = Instant::now();
        let mut record = JobRecord {
            label: self.label.clone(),
            command: String::new(),
            seconds: 0.0,
            exit_code: None,
            stopped: false,
            failure: None,
            findings: Vec::new(),
            report: None,
        };
        if let Err(error) = self.fill(&mut record, part, job_folder, deadline) {
            record.failure = Some(format!("{error:#}"));
        }
        record.seconds = start.elapsed().as_secs_f64();
        record
    }

    fn fill(self, record: &mut JobRecord, part: &str, job_folder: &JobFolder, deadline: Instant) -> anyhow::Result<()> {
        let path = |kind| job_folder.path(part, &self.label, kind);
        let (stdout, stderr) = (path("out")?, path("log")?);
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        let report = match self.source {
            ReportSource::Printed => {
                command.arg("--json");
                stdout.clone()
            }
            ReportSource::Written => {
                let file = path("json")?;
                command.arg("--json").arg(&file);
                file
            }
            ReportSource::Run => {
                let folder = path("runs")?;
                command.arg("--out").arg(&folder);
                folder
            }
        };
        record.command = typed(&command);
        let end = process::run_until(&mut command, deadline, &stdout, &stderr)
            .with_context(|| format!("cannot run {}", self.program.display()))?;
        record.report = match self.source {
            ReportSource::Run => run_folder(&report),
            ReportSource::Printed | ReportSource::Written => whole(&report),
        };
        record.findings = record.report.as_ref().map(self.finding).unwrap_or_default();
        match end {
            End::Stopped => record.stopped = true,
            End::Exited(code) => {
                record.exit_code = code;
                if code != Some(0) {
                    record.failure = Some(complaint(&fs::read(&stderr)?, code));
                }
            }
        }
        Ok(())
    }
}

/// The program's last error line, or else how it ended.
fn complaint(stderr: &[u8], code: Option<i32>) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // A hint may follow the error, and a program may end without any error line.
    let error = lines().rfind(|line| line.starts_with("error"));
    match (error, code) {
        (Some(error), _) => error.trim_start_matches("error:").trim().to_owned(),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => format!(
            "killed by a signal; its last output was: {}",
            lines().next_back().unwrap_or("nothing")
        ),
    }
}

/// Reads a JSON file; `None` if it is missing or incomplete.
fn whole(file: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Reads the results so far of the only run below a folder.
fn run_folder(out: &Path) -> Option<Value> {
    let folder = find(out, "metrics.jsonl")?;
    let metrics = fs::read_to_string(folder.join("metrics.jsonl")).ok()?;
    let epochs: Vec<Value> = metrics.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Some(json!({ "epochs": epochs, "result": whole(&folder.join("result.json")) }))
}

/// Finds the folder that contains a file of this name, at any depth: run names contain slashes.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    if folder.join(name).is_file() {
        return Some(folder.to_path_buf());
    }
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .find_map(|path| find(&path, name))
}

/// The command as one would type it, with the program's name only.
fn typed(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = [program].into_iter().chain(command.get_args());
    let quoted = words.map(|word| {
        let word = word.to_string_lossy();
        if word.contains([' ', '"', '[', '{', '*']) {
            format!("'{word}'")
        } else {
            word.into_owned()
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_the_error_and_not_the_hint_after_it() {
        let text = b"gpu: going\nerror: there is no file x\n\nFor more information, try '--help'.\n";
        assert_eq!(complaint(text, Some(2)), "there is no file x");
        assert_eq!(complaint(b"round 1 of 5\n", Some(1)), "exit code 1");
        assert_eq!(
            complaint(b"round 1\n", None),
            "killed by a signal; its last output was: round 1"
        );
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let mut command = Command::new("/some/where/bcl-train");
        command.args(["train", "--set", "evaluation.baselines=[]"]);
        assert_eq!(typed(&command), "bcl-train train --set 'evaluation.baselines=[]'");
    }

    #[test]
    fn a_run_that_was_stopped_has_its_epochs() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("table3/cifar10/bayesian-0");
        fs::create_dir_all(&run).unwrap();
        fs::write(run.join("metrics.jsonl"), "{\"epoch\":1}\n{\"epoch\":2}\n{\"ep").unwrap();
        let report = run_folder(folder.path()).unwrap();
        assert_eq!(report, json!({"epochs": [{"epoch": 1}, {"epoch": 2}], "result": null}));
    }

    #[test]
    fn files_of_an_earlier_call_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let job_folder = JobFolder::beside(&folder.path().join("cuda.json")).unwrap();
        let path = || job_folder.path("steps", "ResNet-18 f32", "json").unwrap();
        fs::write(path(), "old").unwrap();
        assert_eq!(path(), folder.path().join("cuda.parts/steps-resnet-18-f32.json"));
        assert!(!path().exists());
    }
}
