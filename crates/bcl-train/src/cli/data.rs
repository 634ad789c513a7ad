//! The arguments of `data`.

use super::Output;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What to do with the data sets that recipes know by name.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Data {
    /// List the data sets, where each comes from, and whether it is there.
    List(ListData),
    /// Download data sets, check them, and unpack what is not read packed; an interrupted download continues where it stopped.
    Fetch(FetchData),
    /// Compare data sets that are there with their manifests: sizes, checksums and counts.
    Check(CheckData),
}

impl Data {
    /// Whether `--quiet` was given.
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::List(args) => args.output.quiet,
            Self::Fetch(args) => args.quiet,
            Self::Check(args) => args.quiet,
        }
    }
}

/// Arguments of `data list`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ListData {
    /// Folder that holds the data sets.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `data fetch`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct FetchData {
    /// Data sets, as `bcl-train data list` names them.
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Folder that holds the data sets; each gets one of its own in it, `DIR/NAME`.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// Folder of a mirror, to download from instead of the publisher.
    #[arg(long, value_name = "URL")]
    pub url_base: Option<String>,
    /// No progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `data check`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CheckData {
    /// Data sets, as `bcl-train data list` names them.
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Folder that holds the data sets.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// No progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,
}
