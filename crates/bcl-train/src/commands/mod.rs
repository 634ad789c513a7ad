//! What the verbs of the command line do.

mod baselines;
mod run;
mod saved;

pub use run::{Session, resume, train};
pub use saved::{embed, evaluate, export, recommend};

use crate::{
    error::Error,
    report::{Comparison, TextStyle, default_metrics, read_run, write_html},
    result::{EpochRecord, RunResult},
};
use std::path::{Path, PathBuf};

/// A finished run.
pub type Finished = (RunResult, Vec<EpochRecord>);

/// Prints the table of some runs to stdout.
pub fn print_table(results: &[&RunResult], json: bool) {
    let comparison = Comparison::new(results.iter().copied(), &default_metrics(results.iter().copied()));
    if json {
        println!("{:#}", comparison.to_json());
    } else {
        print!("{}", comparison.to_text(&TextStyle::of_stdout()));
    }
}

/// Reads finished runs, prints their table and writes one report of them all.
///
/// # Errors
/// When a run cannot be read or the report not be written.
pub fn report(runs: &[PathBuf], page: &Path, json: bool) -> Result<(), Error> {
    let runs: Vec<Finished> = runs.iter().map(|run| read_run(run)).collect::<Result<_, _>>()?;
    print_table(&runs.iter().map(|(result, _)| result).collect::<Vec<_>>(), json);
    write_html(page, &runs)?;
    eprintln!("report: {}", page.display());
    Ok(())
}
