//! One command of a part: its arguments, what it leaves behind, and how it ended.

use super::{
    beside,
    process::{self, End, Limits},
    profile::{self, ProfileReport},
};
use crate::timing::{Benchmark, ResultsFolder, duration, median};
use bcl_files::{FileError, create_folder, write_whole};
use bcl_report::result::EpochRecord;
use serde::Serialize;
use serde_json::Value;
use std::{
    ffi::{OsStr, OsString},
    fs, mem,
    path::{self, Path, PathBuf},
    process::Command,
};

/// A command to run.
pub(super) struct Job {
    /// What tells it from the other jobs of its part; empty if it is the only one.
    pub(super) label: String,
    pub(super) arguments: Vec<OsString>,
    program: PathBuf,
    kind: JobKind,
}

/// What a job leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobKind {
    /// Nothing but what it prints.
    Printed,
    /// What a verb saves.
    Saved(&'static str),
    /// A table, with the records of its runs.
    Training,
    /// A log of kernels.
    Profile,
    /// Lines of the script for PyTorch.
    Torch,
}

/// The outcome of a job.
#[derive(Debug, Default, Serialize)]
pub struct JobRecord {
    /// What tells it from the other jobs of its part; empty if it is the only one.
    pub label: String,
    /// The command line, ready to be typed into a shell.
    pub command: String,
    /// How long it took.
    pub seconds: f64,
    /// `None` if it was stopped or killed by a signal.
    pub exit_code: Option<i32>,
    /// Whether its time ran out.
    pub stopped: bool,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Its results, as they are shown.
    pub text: String,
    /// Its results in full, if it leaves any; incomplete if it was stopped.
    pub report: Option<Value>,
}

/// The folder of the files that jobs write.
pub(super) struct JobFolder(pub(super) PathBuf);

impl JobFolder {
    /// Creates the folder beside the results file.
    pub(super) fn beside(out: &Path) -> Result<Self, FileError> {
        let folder = out.with_extension("parts");
        // Some jobs run in another folder.
        let folder = path::absolute(&folder).map_err(FileError::io("find", &folder))?;
        create_folder(&folder)?;
        Ok(Self(folder))
    }
}

impl Job {
    pub(super) fn new(program: &Path, label: &str, kind: JobKind) -> Self {
        Self {
            label: label.to_owned(),
            program: program.to_owned(),
            arguments: Vec::new(),
            kind,
        }
    }

    /// Its share of the part's time relative to the others'. PyTorch compiles nothing.
    pub(super) fn weight(&self) -> f64 {
        if self.kind == JobKind::Torch { 1.0 } else { 3.0 }
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

    /// Runs the job within the limits. A job of PyTorch is compared with the one before it.
    pub(super) fn run(self, part: &str, folder: &JobFolder, limits: &Limits<'_>, before: Option<&JobRecord>) -> JobRecord {
        let start = std::time::Instant::now();
        let mut record = JobRecord {
            label: self.label.clone(),
            ..JobRecord::default()
        };
        if let Err(error) = self.fill(&mut record, part, folder, limits, before) {
            record.failure = Some(error.to_string());
        }
        record.seconds = start.elapsed().as_secs_f64();
        if record.text.is_empty() && record.exit_code == Some(0) {
            record.text.push_str("it left no result");
        }
        if self.kind == JobKind::Torch {
            // What goes wrong in PyTorch is no failure of this program.
            let stopped = mem::take(&mut record.stopped).then(|| "stopped: time ran out".to_owned());
            let lines = [mem::take(&mut record.text)]
                .into_iter()
                .chain(record.failure.take())
                .chain(stopped);
            record.text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        }
        record
    }

    fn fill(
        &self,
        record: &mut JobRecord,
        part: &str,
        JobFolder(folder): &JobFolder,
        limits: &Limits<'_>,
        before: Option<&JobRecord>,
    ) -> Result<(), FileError> {
        let name = plain(&format!("{part} {}", self.label));
        let [stdout, stderr, own] = ["out", "log", "runs"].map(|kind| folder.join(format!("{name}.{kind}")));
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        // What an earlier call left.
        clear(&own)?;
        match self.kind {
            JobKind::Printed | JobKind::Torch => {}
            JobKind::Training => drop(command.arg("--out").arg(&own)),
            JobKind::Profile => {
                create_folder(&own)?;
                write_whole(&own.join("cubecl.toml"), profile::SETTINGS.as_bytes())?;
                command.current_dir(&own);
            }
            JobKind::Saved(verb) => {
                clear(&ResultsFolder::new(Some(folder)).file(verb, &name))?;
                command.args(["--save", &name, "--results"]).arg(folder);
            }
        }
        record.command = typed(&command);
        let end = process::run(&mut command, limits, &stdout, &stderr).map_err(FileError::io("run", &self.program))?;
        let printed = String::from_utf8_lossy(&fs::read(&stdout).unwrap_or_default())
            .trim_end()
            .to_owned();
        (record.text, record.report) = match self.kind {
            JobKind::Printed => (printed, None),
            JobKind::Saved(verb) => match Benchmark::read(verb, &ResultsFolder::new(Some(folder)).file(verb, &name)) {
                Ok(benchmark) => (benchmark.to_string(), Some(plain_data(&benchmark))),
                Err(_) => (printed, None),
            },
            JobKind::Training => {
                let runs = runs(&own);
                let lines = runs.iter().filter_map(|(name, epochs)| epochs_of(name, epochs));
                let lines: Vec<String> = lines.chain([printed]).collect();
                (
                    lines.join("\n").trim().to_owned(),
                    (!runs.is_empty()).then(|| plain_data(&runs)),
                )
            }
            JobKind::Profile => {
                let log = fs::read(own.join(profile::LOG)).unwrap_or_default();
                match ProfileReport::of(&String::from_utf8_lossy(&log)) {
                    Some(profile) => (profile.to_string(), Some(plain_data(&profile))),
                    None => (String::new(), None),
                }
            }
            JobKind::Torch => beside::beside(&printed, before.and_then(|before| before.report.as_ref())),
        };
        match end {
            End::Stopped => record.stopped = true,
            End::Exited(code) => {
                record.exit_code = code;
                if code != Some(0) {
                    record.failure = Some(complaint(&fs::read(&stderr).unwrap_or_default(), code));
                }
            }
        }
        Ok(())
    }
}

fn plain_data(report: &impl Serialize) -> Value {
    serde_json::to_value(report).expect("a report is plain data")
}

/// Removes a file or folder, if it is there.
fn clear(path: &Path) -> Result<(), FileError> {
    let cleared = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match cleared {
        Err(error) if path.exists() => Err(FileError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// The epochs so far of all runs of a table, by name.
fn runs(table: &Path) -> Vec<(String, Vec<EpochRecord>)> {
    let entries = fs::read_dir(table.join("test")).into_iter().flatten().flatten();
    let mut runs: Vec<_> = entries
        .filter_map(|entry| {
            let metrics = fs::read_to_string(entry.path().join("metrics.jsonl")).ok()?;
            // The last line may be cut off.
            let epochs = metrics.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            Some((entry.file_name().to_string_lossy().into_owned(), epochs))
        })
        .collect();
    runs.sort_by(|one, other| one.0.cmp(&other.0));
    runs
}

/// The time of the first epoch, which compiles kernels, and of the others.
fn epochs_of(run: &str, epochs: &[EpochRecord]) -> Option<String> {
    let (first, others) = epochs.split_first()?;
    let others: Vec<f64> = others.iter().map(|epoch| epoch.train_seconds).collect();
    let median = match others.len() {
        0 => String::new(),
        count => format!(", median of the other {count}: {}", duration(median(others))),
    };
    let first = duration(first.train_seconds);
    Some(format!("{run}: first epoch {first} (compiles or loads kernels){median}"))
}

/// A name for files.
fn plain(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    name.trim().chars().map(plain).collect()
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

/// The command as one would type it, with its folder if that is another one, and with the program's name only.
fn typed(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = [program].into_iter().chain(command.get_args());
    let quote = |word: &OsStr| {
        let word = word.to_string_lossy();
        if word.contains([' ', '"', '[', '{', '*']) {
            format!("'{word}'")
        } else {
            word.into_owned()
        }
    };
    let typed = words.map(quote).collect::<Vec<_>>().join(" ");
    match command.get_current_dir() {
        Some(folder) => format!("cd {} && {typed}", quote(folder.as_os_str())),
        None => typed,
    }
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
        let mut command = Command::new("/some/where/bcl-bench");
        command
            .args(["table", "--set", "evaluation.baselines=[]"])
            .current_dir("my results");
        assert_eq!(
            typed(&command),
            "cd 'my results' && bcl-bench table --set 'evaluation.baselines=[]'"
        );
    }
}
