//! Prints results as tables, and writes them to files.

use crate::bad_input;
use bcl_files::printable_lines;
use bcl_files::{FileError, refuse_overwriting, write_whole};
use bcl_report::TextStyle;
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

    /// Prints results, and writes them to the file.
    pub(crate) fn write(&self, results: &(impl Display + Serialize)) -> ExitCode {
        print(results);
        let Some(path) = &self.json else {
            return ExitCode::SUCCESS;
        };
        match write_json(path, results) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => bad_input(&error.to_string()),
        }
    }
}

pub(crate) fn print(results: &impl Display) {
    println!("{}", printable_lines(TextStyle::of_stdout().fitted(results)));
}

/// Checks that a file can be written to, without changing it.
fn open(path: &Path) -> io::Result<()> {
    File::options().create(true).append(true).open(path).map(drop)
}

fn write_json(path: &Path, results: &impl Serialize) -> Result<(), FileError> {
    let text = serde_json::to_vec_pretty(results).expect("results are plain data");
    write_whole(path, &text)
}

pub(crate) fn failure(message: &str) -> ExitCode {
    eprintln!("error: {}", printable_lines(message));
    ExitCode::from(1)
}
