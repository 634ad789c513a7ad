//! What all runs of one command share.

use bcl_backend::Backend;
use bcl_collective::Collective;
use bcl_data::SearchPath;
use bcl_files::{notice, shell_quoted};
use bcl_recipe::Recipe;
use bcl_train::{
    error::Error,
    kinds::Surroundings,
    logging::Loggers,
    processes::{on_first, refuse_differences},
    training::{RunFolder, Stop},
};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// What all runs of one command share.
#[derive(Debug)]
pub(crate) struct Session {
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
    /// The processes that train together. Process 0 alone writes and prints.
    pub processes: Arc<dyn Collective>,
}

/// What becomes of earlier runs of the recipes of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Earlier {
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
        let run = shell_quoted(folder.path().display());
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
            processes: self.processes.clone(),
        }
    }

    /// Refuses to begin unless all processes were asked for the same: before they read anything, because what they read decides what they do.
    ///
    /// # Errors
    /// As [`refuse_differences`].
    pub(super) fn refuse_different_commands(&self, recipes: &[&Recipe], resumed: Option<&Path>) -> Result<(), Error> {
        let recipes = recipes.iter().map(|recipe| format!("{} ({})", recipe.hash(), recipe.seed()));
        let facts = [
            ("version of bcl-train", env!("CARGO_PKG_VERSION").to_owned()),
            ("recipe or seed", recipes.collect::<Vec<_>>().join(", ")),
            ("treatment of earlier runs", format!("{:?}", self.earlier)),
            (
                "folder to resume",
                resumed.map(|folder| folder.display().to_string()).unwrap_or_default(),
            ),
        ];
        refuse_differences(&*self.processes, &facts)
    }

    /// Creates the folder of a run on process 0; see [`RunFolder::create`].
    pub(super) fn create_folder(&self, create: impl FnOnce() -> Result<RunFolder, Error>) -> Result<RunFolder, Error> {
        let mut created = None;
        let path = self.on_first(|| {
            let folder = create()?;
            let path = folder.path().to_path_buf();
            created = Some(folder);
            Ok(path)
        })?;
        Ok(created.unwrap_or_else(|| RunFolder::of_first_process(path)))
    }

    /// Runs `work` on process 0; see [`on_first`].
    pub(super) fn on_first<T: Clone + Serialize + DeserializeOwned>(
        &self,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        on_first(&*self.processes, work)
    }

    /// Prints where a page is.
    pub(super) fn say_where(&self, page: &Path) {
        if !self.quiet {
            notice::status(format!("report: {}", page.display()));
        }
    }
}
