//! The verb `bcl-bench table`: tunes, tests and compares estimators.

use crate::{
    device_arguments::DeviceArguments,
    input::{at_least_one, bound, trials},
    output::print,
};
use bcl_bench::tables::{self, Family, Fixed, Published, Ranges, Row, RunPool, Search, Sensitivity, TablePlan};
use bcl_files::{critical_section, notice};
use bcl_recipe::Override;
use bcl_train::{
    error::Error,
    processes,
    training::{Stop, stop_on_signals},
};
use std::{env, iter, path::PathBuf, process::ExitCode, thread};

/// What `--help` says about the file of `--ranges`. A test reads the example.
const RANGES: &str = "\
The file of --ranges lists the recipe keys to search, for recommenders and for encoders of images: under
`shared` for every estimator, under a loss.kind for that estimator, and under a method.kind for a method with
a loss of its own. A key that is not listed, or that --set sets, keeps the recipe's value. Keys are refused if no
recipe of the table has them, or if all runs of a table share them: data, evaluation, selection, training.epochs.

  [recommender.shared]
  \"loss.temperature\" = { log = [0.05, 1.0] }           # log-uniform
  \"optimizer.learning_rate\" = { log = [3e-4, 1e-2] }
  [recommender.bayesian]
  \"loss.beta\" = { uniform = [0.5, 1.0] }               # uniform
  \"negatives.count\" = { choice = [64, 128, 256] }      # one of these
  [images.shared]
  \"loss.temperature\" = { log = [0.05, 1.0] }
  [images.byol]
  \"method.momentum\" = { choice = [0.99, 0.996] }

Numbers are rounded to three digits. The built-in file is crates/bcl-bench/src/tables/ranges.toml; pucl-1, pucl-2, pucl-fig3 and bda-6
have files of their own in the folder ranges beside it.";

/// How to continue an interrupted table.
const GOES_ON: &str = "run the same command again to continue";

#[derive(clap::Args)]
#[command(after_long_help = RANGES, after_help = "Use --help for the format of the --ranges file.")]
pub(crate) struct Arguments {
    /// A table of the BCL paper by its number (2, 3, 4, 5, 8, 10); pucl-1, pucl-2, pucl-fig3 or bda-6, of the PUCL and BDA papers; or recipes: a
    /// folder, or a name from `bcl-train recipes`. A file that a recipe names is searched for beside the recipe, then in --data.
    pub(crate) table: String,
    /// Data set, such as ml-100k: a subfolder of the table's recipes.
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Part of a table that is compared on its own, a subfolder of the data set: the framework of pucl-1 (simclr, cmc, moco), the objective of
    /// pucl-2 (nce, jsd), the batch size of bda-6 (b64, …), the parameter of pucl-fig3 (negatives, prior).
    #[arg(long, value_name = "NAME", requires = "dataset")]
    part: Option<String>,
    /// Include only rows with this encoder, such as mf or lightgcn.
    #[arg(long, value_name = "NAME")]
    encoder: Option<String>,
    /// Tuning trials per row; 0 takes the recipes as they are.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = trials)]
    budget: usize,
    /// Seeds of each tuning trial, each of which holds out another part of train; the mean over them chooses.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one)]
    tuning_seeds: usize,
    /// Number of test seeds; they start at 0. With fewer than 5, rows are not compared.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    seeds: usize,
    /// Which rows are compared, with a correction for their number.
    #[arg(long, value_enum, value_name = "FAMILY", default_value_t = Family::InfoNce)]
    compare: Family,
    /// Difference up to which rows count as equivalent, in the metric by which they are compared [default: 0.002 for metrics of rankings such as
    /// ndcg@20, 0.01 for accuracies].
    #[arg(long, value_name = "DIFFERENCE", value_parser = bound)]
    bound: Option<f64>,
    /// Leave out the row of the supervised loss, which knows the classes and shows how much a loss could gain.
    #[arg(long)]
    without_oracle: bool,
    /// How to search for settings.
    #[arg(long, value_enum, default_value_t = Search::Random)]
    search: Search,
    /// TOML file with the ranges to search, described in --help [default: the built-in ranges].
    #[arg(long, value_name = "FILE")]
    ranges: Option<PathBuf>,
    /// Fix a parameter at several values and compare over them: `temperature`, `negatives`, `alpha`, `beta`, `tau_plus`, or a
    /// full key.
    #[arg(long, value_name = "NAME=VALUE,…")]
    fix: Option<Fixed>,
    /// Set a key of all recipes, as in `--set training.patience=6`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// Folder of the table; the same command run again continues in it [default: runs/TABLE-DATASET-ENCODER].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder to search for data sets, and for files that a recipe names but that are not beside it.
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// Number of runs at a time in each process [default: one per core of its own on the CPU, one on a GPU].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<usize>,
    /// Share out the runs over N processes on this machine, through MPI; `mpirun` or `srun` start them on several machines with a common file system.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    processes: Option<u16>,
    /// Print JSON instead of the table.
    #[arg(long)]
    json: bool,
    /// Print no progress on stderr.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    device: DeviceArguments,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let _together = processes::AbortOnPanic;
    let outcome = processes::join(env!("CARGO_PKG_NAME"), Ok(arguments.processes)).and_then(|()| start(arguments));
    // From here on, a signal has nothing left to stop.
    let _ending = critical_section();
    processes::end_saying(outcome, |error| match error {
        Error::Interrupted(_) => format!("interrupted; all progress is saved, {GOES_ON}"),
        error => error.to_string(),
    })
}

/// Makes the table in this process, or starts those that share it out.
fn start(arguments: &Arguments) -> Result<(), Error> {
    // Process 0 speaks for all.
    notice::set_quiet(arguments.quiet || !processes::collective().is_first());
    if let Some(processes) = processes::processes_to_start(arguments.processes)? {
        // Building a program with MPI takes minutes, so a wrong recipe is refused first. What is worth a note, the processes say.
        notice::set_quiet(true);
        let published = Published::find(&arguments.table)?;
        arguments.plan(&arguments.ranges(published.as_ref())?)?;
        notice::set_quiet(arguments.quiet);
        arguments.device.ensure_mpi(arguments.quiet)?;
        std::process::exit(processes::start(processes, ctrlc::set_handler)?);
    }
    make(arguments, stop_on_signals(ctrlc::set_handler)?)
}

fn make(arguments: &Arguments, stop: Stop) -> Result<(), Error> {
    let published = Published::find(&arguments.table)?;
    let ranges = arguments.ranges(published.as_ref())?;
    let of_figure = || published.as_ref()?.curves(arguments.part.as_deref());
    let fixed = arguments.fix.clone().or_else(of_figure);
    let plan = arguments.plan(&ranges)?;
    stop.advise(Some(GOES_ON.to_owned()));
    let pool = arguments.pool(stop)?;
    let out = arguments.out.clone().unwrap_or_else(|| arguments.default_out());
    match &fixed {
        None => {
            let table = tables::run(&plan, &out, &pool)?;
            if pool.processes.is_first() {
                arguments.print(&table);
            }
        }
        Some(fixed) => {
            let curves = Sensitivity::run(&plan, fixed, &out, &pool)?;
            if pool.processes.is_first() {
                arguments.print(&curves);
            }
        }
    }
    if !pool.quiet {
        notice::status(format!("saved in {}", out.display()));
    }
    Ok(())
}

impl Arguments {
    /// The ranges to search.
    fn ranges(&self, published: Option<&Published>) -> Result<Ranges, Error> {
        match (&self.ranges, published) {
            (Some(path), _) => Ranges::read(path),
            (None, Some(published)) => Ok(published.ranges()),
            (None, None) => Ok(Ranges::builtin()),
        }
    }

    /// The plan of the requested table.
    pub(crate) fn plan(&self, ranges: &Ranges) -> Result<TablePlan, Error> {
        let published = Published::find(&self.table)?;
        if let Some(published) = &published {
            published.check(self.dataset.as_deref(), self.part.as_deref())?;
        }
        let dataset: Vec<&str> = [&self.dataset, &self.part]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let folder = published.as_ref().map_or(self.table.as_str(), |published| &published.folder);
        let name = iter::once(folder)
            .chain(dataset.iter().copied())
            .collect::<Vec<_>>()
            .join("/");
        let mut rows = Row::find(&name, self.encoder.as_deref(), &self.set, ranges)?;
        if !self.without_oracle {
            rows.extend(Row::oracles(&rows));
        }
        for keys in rows.iter().flat_map(|row| &row.dropped) {
            notice::note(keys);
        }
        let is_of_ranking = rows[0].recipe().comparison_metric().contains('@');
        let title = published.as_ref().map_or(&self.table, |published| &published.title).clone();
        let parts = [Some(title), self.dataset.clone(), self.part.clone(), self.encoder.clone()];
        let plan = TablePlan {
            title: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            printed: published.map(|published| (published.folder, dataset.join("/"))),
            budget: self.budget,
            rows: Vec::new(),
            search: self.search,
            tuning_seeds: self.tuning_seeds,
            seeds: self.seeds,
            family: self.compare,
            bound: self.bound.unwrap_or(if is_of_ranking { 0.002 } else { 0.01 }),
            command: command(),
        };
        Ok(plan.with_rows(rows))
    }

    fn pool(&self, stop: Stop) -> Result<RunPool, Error> {
        let backend = self.device.open()?;
        let all_cores = || thread::available_parallelism().map_or(1, usize::from);
        let cores = processes::threads_of_process().unwrap_or_else(all_cores);
        let processes = processes::collective();
        let on_processor = backend.name() == "flex";
        let jobs = self.jobs.unwrap_or(if on_processor { cores } else { 1 });
        Ok(RunPool {
            backend,
            data_dir: self.data.clone(),
            jobs,
            threads: (cores / jobs).max(1),
            stop,
            quiet: self.quiet || !processes.is_first(),
            processes,
        })
    }

    fn default_out(&self) -> PathBuf {
        let table = match self.table.parse::<u32>() {
            Ok(number) => format!("table{number}"),
            Err(_) => self.table.trim_matches(['.', '/']).replace('/', "-"),
        };
        let fixed = self.fix.as_ref().map(|fixed| fixed.name.clone());
        let parts = [
            Some(table),
            self.dataset.clone(),
            self.part.clone(),
            self.encoder.clone(),
            fixed,
        ];
        PathBuf::from("runs").join(parts.into_iter().flatten().collect::<Vec<_>>().join("-"))
    }

    fn print(&self, result: &(impl std::fmt::Display + serde::Serialize)) {
        if self.json {
            println!("{}", serde_json::to_string_pretty(result).expect("a table is plain data"));
        } else {
            print(result);
        }
    }
}

/// The command as it was given, without the paths of program, data and output, and without the number of processes, which changes nothing.
fn command() -> String {
    let mut words = vec!["bcl-bench".to_owned()];
    let mut arguments = env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--data" | "--out" | "--processes" => drop(arguments.next()),
            word if ["--data=", "--out=", "--processes="]
                .iter()
                .any(|flag| word.starts_with(flag)) => {}
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
}
