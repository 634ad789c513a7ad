//! One command of a part: its arguments, what it leaves behind, and how it ended.

use super::{
    process::{self, End},
    profile,
    report::{JobReport, ReportKind, ReportPlace},
};
use crate::results::ResultsFolder;
use bcl_files::{FileError, create_folder, write_whole};
use serde::Serialize;
use std::{
    ffi::{OsStr, OsString},
    fs, mem,
    path::{self, Path, PathBuf},
    process::Command,
    time::Instant,
};

/// A command to run.
pub(super) struct Job {
    label: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    kind: ReportKind,
}

/// The outcome of a job.
#[derive(Debug, Serialize)]
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
    /// Its results in a few lines.
    pub findings: Vec<String>,
    /// Its results in full.
    pub report: Option<JobReport>,
}

/// The folder of the files that jobs write.
pub(super) struct JobFolder(PathBuf);

impl JobFolder {
    /// Creates the folder beside the results file.
    pub(super) fn beside(out: &Path) -> Result<Self, FileError> {
        let folder = out.with_extension("parts");
        // Some jobs run in another folder.
        let folder = path::absolute(&folder).map_err(FileError::io("find", &folder))?;
        create_folder(&folder)?;
        Ok(Self(folder))
    }

    /// A file in the folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Removes what an earlier call left at a path.
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
}

impl Job {
    pub(super) fn new(program: &Path, label: &str, kind: ReportKind) -> Self {
        Self {
            label: label.to_owned(),
            program: program.to_owned(),
            arguments: Vec::new(),
            kind,
        }
    }

    /// Tells the job from the others of its part; empty if it is the only one.
    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// Its share of the part's time relative to the others'. PyTorch compiles nothing.
    pub(super) fn weight(&self) -> f64 {
        if self.kind == ReportKind::Torch { 1.0 } else { 3.0 }
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

    /// The verb and its arguments.
    #[cfg(test)]
    pub(super) fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// Runs the job and stops it at the deadline. A job of PyTorch is compared with the one before it.
    pub(super) fn run(self, part: &str, folder: &JobFolder, deadline: Instant, before: Option<&JobRecord>) -> JobRecord {
        let kind = self.kind;
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
        if let Err(error) = self.fill(&mut record, part, folder, deadline) {
            record.failure = Some(error.to_string());
        }
        record.seconds = start.elapsed().as_secs_f64();
        record.summarise(kind, before);
        record
    }

    fn fill(self, record: &mut JobRecord, part: &str, JobFolder(folder): &JobFolder, deadline: Instant) -> Result<(), FileError> {
        let name = plain(&format!("{part} {}", self.label));
        let [stdout, stderr, own] = ["out", "log", "runs"].map(|kind| folder.join(format!("{name}.{kind}")));
        let place = ReportPlace {
            stdout: &stdout,
            saved: ResultsFolder::new(Some(folder)),
            name: &name,
            folder: own,
        };
        let saved = self.kind.verb().map(|verb| place.saved.file(verb, &name));
        for path in [Some(&stdout), Some(&stderr), Some(&place.folder), saved.as_ref()]
            .into_iter()
            .flatten()
        {
            JobFolder::clear(path)?;
        }
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        match self.kind {
            ReportKind::Parity => command.arg("--json"),
            ReportKind::Training => command.arg("--out").arg(&place.folder),
            ReportKind::Profile => {
                create_folder(&place.folder)?;
                write_whole(&place.folder.join("cubecl.toml"), profile::SETTINGS.as_bytes())?;
                command.current_dir(&place.folder)
            }
            ReportKind::Torch => &mut command,
            ReportKind::Kernels | ReportKind::Loss | ReportKind::Step => command.args(["--save", &name, "--results"]).arg(folder),
        };
        record.command = typed(&command);
        let end = process::run_until(&mut command, deadline, &stdout, &stderr).map_err(FileError::io("run", &self.program))?;
        record.report = self.kind.read(&place);
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

impl JobRecord {
    fn summarise(&mut self, kind: ReportKind, before: Option<&Self>) {
        self.findings = match &self.report {
            Some(report) => report.findings(before.and_then(|before| before.report.as_ref())),
            None if self.exit_code == Some(0) => vec!["it left no result".to_owned()],
            None => Vec::new(),
        };
        // What goes wrong in PyTorch is no failure of this program.
        if kind == ReportKind::Torch {
            self.findings.extend(self.failure.take());
            if mem::take(&mut self.stopped) {
                self.findings.push("stopped: time ran out".to_owned());
            }
        }
    }
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
        command.args(["gpu-training", "--set", "evaluation.baselines=[]"]);
        assert_eq!(typed(&command), "bcl-bench gpu-training --set 'evaluation.baselines=[]'");
        let mut command = Command::new("bcl-bench");
        command.arg("step").current_dir("my results");
        assert_eq!(typed(&command), "cd 'my results' && bcl-bench step");
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(plain("steps ResNet-18 f32"), "steps-resnet-18-f32");
        assert_eq!(plain("kernels "), "kernels");
    }
}
