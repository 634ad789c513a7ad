//! Runs a build: its output goes to a file, its progress to the terminal.

use super::{BuildError, mpi, output, progress::Progress, shown};
use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

/// A build of the program with more than the default.
pub(super) struct Job {
    /// What messages call it.
    pub(super) what: String,
    pub(super) command: Command,
    pub(super) folder: PathBuf,
    pub(super) log: PathBuf,
}

impl Job {
    /// Runs the build. `crates` counts the crates to compile, if possible. Prints nothing if everything is up to date.
    pub(super) fn run(mut self, crates: impl Fn() -> Option<u64>, quiet: bool) -> Result<(), BuildError> {
        let program = PathBuf::from(self.command.get_program());
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|source| BuildError::start(&program, source))?;
        let stderr = child.stderr.take().expect("stderr is piped");

        let mut lines: Vec<String> = Vec::new();
        let mut under_way: Option<(Progress, File)> = None;
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line.unwrap_or_default()).trim_end().to_owned();
            let is_idle = under_way.is_none() && output::status(&line).is_none_or(|(action, _)| action == "Finished");
            lines.push(line);
            if is_idle {
                continue;
            }
            if under_way.is_none() {
                let log = self.create_log(&lines).map_err(|source| self.log_error(source))?;
                let progress = Progress::begin(&self.what, &self.folder, &self.log, crates(), quiet);
                under_way = Some((progress, log));
            }
            if let (Some((progress, log)), Some(line)) = (&mut under_way, lines.last()) {
                progress.note(line);
                writeln!(log, "{line}").map_err(|source| self.log_error(source))?;
            }
        }
        let status = child.wait().map_err(|source| BuildError::start(&program, source))?;
        if !status.success() {
            return Err(self.failure(&lines, under_way.is_none()));
        }
        if let Some((progress, _)) = under_way {
            progress.end(&self.what, quiet);
        }
        Ok(())
    }

    /// Creates the log from the lines so far, except for the last. They came before the build had anything to do.
    fn create_log(&self, lines: &[String]) -> io::Result<File> {
        if let Some(folder) = self.log.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut log = File::create(&self.log)?;
        for line in &lines[..lines.len() - 1] {
            writeln!(log, "{line}")?;
        }
        Ok(log)
    }

    fn failure(self, lines: &[String], has_no_log: bool) -> BuildError {
        if let Some(error) = mpi::recognised(lines) {
            return error;
        }
        if has_no_log && let Err(source) = self.create_log(&[lines, &[String::new()]].concat()) {
            return self.log_error(source);
        }
        BuildError::Failed {
            what: self.what,
            errors: output::first_error(lines),
            log: shown(&self.log),
        }
    }

    fn log_error(&self, source: io::Error) -> BuildError {
        BuildError::Log {
            log: shown(&self.log),
            source,
        }
    }
}

/// Number of distinct crates that `cargo tree` lists.
pub(super) fn count_crates(mut tree: Command) -> Option<u64> {
    let output = tree.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    // A crate that was listed before is marked, which makes its line differ.
    let mut crates: Vec<&str> = text
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|line| !line.is_empty())
        .collect();
    crates.sort_unstable();
    crates.dedup();
    (output.status.success() && !crates.is_empty()).then_some(crates.len() as u64)
}
