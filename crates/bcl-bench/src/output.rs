//! Where benchmarks go: a table to the terminal, and everything to a file as JSON.

use crate::bad_input;
use serde::Serialize;
use std::{
    fmt::Display,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(clap::Args)]
pub(crate) struct Output {
    /// Also write everything to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Output {
    /// An unwritable file is better known before minutes of measuring.
    pub(crate) fn prepare(&self) -> Result<(), ExitCode> {
        match &self.json {
            Some(path) => fs::write(path, "").map_err(|error| bad_input(&format!("cannot write {}: {error}", path.display()))),
            None => Ok(()),
        }
    }

    /// Keeps what there is so far in the file, so that a benchmark that is stopped is not lost.
    pub(crate) fn keep(&self, benchmark: &impl Serialize) {
        // What is no file is a stream, which takes one benchmark and no drafts.
        if let Some(path) = self.json.as_ref().filter(|path| path.is_file())
            && let Err(error) = write_json(path, benchmark)
        {
            eprintln!("warning: cannot write {}: {error}", path.display());
        }
    }

    /// Shows a benchmark.
    pub(crate) fn write(&self, benchmark: &(impl Display + Serialize)) -> ExitCode {
        println!("{benchmark}");
        let Some(path) = &self.json else {
            return ExitCode::SUCCESS;
        };
        match write_json(path, benchmark) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure(&format!("cannot write {}: {error}", path.display())),
        }
    }
}

fn write_json(path: &Path, benchmark: &impl Serialize) -> io::Result<()> {
    fs::write(
        path,
        serde_json::to_string_pretty(benchmark).expect("a benchmark is plain data"),
    )
}

pub(crate) fn failure(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(1)
}
