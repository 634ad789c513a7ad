//! The command line, parsed into plain data. Nothing here runs anything.
//!
//! `train` is the default verb, so `bcl-train` alone does something useful and `bcl-train my.toml --seed 3` reads naturally.

mod answers;
mod command;
mod common;
mod data;
mod fine_tune;
mod search;
mod seeds;
mod train;
mod verb;

pub(crate) use answers::{Evaluate, LabelFractions, Recommend};
pub(crate) use command::{Command, Completions, Export, ExportFormat, Report, Watch};
pub(crate) use common::{ComputeArguments, Output};
pub(crate) use data::{CheckData, Data, FetchData, ListData};
pub(crate) use fine_tune::FineTune;
pub(crate) use search::{Duplicates, Neighbours, Searched, Subset};
pub(crate) use seeds::Seeds;
pub(crate) use train::Train;

use bcl_backend::exit;
use clap::{CommandFactory, Parser, error::ErrorKind};
use std::{ffi::OsString, io, path::Path, sync::LazyLock};

const EXAMPLES: &str = "\
Examples:
  bcl-train                                        train the built-in quickstart
  bcl-train quickstart/bayesian --set loss.beta=0.7
  bcl-train data fetch ml-100k-authors             download a data set into data/
  bcl-train table10/ml-100k --data data --seeds 0..3
  bcl-train my-recipe.toml --backend cuda --out runs
  bcl-train --resume runs/quickstart/bayesian-0    continue an interrupted run
  bcl-train quickstart-images/bayesian --dump-views views.png
  bcl-train recommend runs/quickstart/bayesian-0 --user 17 --top 5
  bcl-train recommend runs/quickstart/bayesian-0 --all --top 20 --out recs.csv
  bcl-train neighbours runs/my-images-0 cat.jpg --in photos --top 12
  bcl-train fine-tune runs/my-images-0 --fraction 0.01 --epochs 60
  bcl-train report runs/quickstart/*               compare runs
  bcl-train watch runs                             follow runs in the browser

Exit codes: 0 success, 1 failure, 2 bad input, 130 interrupted (continue with --resume).";

/// The version, with the git revision if it was known at build time.
static VERSION: LazyLock<String> = LazyLock::new(|| match option_env!("BCL_GIT_REVISION") {
    Some(revision) => format!("{} ({revision})", env!("CARGO_PKG_VERSION")),
    None => env!("CARGO_PKG_VERSION").to_owned(),
});

/// Train and evaluate contrastive recommenders and encoders of images and graphs. Every recipe describes one run.
///
/// Without a verb, RECIPE is trained, evaluated and reported; without a recipe, the built-in quickstart runs.
#[derive(Debug, Parser)]
#[command(
    name = "bcl-train",
    version = VERSION.as_str(),
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    max_term_width = 110
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    train: Train,
}

/// Parses the arguments of the process. Help, the version and errors are printed, and the process exits with 0 or 2.
pub(crate) fn parse() -> Command {
    parse_from(std::env::args_os()).unwrap_or_else(|error| exit(&error))
}

/// Parses arguments, starting with the name of the program.
///
/// # Errors
/// Returns an error if the arguments are invalid, or ask for help or the version. [`clap::Error::exit`] prints each to the
/// right stream and exits with the right code.
pub(crate) fn parse_from(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Command, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    // clap would take a misspelt verb for a recipe and its flags for flags of `train`, and report a misleading error.
    if let Some(error) = arguments.get(1).and_then(|word| verb::misspelt(word.to_str()?)) {
        return Err(error);
    }
    let Arguments { command, train } = Arguments::try_parse_from(arguments)?;
    let train = match command {
        None => train,
        Some(Command::Train(train)) => train,
        Some(command) => return Ok(command),
    };
    let conflict = |message| Err(Arguments::command().error(ErrorKind::ArgumentConflict, message));
    // After a flag, clap takes a verb for the name of a recipe.
    let is_verb = |name: &&String| Arguments::command().find_subcommand(name).is_some() && !Path::new(name).exists();
    if let Some(verb) = train.recipes.iter().find(is_verb) {
        return conflict(format!("the verb `{verb}` must come first: bcl-train {verb} [OPTIONS]"));
    }
    if train.resumed().is_some() && train.recipes.is_empty() && (train.seed.is_some() || !train.set.is_empty()) {
        return conflict("--resume continues with the recipe in the run's folder; remove --set and --seed".to_owned());
    }
    if let (Some(run), 2..) = (train.resumed(), train.recipes.len()) {
        return conflict(format!("--resume {} names one run; name one recipe at most", run.display()));
    }
    if let (Some(run), true) = (train.resumed(), train.seeds.is_some() || train.out.is_some()) {
        return conflict(format!(
            "--resume {} names one run and cannot be used with --seeds or --out; to continue the runs of a recipe, name the recipe first and leave \
             out the folder: bcl-train RECIPE --resume --seeds 0..3",
            run.display()
        ));
    }
    Ok(Command::Train(train))
}

impl Completions {
    /// Writes the completion script for the shell.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written to.
    pub(crate) fn write(self, out: &mut dyn io::Write) -> io::Result<()> {
        // The generator panics if it cannot write, so it writes to memory.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "bcl-train", &mut script);
        out.write_all(&script)
    }
}

#[cfg(test)]
mod tests;
