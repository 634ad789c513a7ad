//! What all runs of one command share.

use crate::{
    kinds::Surroundings,
    logging::Loggers,
    training::{RunFolder, Stop},
};
use bcl_backend::Backend;
use bcl_data::SearchPath;
use bcl_report::notice;
use std::path::{Path, PathBuf};

/// What all runs of one command share.
#[derive(Debug)]
pub struct Session {
    /// The device that computes.
    pub backend: Backend,
    /// Folder to search for the data files of new runs.
    pub data_dir: PathBuf,
    /// Folder to search first for the data files of an earlier run, if they have moved.
    pub moved_data: Option<PathBuf>,
    /// Folder for runs.
    pub out: PathBuf,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Whether to print JSON.
    pub json: bool,
    /// What becomes of runs of the same recipe and seed in [`out`](Self::out).
    pub earlier: Earlier,
    /// Stops the current run.
    pub stop: Stop,
}

/// What becomes of earlier runs of the recipes of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// They stay, and new ones are trained beside them.
    Keep,
    /// Finished runs on the same data are shown instead of trained again.
    Show,
    /// They are continued: unfinished runs to their end, finished ones with fewer epochs to more.
    Continue,
}

impl Session {
    /// What a run needs beside its recipe and its data. The advice for an interruption names its folder.
    pub(super) fn around<'a>(&'a self, folder: &'a RunFolder, search: &'a SearchPath) -> Surroundings<'a> {
        let run = folder.path().display();
        self.stop.advise(Some(format!(
            "continue from the last checkpoint with: bcl-train --resume {run}"
        )));
        Surroundings {
            folder,
            search,
            backend: &self.backend,
            quiet: self.quiet,
            stop: self.stop.clone(),
            loggers: Loggers::default(),
        }
    }

    /// Prints where a page is.
    pub(super) fn say_where(&self, page: &Path) {
        if !self.quiet {
            notice::status(format!("report: {}", page.display()));
        }
    }
}
