//! Where benchmarks go: a table to the terminal, and everything to a file as JSON.

use crate::bad_input;
use serde::Serialize;
use std::{fmt::Display, fs, path::PathBuf, process::ExitCode};

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

    /// Shows a benchmark.
    pub(crate) fn write(&self, benchmark: &(impl Display + Serialize)) -> ExitCode {
        println!("{benchmark}");
        let Some(path) = &self.json else {
            return ExitCode::SUCCESS;
        };
        let text = serde_json::to_string_pretty(benchmark).expect("a benchmark is plain data");
        match fs::write(path, text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure(&format!("cannot write {}: {error}", path.display())),
        }
    }
}

pub(crate) fn failure(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(1)
}
