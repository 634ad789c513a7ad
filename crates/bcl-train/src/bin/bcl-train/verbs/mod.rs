//! The implementation of each verb of the command line.

mod data;
mod devices;
mod earlier;
mod evaluate;
mod extend;
mod fine_tune;
mod metrics_table;
mod next;
mod recommend;
mod resume;
mod run;
mod saved;
mod search;
mod session;
#[cfg(test)]
mod tests;
mod views;
mod watch;

pub(crate) use data::data;
pub(crate) use devices::devices;
pub(crate) use evaluate::evaluate;
pub(crate) use fine_tune::{check_fine_tune, fine_tune};
pub(crate) use next::suggest;
pub(crate) use recommend::{check_recommend, recommend};
pub(crate) use resume::resume;
pub(crate) use run::train;
pub(crate) use saved::{check_export, embed, export};
pub(crate) use search::{Search, search};
pub(crate) use session::{Earlier, Session};
pub(crate) use views::dump_views;
pub(crate) use watch::watch;

use crate::cli;
use bcl_files::{notice, refuse_overwriting, write_whole};
use bcl_report::{
    Cell, Column, Comparison, Table, TextStyle, all_metrics, find_runs,
    page::free_path,
    read_run, render_html,
    result::{EpochRecord, RunResult},
    write_html,
};
use bcl_train::error::Error;
use serde_json::json;
use std::path::Path;

/// A finished run: its result, and one record per epoch.
pub(crate) type Finished = (RunResult, Vec<EpochRecord>);

/// A failed run.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The name of its folder, `NAME-SEED`.
    pub name: String,
    /// What went wrong.
    pub error: Error,
}

/// Prints a table of results to stdout, with a note for every failed run.
pub(crate) fn print_table(results: &[&RunResult], failed: &[Failed], json: bool) {
    let mut comparison = Comparison::with_default_metrics(results.iter().copied());
    let note = |failed: &Failed| format!("{} failed and is not in the table: {}", failed.name, failed.error);
    comparison.notes.extend(failed.iter().map(note));
    print_comparison(&comparison, json);
}

/// Reads the finished runs in and below some folders, prints their table and writes one report of them all.
///
/// Without `--out`, a page with other results is kept, and the new one becomes `report.2.html`, `report.3.html`, …
///
/// # Errors
/// Returns an error if a run cannot be read or the report cannot be written.
pub(crate) fn report(args: &cli::Report) -> Result<(), Error> {
    if let Some(out) = &args.out {
        refuse_overwriting("--out", out, &["html", "htm"])?;
    }
    let found = find_runs(&args.runs)?;
    for skipped in &found.skipped {
        notice::note(skipped);
    }
    let runs: Vec<Finished> = found.runs.iter().map(|run| read_run(run)).collect::<Result<_, _>>()?;
    let results = runs.iter().map(|(result, _)| result);
    let known = all_metrics(results.clone());
    if let Some(unknown) = args.metrics.iter().find(|metric| !known.contains(metric)) {
        return Err(Error::Input(format!(
            "--metric {unknown}: none of these runs has this metric; they have {}",
            known.join(", ")
        )));
    }
    let comparison = if args.metrics.is_empty() {
        Comparison::with_default_metrics(results)
    } else {
        Comparison::new(results, &args.metrics)
    };
    if args.csv {
        print!("{}", comparison.to_csv());
    } else {
        print_comparison(&comparison, args.output.json);
    }
    match &args.out {
        Some(out) => {
            write_html(out, &runs)?;
            notice::status(format!("report: {}", out.display()));
        }
        None => write_page(Path::new("report.html"), &runs)?,
    }
    Ok(())
}

/// Writes the page of some runs to `wanted`, or beside it if another page is there, and prints its path.
fn write_page(wanted: &Path, runs: &[Finished]) -> Result<(), Error> {
    let html = render_html(runs);
    let page = free_path(wanted, &html);
    if page != wanted {
        notice::note(format!(
            "{} shows other results and is kept; this page is {}",
            wanted.display(),
            page.display()
        ));
    }
    write_whole(&page, html.as_bytes())?;
    notice::status(format!("report: {}", page.display()));
    Ok(())
}

/// Prints names with their descriptions.
pub(crate) fn list(entries: impl Iterator<Item = (&'static str, &'static str)>, json: bool) {
    let entries: Vec<_> = entries.collect();
    if json {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, about)| json!({ "name": name, "about": about }))
            .collect();
        println!("{:#}", json!(entries));
        return;
    }
    let rows = entries.into_iter().map(|(name, about)| [name, about]);
    print_rows([Column::verbatim(""), Column::text("")], rows);
}

/// Prints the rows of a table.
fn print_rows<const N: usize, T: Into<Cell>>(columns: [Column; N], rows: impl IntoIterator<Item = [T; N]>) {
    print!("{}", Table::new(columns, rows).render(&TextStyle::of_stdout()));
}

fn print_comparison(comparison: &Comparison, json: bool) {
    if json {
        println!("{:#}", comparison.to_json());
    } else {
        print!("{}", comparison.to_text(&TextStyle::of_stdout()));
    }
}
