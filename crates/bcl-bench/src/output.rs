//! Where benchmarks go: a table to the terminal, and everything to a file as JSON.

use crate::bad_input;
use bcl_data::{printable, printable_lines};
use bcl_report::files::{FileError, refuse_overwriting, write_whole};
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
    /// Also write everything to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Output {
    /// An unwritable file is better known before minutes of measuring.
    pub(crate) fn prepare(&self) -> Result<(), ExitCode> {
        match &self.json {
            Some(path) => refuse_overwriting("--json", path, &[])
                .and_then(|()| open(path).map_err(FileError::io("write", path)))
                .map_err(|error| bad_input(&error.to_string())),
            None => Ok(()),
        }
    }

    /// Keeps what there is so far in the file, so that a benchmark that is stopped is not lost.
    pub(crate) fn keep(&self, benchmark: &impl Serialize) {
        // What is no file is a stream, which takes one benchmark and no drafts.
        if let Some(path) = self.json.as_ref().filter(|path| path.is_file())
            && let Err(error) = write_json(path, benchmark)
        {
            eprintln!("warning: {}", printable(error));
        }
    }

    /// Shows a benchmark.
    pub(crate) fn write(&self, benchmark: &(impl Display + Serialize)) -> ExitCode {
        println!("{}", printable_lines(benchmark));
        let Some(path) = &self.json else {
            return ExitCode::SUCCESS;
        };
        match write_json(path, benchmark) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => bad_input(&error.to_string()),
        }
    }
}

/// Finds out whether a file can be written to, and leaves what is in it.
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
