//! The verb `bcl-bench results`: lists saved results, gathers rounds and compares.

use crate::{
    Done,
    output::{Output, failure},
    timing_verb::Folder,
};
use bcl_bench::timing::{Comparison, Gathered, ResultsFolder, Rounds, Saved};
use bcl_files::printable;
use bcl_report::{Column, Table};
use serde::Serialize;
use std::{fmt, process::ExitCode};

/// Without names, lists everything that is saved.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Results to show, or to compare with --old: names from `--save`, or from `cargo bench -- --save-baseline`; `new` is what `cargo bench` wrote
    /// last for each benchmark, perhaps in several runs. Several names are rounds of the same measurement.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    new: Vec<String>,
    /// Results to compare with, as many rounds as --new, measured in turns.
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "new")]
    old: Vec<String>,
    /// Exit with code 1 if anything takes more than RATIO times as long as before; if the ratio has an interval, all of it must
    /// be above RATIO.
    #[arg(long, value_name = "RATIO", value_parser = factor, requires = "old")]
    fail_above: Option<f64>,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let folder = arguments.folder.open();
    if arguments.new.is_empty() {
        arguments.show(&List(folder.list()?))
    } else if arguments.old.is_empty() {
        arguments.show(&Each(gather(&folder, &arguments.new)?))
    } else {
        arguments.compare(&folder)
    }
}

impl Arguments {
    fn show(&self, results: &(impl fmt::Display + Serialize)) -> Done {
        self.output.prepare()?;
        self.output.write(results)?;
        Ok(ExitCode::SUCCESS)
    }

    fn compare(&self, folder: &ResultsFolder) -> Done {
        let [old, new] = [gather(folder, &self.old)?, gather(folder, &self.new)?];
        let [old_names, new_names] = [&self.old, &self.new].map(|names| names.join(" "));
        let comparisons = Comparison::of_each([&old_names, &new_names], &old, &new)?;
        let mut slower = Vec::new();
        for comparison in &comparisons {
            for difference in &comparison.differences {
                eprintln!(
                    "warning: {}: the ratios do not depend on the code alone",
                    printable(difference)
                );
            }
            let above = self.fail_above.map(|factor| comparison.above(factor));
            slower.extend(above.into_iter().flatten().map(|pair| pair.name.clone()));
        }
        let shown = self.show(&Each(comparisons))?;
        Ok(match self.fail_above {
            Some(factor) if !slower.is_empty() => {
                failure(&format!("more than {factor} times as long as before: {}", slower.join("; ")))
            }
            _ => shown,
        })
    }
}

/// The results of each program, with warnings printed.
fn gather(folder: &ResultsFolder, names: &[String]) -> Result<Vec<Rounds>, String> {
    let gathered = folder.gather(names)?.into_iter().map(|Gathered { rounds, warnings }| {
        for warning in warnings {
            eprintln!("warning: {}", printable(warning));
        }
        rounds
    });
    Ok(gathered.collect())
}

/// Results of several programs, one below the other.
#[derive(Serialize)]
#[serde(transparent)]
struct Each<T>(Vec<T>);

impl<T: fmt::Display> fmt::Display for Each<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f, "\n")?;
            }
            one.fmt(f)?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct List(Vec<Saved>);

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = [
            Column::text("name"),
            Column::text("measured by"),
            Column::number("cases"),
            Column::text("backend"),
            Column::text("revision"),
        ];
        let rows = self.0.iter().map(|saved| {
            let revision = saved.revision.clone().unwrap_or_default();
            let [kind, cases] = [saved.source.clone(), saved.cases.to_string()];
            [saved.name.clone(), kind, cases, saved.backend.clone(), revision]
        });
        Table::new(columns, rows).fmt(f)?;
        f.write_str("\nCompare two with --old NAME --new NAME.")
    }
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    number.ok_or_else(|| "must be a number above 0, such as 1.2".to_owned())
}
