//! `bcl-bench table`.

use crate::{input::at_least_one, output::failure};
use bcl_bench::{
    Place,
    tables::{self, Fixed, Plan, Ranges, Row, Search, Sensitivity, Workshop},
};
use bcl_train::{commands::stop_on_ctrl_c, error::Error, notice, recipe::Override};
use std::{env, path::PathBuf, process::ExitCode, thread};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A table of the paper by its number (2, 3, 4, 5, 8, 10), or recipes: a folder, or a name that `bcl-train recipes` lists.
    table: String,
    /// The data set, such as ml-100k: a folder of the table's recipes.
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Only rows with this encoder, such as mf or lightgcn.
    #[arg(long, value_name = "NAME")]
    encoder: Option<String>,
    /// Trials a row; 0 takes the recipes as they are.
    #[arg(long, value_name = "N", default_value_t = 16)]
    budget: usize,
    /// Seeds of the tests: 0, 1, … up to this number of them.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    seeds: usize,
    /// How settings are searched.
    #[arg(long, value_enum, default_value_t = Search::Random)]
    search: Search,
    /// Ranges to search, in place of the built-in ones.
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
    /// Folder in which data sets are looked for.
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
    match make(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Interrupted(_)) => {
            eprintln!("interrupted; everything up to here is saved, the same command goes on");
            ExitCode::from(130)
        }
        Err(error) if error.exit_code() == 1 => failure(&error.to_string()),
        Err(error) => crate::bad_input(&error.to_string()),
    }
}

fn make(arguments: &Arguments) -> Result<(), Error> {
    let ranges = match &arguments.ranges {
        Some(path) => Ranges::read(path)?,
        None => Ranges::builtin(),
    };
    let plan = arguments.plan(&ranges)?;
    let workshop = arguments.workshop()?;
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
        eprintln!("kept in {}", out.display());
    }
    Ok(())
}

impl Arguments {
    fn plan(&self, ranges: &Ranges) -> Result<Plan, Error> {
        let number: Option<u8> = self.table.parse().ok();
        let (name, printed) = match (number, &self.dataset) {
            (Some(number), Some(dataset)) => (
                format!("table{number}/{dataset}"),
                Some((format!("table{number}"), dataset.clone())),
            ),
            (Some(number), None) => {
                let name = format!("table{number}");
                return Err(Error::Input(format!(
                    "table {number} has several data sets; choose one with --dataset, such as {}",
                    datasets(&name)?
                )));
            }
            (None, Some(dataset)) => (format!("{}/{dataset}", self.table), None),
            (None, None) => (self.table.clone(), None),
        };
        let rows = Row::find(&name, self.encoder.as_deref(), &self.set, ranges)?;
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

    fn workshop(&self) -> Result<Workshop, Error> {
        let backend = self.place.open()?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let on_processor = backend.name() == "flex";
        let jobs = self.jobs.unwrap_or(if on_processor { cores } else { 1 });
        Ok(Workshop {
            backend,
            data_dir: self.data.clone(),
            jobs,
            threads: (cores / jobs).max(1),
            stop: stop_on_ctrl_c()?,
            quiet: self.quiet,
        })
    }

    fn default_out(&self) -> PathBuf {
        let table = match self.table.parse::<u8>() {
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
            println!("{result}");
        }
    }
}

/// The data sets of a table.
fn datasets(table: &str) -> Result<String, Error> {
    let found = bcl_train::recipe::find(table)?;
    let mut names: Vec<String> = found
        .iter()
        .filter_map(|found| match found {
            bcl_train::recipe::Found::Builtin(recipe) => recipe.name.split('/').nth(1).map(str::to_owned),
            bcl_train::recipe::Found::File(path) => path.parent()?.file_name()?.to_str().map(str::to_owned),
        })
        .collect();
    names.dedup();
    Ok(names.join(", "))
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
