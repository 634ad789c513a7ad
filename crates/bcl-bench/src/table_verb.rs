//! `bcl-bench table`.

use crate::{
    input::{at_least_one, trials},
    output::failure,
};
use bcl_bench::{
    Place,
    tables::{self, Fixed, Plan, Ranges, Row, Search, Sensitivity, Workshop},
};
use bcl_data::printable_lines;
use bcl_report::files::unbroken;
use bcl_train::{
    commands::stop_on_signals,
    error::Error,
    notice,
    recipe::{Builtin, Override},
    training::Stop,
};
use std::{env, path::PathBuf, process::ExitCode, thread};

/// What `--help` says of the file of `--ranges`. A test reads the example.
const RANGES: &str = "\
The file of --ranges holds, for recommenders and for encoders of images, the keys of recipes that are
searched: those of every estimator under `shared`, further ones under the estimator's loss.kind. A key
that is not named, or that --set sets, keeps the recipe's value. Both families must be there, if only as
an empty table.

  [recommender.shared]
  \"loss.temperature\" = { log = [0.05, 1.0] }           # uniform in the logarithm
  \"optimizer.learning_rate\" = { log = [3e-4, 1e-2] }
  [recommender.bayesian]
  \"loss.beta\" = { uniform = [0.5, 1.0] }               # uniform
  \"negatives.count\" = { choice = [64, 128, 256] }      # one of these
  [images.shared]
  \"loss.temperature\" = { log = [0.05, 1.0] }

Numbers are rounded to three digits. The built-in file is crates/bcl-bench/src/tables/ranges.toml.";

/// How an interrupted table is finished.
const GOES_ON: &str = "the same command goes on";

#[derive(clap::Args)]
#[command(after_long_help = RANGES, after_help = "With --help: how the file of --ranges is written.")]
pub(crate) struct Arguments {
    /// A table of the paper by its number (2, 3, 4, 5, 8, 10), or recipes: a folder, or a name that `bcl-train recipes` lists. A file that
    /// a recipe names is looked for beside the recipe, then in --data.
    pub(crate) table: String,
    /// The data set, such as ml-100k: a folder of the table's recipes.
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Only rows with this encoder, such as mf or lightgcn.
    #[arg(long, value_name = "NAME")]
    encoder: Option<String>,
    /// Trials a row; 0 takes the recipes as they are.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = trials)]
    budget: usize,
    /// Seeds of the tests: 0, 1, … up to this number of them.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    seeds: usize,
    /// How settings are searched.
    #[arg(long, value_enum, default_value_t = Search::Random)]
    search: Search,
    /// Ranges to search, in place of the built-in ones: a TOML file, described below.
    #[arg(long, value_name = "FILE")]
    ranges: Option<PathBuf>,
    /// Hold a parameter at some values and compare over them: `temperature`, `negatives`, `alpha`, `beta`, `tau_plus`, or a key in full.
    #[arg(long, value_name = "NAME=VALUE,…")]
    fix: Option<Fixed>,
    /// Set a key of all recipes, as in `--set training.patience=6`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// Folder of the table; the same command again goes on in it [default: runs/TABLE-DATASET-ENCODER].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder in which data sets are looked for, and files that a recipe names and that are not beside it.
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// Runs at a time [default: one a core on the processor, one on a GPU].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<usize>,
    /// Print JSON in place of the table.
    #[arg(long)]
    json: bool,
    /// No progress on stderr.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    notice::set_quiet(arguments.quiet);
    let outcome = stop_on_signals().and_then(|stop| make(arguments, stop));
    // From here on a signal has nothing to stop any more.
    let _ending = unbroken();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Interrupted(_)) => {
            eprintln!("error: interrupted; everything up to here is saved, {GOES_ON}");
            ExitCode::from(130)
        }
        Err(error) if error.exit_code() == 1 => failure(&error.to_string()),
        Err(error) => crate::bad_input(&error.to_string()),
    }
}

fn make(arguments: &Arguments, stop: Stop) -> Result<(), Error> {
    let ranges = match &arguments.ranges {
        Some(path) => Ranges::read(path)?,
        None => Ranges::builtin(),
    };
    let plan = arguments.plan(&ranges)?;
    stop.advise(Some(GOES_ON.to_owned()));
    let workshop = arguments.workshop(stop)?;
    let out = arguments.out.clone().unwrap_or_else(|| arguments.default_out());
    match &arguments.fix {
        None => {
            let table = tables::run(&plan, &out, &workshop)?;
            arguments.print(&table);
        }
        Some(fixed) => {
            let curves = Sensitivity::run(&plan, fixed, &ranges, &out, &workshop)?;
            arguments.print(&curves);
        }
    }
    if !arguments.quiet {
        notice::status(format!("kept in {}", out.display()));
    }
    Ok(())
}

impl Arguments {
    /// What is to be made.
    pub(crate) fn plan(&self, ranges: &Ranges) -> Result<Plan, Error> {
        let number: Option<u32> = self.table.parse().ok();
        if let Some(number) = number {
            check_table(number, self.dataset.as_deref())?;
        }
        let (name, printed) = match (number, &self.dataset) {
            (Some(number), Some(dataset)) => (
                format!("table{number}/{dataset}"),
                Some((format!("table{number}"), dataset.clone())),
            ),
            (Some(number), None) => (format!("table{number}"), None),
            (None, Some(dataset)) => (format!("{}/{dataset}", self.table), None),
            (None, None) => (self.table.clone(), None),
        };
        let rows = Row::find(&name, self.encoder.as_deref(), &self.set, ranges)?;
        for keys in rows.iter().flat_map(|row| &row.dropped) {
            notice::note(keys);
        }
        let title = match number {
            Some(number) => format!("Table {number}"),
            None => self.table.clone(),
        };
        let parts = [Some(title), self.dataset.clone(), self.encoder.clone()];
        Ok(Plan {
            title: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            printed,
            rows,
            search: self.search,
            budget: self.budget,
            seeds: self.seeds,
            command: command(),
        })
    }

    fn workshop(&self, stop: Stop) -> Result<Workshop, Error> {
        let backend = self.place.open()?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let on_processor = backend.name() == "flex";
        let jobs = self.jobs.unwrap_or(if on_processor { cores } else { 1 });
        Ok(Workshop {
            backend,
            data_dir: self.data.clone(),
            jobs,
            threads: (cores / jobs).max(1),
            stop,
            quiet: self.quiet,
        })
    }

    fn default_out(&self) -> PathBuf {
        let table = match self.table.parse::<u32>() {
            Ok(number) => format!("table{number}"),
            Err(_) => self.table.trim_matches(['.', '/']).replace('/', "-"),
        };
        let fixed = self.fix.as_ref().map(|fixed| fixed.name.clone());
        let parts = [Some(table), self.dataset.clone(), self.encoder.clone(), fixed];
        PathBuf::from("runs").join(parts.into_iter().flatten().collect::<Vec<_>>().join("-"))
    }

    fn print(&self, result: &(impl std::fmt::Display + serde::Serialize)) {
        if self.json {
            println!("{}", serde_json::to_string_pretty(result).expect("a table is plain data"));
        } else {
            println!("{}", printable_lines(result));
        }
    }
}

/// Checks that a table of the papers, and the data set, come with the program.
fn check_table(number: u32, dataset: Option<&str>) -> Result<(), Error> {
    let mut numbers: Vec<u32> = Builtin::all()
        .iter()
        .filter_map(|recipe| recipe.name.strip_prefix("table")?.split('/').next()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !numbers.contains(&number) {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        return Err(Error::Input(format!(
            "there is no table {number}; the program comes with tables {}; for recipes of your own, name their folder",
            numbers.join(", ")
        )));
    }
    let known = datasets(number);
    match dataset {
        Some(dataset) if known.contains(&dataset) => Ok(()),
        Some(dataset) => Err(Error::Input(format!(
            "--dataset {dataset} is none of table {number}, which has {}",
            known.join(", ")
        ))),
        None => Err(Error::Input(format!(
            "table {number} has several data sets; choose one with --dataset: {}",
            known.join(", ")
        ))),
    }
}

/// The data sets of a table of the papers.
fn datasets(number: u32) -> Vec<&'static str> {
    let prefix = format!("table{number}/");
    let mut names: Vec<&str> = Builtin::all()
        .iter()
        .filter_map(|recipe| recipe.name.strip_prefix(&prefix)?.split('/').next())
        .collect();
    names.dedup();
    names
}

/// The command as it was given, without where the program and the data lie.
fn command() -> String {
    let mut words = vec!["bcl-bench".to_owned()];
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--data" | "--out" => drop(arguments.next()),
            word if word.starts_with("--data=") || word.starts_with("--out=") => {}
            _ => words.push(argument),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_of_the_help_are_ranges() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ranges.toml");
        let example: Vec<&str> = RANGES.lines().filter(|line| line.starts_with("  ")).collect();
        let example = example.join("\n");
        assert!(example.contains("uniform") && example.contains("choice"), "{example}");
        std::fs::write(&file, &example).unwrap();
        Ranges::read(&file).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn a_table_or_data_set_that_is_not_there_is_named_with_those_that_are() {
        let error = |number, dataset| check_table(number, dataset).unwrap_err().to_string();
        assert_eq!(
            error(7, None),
            "there is no table 7; the program comes with tables 2, 3, 4, 5, 8, 10; for recipes of your own, name their folder"
        );
        assert_eq!(
            error(10, Some("ml-100kk")),
            "--dataset ml-100kk is none of table 10, which has gowalla, ml-100k, ml-1m"
        );
        assert_eq!(
            error(10, None),
            "table 10 has several data sets; choose one with --dataset: gowalla, ml-100k, ml-1m"
        );
        assert!(check_table(10, Some("ml-100k")).is_ok());
    }
}
