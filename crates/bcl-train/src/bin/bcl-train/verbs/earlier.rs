//! Runs that earlier commands left in the folder for runs.

use super::Finished;
use bcl_files::{checksums, notice, shell_quoted};
use bcl_recipe::{Difference, Recipe, of_kind};
use bcl_report::read_run;
use bcl_train::{
    error::Error,
    training::{DataRecord, Invocation, RunFolder},
};
use std::path::{Path, PathBuf};

/// The only key in which a run and its extension differ.
const EPOCHS: &str = "training.epochs";

/// A run of an earlier command, finished or not.
#[derive(Debug)]
pub(super) struct EarlierRun {
    pub(super) folder: RunFolder,
    pub(super) recipe: Recipe,
    pub(super) invocation: Invocation,
}

impl EarlierRun {
    /// Opens the folder of a run.
    ///
    /// # Errors
    /// Returns an error if it holds none.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let (folder, recipe, invocation) = RunFolder::open(path)?;
        Ok(Self {
            folder,
            recipe,
            invocation,
        })
    }

    /// The runs in a folder and in those beside it whose names have a number appended. Tuning trials and folders of anything else are left out.
    pub(super) fn at(first: &Path) -> Vec<Self> {
        let numbered = (2..).map(|number| RunFolder::numbered(first, number));
        std::iter::once(first.to_path_buf())
            .chain(numbered)
            .take_while(|path| path.exists())
            .filter(|path| path.join("recipe.toml").is_file())
            .filter_map(|path| Self::open(&path).ok())
            .filter(|run| run.invocation.trial_of.is_none())
            .collect()
    }

    /// Its maximum number of epochs per phase.
    pub(super) fn epochs(&self) -> usize {
        epochs(&self.recipe)
    }

    /// Whether it has its result.
    pub(super) fn is_finished(&self) -> bool {
        self.folder.result_file().is_file()
    }

    /// Whether it is a run of this recipe and seed.
    pub(super) fn is_of(&self, recipe: &Recipe) -> bool {
        (self.recipe.hash(), self.recipe.seed()) == (recipe.hash(), recipe.seed())
    }

    /// What a recipe changes in this run apart from the number of epochs.
    pub(super) fn other_changes(&self, recipe: &Recipe) -> Vec<String> {
        let seeds = [self.recipe.seed(), recipe.seed()];
        let seed = (seeds[0] != seeds[1]).then(|| format!("seed: {} there, {} here", seeds[0], seeds[1]));
        let changed = self.recipe.differences(recipe).into_iter();
        let changed = changed.filter(|changed| changed.key != EPOCHS);
        seed.into_iter()
            .chain(changed.map(|changed: Difference| changed.to_string()))
            .collect()
    }

    /// Whether it was trained on these data.
    fn is_on(&self, data: &DataRecord) -> bool {
        let record = DataRecord::read(self.folder.path()).ok().flatten();
        record.is_some_and(|record| record.identity == data.identity)
    }
}

/// The maximum number of epochs per phase of a recipe.
pub(super) fn epochs(recipe: &Recipe) -> usize {
    of_kind!(recipe, recipe => recipe.training.epochs)
}

/// The finished run of a recipe with its seed on these data in the folder for runs, if there is one. A note names an unfinished one.
///
/// # Errors
/// Returns an error if such a run is there but damaged.
pub(super) fn finished_run(out: &Path, recipe: &Recipe, data: &DataRecord) -> Result<Option<(PathBuf, Finished)>, Error> {
    let runs = EarlierRun::at(&recipe.run_folder(out)).into_iter();
    for run in runs.filter(|run| run.is_of(recipe) && run.is_on(data)) {
        let path = run.folder.path();
        if run.is_finished() {
            checksums::check_all(path)?;
            return Ok(Some((path.to_path_buf(), read_run(path)?)));
        }
        notice::note(format_args!(
            "{} is unfinished and left as it is; a new run is trained (to continue the unfinished one: bcl-train --resume {})",
            path.display(),
            shell_quoted(path.display())
        ));
    }
    Ok(None)
}
