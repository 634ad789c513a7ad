//! The verbs that search a folder of images with the encoder of a run.

use super::{ComputeArguments, Output};
use clap::Args;
use std::path::PathBuf;

/// Which images are searched, with which encoder.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Searched {
    /// Folder or archive of JPEG, PNG and WebP images, with or without labels [default: the images of the run].
    #[arg(long = "in", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Skip files that cannot be read as an image, instead of refusing the folder.
    #[arg(long, requires = "folder")]
    pub skip_broken: bool,

    /// Folder to keep the features in for the next search; they are computed again if images, weights or recipe have changed
    /// [default: features in the run's folder].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// HTML page with the pictures; an existing page is replaced [default: VERB.html, or VERB.2.html, … if that page shows something else].
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// Arguments of `neighbours`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Neighbours {
    /// Folder of the run.
    pub run: PathBuf,
    /// JPEG, PNG or WebP images to find similar ones for. An image is not its own neighbour: those with the same pixels are left out.
    #[arg(value_name = "QUERY", required = true)]
    pub queries: Vec<PathBuf>,
    /// What is searched.
    #[command(flatten)]
    pub searched: Searched,
    /// Number of neighbours per query.
    #[arg(long, value_name = "K", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub top: u32,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `duplicates`.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct Duplicates {
    /// Folder of the run.
    pub run: PathBuf,
    /// What is searched.
    #[command(flatten)]
    pub searched: Searched,
    /// Cosine similarity from which two images are near-duplicates, above 0 and at most 1; 1 finds images with equal features.
    #[arg(long, value_name = "COSINE", default_value_t = 0.98, value_parser = threshold)]
    pub threshold: f32,
    /// Print one row per image on stdout as CSV instead of a table.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `subset`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Subset {
    /// Folder of the run.
    pub run: PathBuf,
    /// What is searched.
    #[command(flatten)]
    pub searched: Searched,
    /// Number of images to choose.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    /// Choose the same number of images from every class, as long as there are enough. Every image needs a label.
    #[arg(long)]
    pub balanced: bool,
    /// Start from a random image, drawn with this seed [default: start from the image that is most similar to all others].
    #[arg(long, value_name = "SEED", conflicts_with = "chosen")]
    pub seed: Option<u64>,
    /// File that lists images already chosen, one path per line; new ones are chosen far from these, too.
    #[arg(long, value_name = "LIST")]
    pub chosen: Option<PathBuf>,
    /// Text file to write: one path per line, relative to the folder, in the order in which they were chosen [default: standard output].
    #[arg(long, value_name = "LIST")]
    pub out: Option<PathBuf>,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

fn threshold(text: &str) -> Result<f32, String> {
    let is_valid = |value: &f32| *value > 0.0 && *value <= 1.0;
    text.parse()
        .ok()
        .filter(is_valid)
        .ok_or_else(|| "it must be a number above 0 and at most 1, such as 0.98".to_owned())
}
