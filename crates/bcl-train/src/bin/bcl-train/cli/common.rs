//! Arguments that many verbs have.

use bcl_backend::BackendChoice;
use bcl_train::error::Error;
use clap::Args;
use std::path::{Path, PathBuf};

/// Where a command computes, and where it looks for data.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ComputeArguments {
    /// Backend that computes.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BackendChoice::Flex)]
    pub backend: BackendChoice,

    /// Index of the device within the backend, starting at 0; `bcl-train devices` lists them [default: the best].
    #[arg(long, value_name = "N")]
    pub device: Option<usize>,

    /// Folder to search for data sets, and for files of a recipe that are not beside it [default: data]. For an
    /// existing run, it is searched before the folders where the run found its files.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Number of worker threads; results do not depend on it [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

impl ComputeArguments {
    /// Checks that the folder given as `--data` exists.
    ///
    /// # Errors
    /// Returns an error that names the folder if it does not exist.
    pub(crate) fn check_data(&self) -> Result<(), Error> {
        match &self.data {
            Some(dir) if !dir.is_dir() => Err(Error::Input(format!(
                "--data {}: no such folder; create it or correct the path",
                dir.display()
            ))),
            _ => Ok(()),
        }
    }

    /// The folder to search for the data of a new run.
    pub(crate) fn data_dir(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new("data"))
    }
}

/// How much a command prints, and in which format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Args)]
pub(crate) struct Output {
    /// Print no progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,

    /// Print results on stdout as JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}
