//! Prints results as tables, and writes them to files.

use bcl_files::{FileError, notice, printable_lines, refuse_overwriting, write_json};
use bcl_report::TextStyle;
use serde::Serialize;
use std::{fmt::Display, fs::File, path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Output {
    /// Write all results to this file as JSON, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Output {
    /// Checks that the file can be written, before minutes of measuring.
    pub(crate) fn prepare(&self) -> Result<(), FileError> {
        let Some(path) = &self.json else { return Ok(()) };
        refuse_overwriting("--json", path, &[])?;
        let opened = File::options().create(true).append(true).open(path);
        opened.map(drop).map_err(FileError::io("write", path))
    }

    /// Prints results, and writes them to the file.
    pub(crate) fn write(&self, results: &(impl Display + Serialize)) -> Result<(), FileError> {
        print(results);
        let Some(path) = &self.json else { return Ok(()) };
        write_json(path, results)
    }
}

pub(crate) fn print(results: &impl Display) {
    println!("{}", printable_lines(TextStyle::of_stdout().fitted(results)));
}

pub(crate) fn failure(message: &str) -> ExitCode {
    notice::error(message);
    ExitCode::from(1)
}
