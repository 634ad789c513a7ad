//! The arguments of `fine-tune`.

use super::{ComputeArguments, Output};
use clap::Args;
use std::path::PathBuf;

/// Learning rate per 256 images of a batch (Chen et al. 2020).
const RATE_PER_256: f64 = 0.05;

/// Arguments of `fine-tune`.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct FineTune {
    /// Folder of the run.
    pub run: PathBuf,
    /// Fraction of the training labels to use, above 0 and at most 1. It is drawn from each class, at least one image per class.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = fraction)]
    pub fraction: f64,
    /// Passes over these images.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub epochs: u32,
    /// Peak learning rate; it decays to 0 along half a cosine [default: 0.05 · batch size / 256].
    #[arg(long, value_name = "RATE", value_parser = learning_rate)]
    pub learning_rate: Option<f64>,
    /// Images per batch, at least 2.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    pub batch_size: u32,
    /// Seed for the choice of labels, their order and views, and random weights [default: the run's seed].
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Also train the same network on the same labels from random weights.
    #[arg(long)]
    pub from_scratch: bool,
    /// Folder to write to; its files are replaced [default: fine-tuned in the run's folder].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

impl FineTune {
    /// The peak learning rate.
    pub(crate) fn peak_rate(&self) -> f64 {
        self.learning_rate
            .unwrap_or(RATE_PER_256 * f64::from(self.batch_size) / 256.0)
    }

    /// The folder to write to.
    pub(crate) fn folder(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| self.run.join("fine-tuned"))
    }
}

fn fraction(text: &str) -> Result<f64, String> {
    let is_valid = |value: &f64| *value > 0.0 && *value <= 1.0;
    text.parse()
        .ok()
        .filter(is_valid)
        .ok_or_else(|| "it must be a number above 0 and at most 1, such as 0.1".to_owned())
}

fn learning_rate(text: &str) -> Result<f64, String> {
    let is_valid = |value: &f64| *value >= 1e-30 && *value <= 100.0;
    text.parse()
        .ok()
        .filter(is_valid)
        .ok_or_else(|| "it must be a number above 0 and at most 100, such as 0.0125".to_owned())
}
