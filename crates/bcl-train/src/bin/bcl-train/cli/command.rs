//! The verbs and their arguments.

use super::{ComputeArguments, Data, Duplicates, Evaluate, FineTune, Neighbours, Output, Recommend, Subset, Train};
use bcl_backend::BackendChoice;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The verb to run, with its arguments.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum Command {
    /// Train recipes, evaluate them, and write a report (the default verb).
    Train(Train),
    /// Evaluate the model of a run on its test data, or a recommender on other interactions.
    Evaluate(Evaluate),
    /// Write the embeddings of a run, with their ids, as CSV and as NumPy arrays.
    Embed(Embed),
    /// Recommend items to users of a run or to new users, one or all, or find similar items.
    Recommend(Recommend),
    /// Find the images of a folder that are most similar to yours, and write a page with the pictures.
    Neighbours(Neighbours),
    /// Group the near-duplicates of a folder of images, and write a page with the pictures.
    Duplicates(Duplicates),
    /// Choose a diverse subset of a folder of images, as a list of files.
    Subset(Subset),
    /// Fine-tune the image encoder of a run on a fraction of the labels, beside a linear probe of its frozen features.
    FineTune(FineTune),
    /// Export the trained encoder of a run: weights as safetensors, or a whole network of images as ONNX.
    Export(Export),
    /// Compare runs: print a table with intervals over seeds, and write a page with curves.
    Report(Report),
    /// Show the curves of runs under way on a page in the browser.
    Watch(Watch),
    /// List, download and check data sets.
    #[command(subcommand)]
    Data(Data),
    /// List the built-in recipes.
    Recipes(Recipes),
    /// List the devices that this build can compute on.
    Devices(Devices),
    /// Print a shell completion script.
    Completions(Completions),
}

impl Command {
    /// Whether `--quiet` was given.
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            Self::Train(train) => train.output.quiet,
            Self::Evaluate(args) => args.output.quiet,
            Self::Embed(args) => args.output.quiet,
            Self::Recommend(args) => args.output.quiet,
            Self::Neighbours(args) => args.output.quiet,
            Self::Duplicates(args) => args.output.quiet,
            Self::Subset(args) => args.output.quiet,
            Self::FineTune(args) => args.output.quiet,
            Self::Export(args) => args.output.quiet,
            Self::Report(args) => args.output.quiet,
            Self::Watch(args) => args.quiet,
            Self::Data(data) => data.is_quiet(),
            Self::Recipes(args) => args.output.quiet,
            Self::Devices(args) => args.output.quiet,
            Self::Completions(_) => false,
        }
    }
}

/// Arguments of `embed`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Embed {
    /// Folder of the run.
    pub run: PathBuf,
    /// Folder to write to [default: embeddings in the run's folder].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// The format of an exported encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Weights by name, for any kind of run.
    Safetensors,
    /// A network that ONNX Runtime and others run, for encoders of images.
    Onnx,
}

impl ExportFormat {
    /// The ending of its files.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Safetensors => "safetensors",
            Self::Onnx => "onnx",
        }
    }
}

/// Arguments of `export`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Export {
    /// Folder of the run.
    pub run: PathBuf,
    /// File to write [default: model.safetensors or model.onnx in the run's folder].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Format of the file.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = ExportFormat::Safetensors)]
    pub format: ExportFormat,
    /// With `--format onnx`: also export the projection head, as the output `projections`.
    #[arg(long)]
    pub projections: bool,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `report`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Report {
    /// Folders of runs, or folders that contain runs at any depth; anything else is skipped with a note.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// Metric to show, such as `ndcg@20`; may be repeated [default: recall and NDCG at the largest cutoff].
    #[arg(long = "metric", value_name = "NAME")]
    pub metrics: Vec<String>,
    /// HTML page to write; an existing page is replaced [default: report.html, or report.2.html, … if report.html shows other
    /// results].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print results on stdout as CSV instead of a table.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `watch`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Watch {
    /// Folders of runs, or folders that contain runs; at most 32 runs.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// Port of the page on this machine [default: a free one].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Print only the address of the page.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `recipes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct Recipes {
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `devices`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct Devices {
    /// List the devices of this backend, too; if cargo started the program, a missing backend is built first.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BackendChoice::Auto)]
    pub backend: BackendChoice,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `completions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct Completions {
    /// Shell to complete commands in.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
