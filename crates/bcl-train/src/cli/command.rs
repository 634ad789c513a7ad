//! The verbs and their arguments.

use super::{BackendChoice, Data, Train};
use crate::error::Error;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum Command {
    /// Train recipes, evaluate them, and write a report (the default verb).
    Train(Train),
    /// Evaluate the model of a run on its test interactions.
    Evaluate(Evaluate),
    /// Write the vectors of users and items of a run as CSV, with their ids.
    Embed(Embed),
    /// List the items a user of a run is recommended.
    Recommend(Recommend),
    /// Write the trained weights of a run as safetensors.
    Export(Export),
    /// Compare runs: a table with intervals over seeds, and a page with curves.
    Report(Report),
    /// List, download and check data sets.
    #[command(subcommand)]
    Data(Data),
    /// List the built-in recipes.
    Recipes(Recipes),
    /// List the devices that this build can compute on.
    Devices(Devices),
    /// Print the script that completes commands in a shell.
    Completions(Completions),
}

impl Command {
    /// Whether `--quiet` was given.
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::Train(train) => train.output.quiet,
            Self::Evaluate(args) => args.output.quiet,
            Self::Embed(args) => args.output.quiet,
            Self::Recommend(args) => args.output.quiet,
            Self::Export(args) => args.output.quiet,
            Self::Report(args) => args.output.quiet,
            Self::Data(data) => data.is_quiet(),
            Self::Recipes(args) => args.output.quiet,
            Self::Devices(args) => args.output.quiet,
            Self::Completions(_) => false,
        }
    }
}

/// Where a command runs, and where its data lie.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Place {
    /// What computes.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BackendChoice::Flex)]
    pub backend: BackendChoice,

    /// Which device of the backend, as `bcl-train devices` counts them from 0 [default: the best].
    #[arg(long, value_name = "N")]
    pub device: Option<usize>,

    /// Folder in which data sets are looked for, and files that a recipe names and that are not beside it [default: data]. For a run that
    /// exists, it is searched before the places where the run found its files.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Worker threads [default: one a core]; the results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

impl Place {
    /// Checks that `--data` is a folder, if it was given.
    ///
    /// # Errors
    /// Names it.
    pub fn check_data(&self) -> Result<(), Error> {
        match &self.data {
            Some(dir) if !dir.is_dir() => Err(Error::Input(format!(
                "--data {}: there is no such folder; create it or correct the path",
                dir.display()
            ))),
            _ => Ok(()),
        }
    }

    /// The folder of the data of a new run.
    pub fn data_dir(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new("data"))
    }
}

/// How much a command says, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Args)]
pub struct Output {
    /// No progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,

    /// Results on stdout as JSON in place of a table.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `evaluate`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Evaluate {
    /// Folder of the run.
    pub run: PathBuf,
    /// Where it runs.
    #[command(flatten)]
    pub place: Place,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `embed`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Embed {
    /// Folder of the run.
    pub run: PathBuf,
    /// Folder for users.csv and items.csv [default: `embeddings` in the run's folder].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where it runs.
    #[command(flatten)]
    pub place: Place,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `recommend`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Recommend {
    /// Folder of the run.
    pub run: PathBuf,
    /// The user, by the id in the data set's files.
    #[arg(long, value_name = "ID")]
    pub user: String,
    /// Number of items.
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub top: u32,
    /// Where it runs.
    #[command(flatten)]
    pub place: Place,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `export`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Export {
    /// Folder of the run.
    pub run: PathBuf,
    /// File to write [default: model.safetensors in the run's folder].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Where it runs.
    #[command(flatten)]
    pub place: Place,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `report`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Report {
    /// Folders of runs, or folders with runs at any depth; what is neither is left out with a note.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// A figure to show, such as `ndcg@20`; may be repeated [default: recall and NDCG at the largest cutoff].
    #[arg(long = "metric", value_name = "NAME")]
    pub metrics: Vec<String>,
    /// The page to write, in the place of one that is there [default: report.html, or report.2.html, … beside a page of other results].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Results on stdout as CSV in place of a table.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `recipes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct Recipes {
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `devices`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct Devices {
    /// List those of this backend, too; where cargo started the program, it is built if need be.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BackendChoice::Auto)]
    pub backend: BackendChoice,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `completions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
