//! The verb `bcl-bench report`: writes a folder of results to one page.

use crate::Done;
use bcl_bench::site::Collection;
use bcl_files::printable;
use bcl_files::{notice, refuse_overwriting, write_whole};
use bcl_report::page::free_path;
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with results: tables, curves, texts and images, at any depth.
    folder: PathBuf,
    /// HTML page to write; an existing page is replaced [default: report.html in the folder, or report.2.html, … if another
    /// program wrote report.html].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write no page: compute all tables and curves again from the metrics of their runs, and list what does not follow from them. Figures with four
    /// decimals in a section of a text that links to tables must follow from these.
    #[arg(long, conflicts_with_all = ["out", "title", "update"])]
    check: bool,
    /// Write no page: write all tables and curves again, by the rules of this version.
    #[arg(long, conflicts_with_all = ["out", "title"])]
    update: bool,
    /// Title of the page.
    #[arg(long, default_value = "Results")]
    title: String,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    if let Some(out) = &arguments.out {
        refuse_overwriting("--out", out, &["html", "htm"])?;
    }
    let found = Collection::read(&arguments.folder)?;
    for skipped in &found.skipped {
        notice::note(skipped);
    }
    if arguments.update {
        found.update()?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.check {
        return Ok(checked(&found)?);
    }
    let page = found.to_html(&arguments.title);
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => free_path(&arguments.folder.join("report.html"), &page),
    };
    write_whole(&out, page.as_bytes())?;
    println!("{}", printable(out.display()));
    Ok(ExitCode::SUCCESS)
}

/// Prints what does not follow from the runs of its table.
fn checked(found: &Collection) -> Result<ExitCode, String> {
    let problems = found.check()?;
    for problem in &problems {
        println!("{}", printable(problem));
    }
    let (tables, curves) = (found.tables.len(), found.sensitivities.len());
    if problems.is_empty() {
        println!("{tables} tables and {curves} sets of curves follow from their runs");
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!(
        "figures and texts that do not follow from their runs: {}; `bcl-bench report --update` writes them again",
        problems.len()
    ))
}
