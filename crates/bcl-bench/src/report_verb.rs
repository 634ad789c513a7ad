//! `bcl-bench report`.

use crate::bad_input;
use bcl_bench::site::Collection;
use bcl_train::files::{refuse_overwriting, write_whole};
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with results: tables, curves, texts and pictures, at any depth.
    folder: PathBuf,
    /// The page [default: report.html in the folder].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Title of the page.
    #[arg(long, default_value = "Results")]
    title: String,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.folder.join("report.html"));
    if let Err(error) = refuse_overwriting("--out", &out, &["html", "htm"]) {
        return bad_input(&error.to_string());
    }
    let found = match Collection::read(&arguments.folder) {
        Ok(found) => found,
        Err(problem) => return bad_input(&problem.to_string()),
    };
    match write_whole(&out, found.to_html(&arguments.title).as_bytes()) {
        Ok(()) => {
            println!("{}", out.display());
            ExitCode::SUCCESS
        }
        Err(error) => bad_input(&error.to_string()),
    }
}
