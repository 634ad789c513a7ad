//! The arguments of `data`.

use super::Output;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// List, download and check the data sets that recipes can name.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Data {
    /// List the data sets, where each comes from, and whether it is present.
    List(ListData),
    /// Download, check and unpack data sets; an interrupted download continues where it stopped.
    Fetch(FetchData),
    /// Check data sets against their manifests: sizes, checksums and counts.
    Check(CheckData),
}

impl Data {
    /// Whether `--quiet` was given.
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            Self::List(args) => args.output.quiet,
            Self::Fetch(args) => args.quiet,
            Self::Check(args) => args.quiet,
        }
    }
}

/// Arguments of `data list`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ListData {
    /// Folder that contains the data sets.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `data fetch`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct FetchData {
    /// Names of data sets, as in `bcl-train data list`.
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Folder for the data sets; each goes into its own subfolder, `DIR/NAME`.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// Base URL of a mirror to download from, instead of the publisher's.
    #[arg(long, value_name = "URL")]
    pub url_base: Option<String>,
    /// Print no progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `data check`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CheckData {
    /// Names of data sets, as in `bcl-train data list`.
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Folder that contains the data sets.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// Print no progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,
}
