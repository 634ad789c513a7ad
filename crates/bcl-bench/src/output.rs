//! Prints results as tables, and writes them to files.

use crate::bad_input;
use bcl_bench::results::{Benchmark, ResultsFolder};
use bcl_files::{FileError, create_folder, refuse_overwriting, write_whole};
use bcl_files::{printable, printable_lines};
use bcl_report::TextStyle;
use serde::Serialize;
use std::{
    fmt::Display,
    fs::{self, File},
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

/// Where a verb saves what it measures.
#[derive(clap::Args)]
pub(crate) struct Save {
    /// Save the results under this name; `bcl-bench results` lists and compares them.
    #[arg(long, value_name = "NAME", value_parser = saved_name)]
    save: Option<String>,
    #[command(flatten)]
    folder: Folder,
}

/// The folder of saved results.
#[derive(clap::Args)]
pub(crate) struct Folder {
    /// Folder of saved results [default: bench in the target folder].
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl Folder {
    pub(crate) fn open(&self) -> ResultsFolder {
        ResultsFolder::new(self.results.as_deref())
    }
}

impl Save {
    /// Checks that the file can be written, before minutes of measuring.
    pub(crate) fn prepare<B: Benchmark>(&self) -> Result<(), ExitCode> {
        let Some(name) = &self.save else { return Ok(()) };
        let file = self.folder.open().file(B::KIND, name);
        let is_new = !file.exists();
        let opened = create_folder(file.parent().expect("a file in a folder")).and_then(|()| {
            open(&file).map_err(FileError::io("write", &file))?;
            // An empty file is no result.
            if is_new {
                fs::remove_file(&file).map_err(FileError::io("remove", &file))
            } else {
                Ok(())
            }
        });
        opened.map_err(|error| bad_input(&error.to_string()))
    }

    /// Saves the results so far, so that they survive an interruption.
    pub(crate) fn keep<B: Benchmark>(&self, benchmark: &B) {
        if let Err(error) = self.save(benchmark) {
            eprintln!("warning: {}", printable(error));
        }
    }

    /// Prints a benchmark, and saves it.
    pub(crate) fn write<B: Benchmark>(&self, benchmark: &B) -> ExitCode {
        print(benchmark);
        match self.save(benchmark) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => bad_input(&error.to_string()),
        }
    }

    fn save<B: Benchmark>(&self, benchmark: &B) -> Result<(), FileError> {
        match &self.save {
            Some(name) => self.folder.open().save(name, benchmark),
            None => Ok(()),
        }
    }
}

fn print(results: &impl Display) {
    println!("{}", printable_lines(TextStyle::of_stdout().fitted(results)));
}

/// A name that is part of a file's.
fn saved_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if text.chars().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Ok(text.to_owned());
    }
    Err("must consist of letters, digits, `-`, `_` and `.`, such as before-2".to_owned())
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
