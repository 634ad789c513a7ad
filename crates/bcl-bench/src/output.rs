//! Prints benchmarks as tables, and writes them to files as JSON.

use crate::bad_input;
use bcl_data::{printable, printable_lines};
use bcl_report::{
    TextStyle,
    files::{FileError, refuse_overwriting, write_whole},
};
use serde::Serialize;
use std::{
    fmt::Display,
    fs::File,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(clap::Args)]
pub(crate) struct Output {
    /// Write all results to this file as JSON, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Output {
    /// Checks that the file can be written, before minutes of measuring.
    pub(crate) fn prepare(&self) -> Result<(), ExitCode> {
        match &self.json {
            Some(path) => refuse_overwriting("--json", path, &[])
                .and_then(|()| open(path).map_err(FileError::io("write", path)))
                .map_err(|error| bad_input(&error.to_string())),
            None => Ok(()),
        }
    }

    /// Writes the results so far to the file, so that they survive an interruption.
    pub(crate) fn keep(&self, benchmark: &impl Serialize) {
        // If the path is not a file, it is a stream, which takes the final results only.
        if let Some(path) = self.json.as_ref().filter(|path| path.is_file())
            && let Err(error) = write_json(path, benchmark)
        {
            eprintln!("warning: {}", printable(error));
        }
    }

    /// Prints a benchmark, and writes it to the file.
    pub(crate) fn write(&self, benchmark: &(impl Display + Serialize)) -> ExitCode {
        println!("{}", printable_lines(TextStyle::of_stdout().fitted(benchmark)));
        let Some(path) = &self.json else {
            return ExitCode::SUCCESS;
        };
        match write_json(path, benchmark) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => bad_input(&error.to_string()),
        }
    }
}

/// Checks that a file can be written to, without changing it.
fn open(path: &Path) -> io::Result<()> {
    File::options().create(true).append(true).open(path).map(drop)
}

fn write_json(path: &Path, benchmark: &impl Serialize) -> Result<(), FileError> {
    let text = serde_json::to_vec_pretty(benchmark).expect("a benchmark is plain data");
    write_whole(path, &text)
}

pub(crate) fn failure(message: &str) -> ExitCode {
    eprintln!("error: {}", printable_lines(message));
    ExitCode::from(1)
}
