//! What the verbs of the command line do.

mod interrupt;
mod run;
mod saved;
mod views;

pub use interrupt::stop_on_ctrl_c;
pub use run::{Session, resume, train};
pub use saved::{embed, evaluate, export, recommend};
pub use views::dump_views;

use crate::{
    backend::Inventory,
    cli,
    error::Error,
    files::refuse_overwriting,
    report::{Comparison, TextStyle, all_metrics, default_metrics, read_run, write_html},
    result::{EpochRecord, RunResult},
};
use serde_json::json;

/// A finished run.
pub type Finished = (RunResult, Vec<EpochRecord>);

/// Prints the table of some runs to stdout.
pub fn print_table(results: &[&RunResult], json: bool) {
    let comparison = Comparison::new(results.iter().copied(), &default_metrics(results.iter().copied()));
    print_comparison(&comparison, json);
}

/// Reads finished runs, prints their table and writes one report of them all.
///
/// # Errors
/// When a run cannot be read or the report not be written.
pub fn report(args: &cli::Report) -> Result<(), Error> {
    refuse_overwriting("--out", &args.out, &["html", "htm"])?;
    let runs: Vec<Finished> = args.runs.iter().map(|run| read_run(run)).collect::<Result<_, _>>()?;
    let results = runs.iter().map(|(result, _)| result);
    let metrics = if args.metrics.is_empty() {
        default_metrics(results.clone())
    } else {
        args.metrics.clone()
    };
    let known = all_metrics(results.clone());
    if let Some(unknown) = metrics.iter().find(|metric| !known.contains(metric)) {
        return Err(Error::Input(format!(
            "--metric {unknown} is in none of these runs; they have {}",
            known.join(", ")
        )));
    }
    let comparison = Comparison::new(results, &metrics);
    if args.csv {
        print!("{}", comparison.to_csv());
    } else {
        print_comparison(&comparison, args.output.json);
    }
    write_html(&args.out, &runs)?;
    if !args.output.quiet {
        eprintln!("report: {}", args.out.display());
    }
    Ok(())
}

/// Prints names with what they stand for.
pub fn list(entries: impl Iterator<Item = (&'static str, &'static str)>, json: bool) {
    let entries: Vec<_> = entries.collect();
    if json {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, about)| json!({ "name": name, "about": about }))
            .collect();
        println!("{:#}", json!(entries));
        return;
    }
    let width = entries.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, about) in entries {
        println!("{name:width$}  {about}");
    }
}

/// Prints the devices there are, and how to get the backends that are missing.
pub fn devices(inventory: &Inventory, json: bool) {
    if json {
        println!("{:#}", json!(inventory));
    } else {
        print!("{inventory}");
    }
}

fn print_comparison(comparison: &Comparison, json: bool) {
    if json {
        println!("{:#}", comparison.to_json());
    } else {
        print!("{}", comparison.to_text(&TextStyle::of_stdout()));
    }
}
