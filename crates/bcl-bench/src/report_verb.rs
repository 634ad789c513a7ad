//! The verb `bcl-bench report`: writes a folder of results to one page.

use crate::Done;
use bcl_bench::site::Collection;
use bcl_files::printable;
use bcl_files::{notice, refuse_overwriting, write_whole};
use bcl_report::page::free_path;
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders with results: tables, curves, texts and images, at any depth.
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// HTML page to write; an existing page is replaced [default: report.html in the first folder, or report.2.html, … if another
    /// program wrote report.html].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write no page: compute all tables and curves again from the metrics of their runs, and list what does not follow from them. Figures with four
    /// decimals in a section of a text that links to tables must follow from these, and links to files of the folders must lead to one.
    #[arg(long, conflicts_with_all = ["out", "title", "update"])]
    check: bool,
    /// Write no page: write all tables and curves again, by the rules of this version.
    #[arg(long, conflicts_with_all = ["out", "title"])]
    update: bool,
    /// Write no page: draw each loss minus InfoNCE, for all tables with five seeds or more, as an SVG file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "title", "check", "update"])]
    differences: Option<PathBuf>,
    /// Title of the page.
    #[arg(long, default_value = "Results")]
    title: String,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    if let Some(out) = &arguments.out {
        refuse_overwriting("--out", out, &["html", "htm"])?;
    }
    if let Some(file) = &arguments.differences {
        refuse_overwriting("--differences", file, &["svg"])?;
    }
    let found = Collection::read_all(&arguments.folders)?;
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
    if let Some(file) = &arguments.differences {
        let none = "no table in these folders compares a loss with InfoNCE over five seeds or more; give folders that `bcl-bench table` wrote";
        write_whole(file, found.forest().ok_or(none)?.as_bytes())?;
        println!("{}", printable(file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let page = found.to_html(&arguments.title);
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => free_path(&arguments.folders[0].join("report.html"), &page),
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
        "problems found: {}; `bcl-bench report --update` writes tables and curves again as they follow from their runs; figures and links \
         of other texts need a hand",
        problems.len()
    ))
}
