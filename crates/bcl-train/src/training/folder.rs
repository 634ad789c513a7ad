//! The folder of a run.

use super::files;
use crate::{
    error::Error,
    recipe::Recipe,
    result::{EpochRecord, Phase, RunResult},
};
use burn::{module::Module, store::ModuleRecord};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Loads the weights that a run kept into a module of the same shape.
///
/// # Errors
/// When there are none, or they do not fit.
pub fn load_kept<M: Module>(module: M, folder: &RunFolder) -> Result<M, Error> {
    let file = folder.model_file();
    if !file.is_file() {
        let run = folder.path().display();
        return Err(Error::Input(format!(
            "{run} has no weights yet; finish the run with: bcl-train --resume {run}"
        )));
    }
    let broken = |error: &dyn std::fmt::Display| {
        Error::Input(format!(
            "{} cannot be read: {error}; train again or restore the file",
            file.display()
        ))
    };
    let record = ModuleRecord::load(&file).map_err(|error| broken(&error))?;
    module.try_load_record(record).map_err(|error| broken(&error))
}

/// Keeps the weights of a module in a file, for [`load_kept`].
///
/// # Errors
/// When the file cannot be written.
pub fn keep<M: Module>(module: M, file: &Path) -> Result<(), Error> {
    let bytes = module
        .into_record()
        .into_bytes()
        .map_err(|error| Error::Training(error.to_string()))?;
    files::write_whole(file, &bytes)
}

/// The folder of a run and what lies where in it.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// What a run needs to go on beside its recipe, as `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Where data files were looked for.
    pub data_dir: PathBuf,
    /// The backend.
    pub backend: String,
}

impl RunFolder {
    /// Makes the folder of a new run: `<out>/<name>-<seed>`, or that with a number behind it where there is one already, because nothing
    /// that a former run wrote is overwritten.
    ///
    /// # Errors
    /// When it cannot be made or written to.
    pub fn create(out: &Path, recipe: &Recipe, invocation: &Invocation) -> Result<Self, Error> {
        let first = recipe.run_folder(out);
        let mut path = first.clone();
        let mut number = 1;
        while path.exists() {
            number += 1;
            path = PathBuf::from(format!("{}.{number}", first.display()));
        }
        Self::start(path, recipe, invocation)
    }

    /// The folder of a run at exactly this path: that of an earlier one of the same recipe and seed, or a new one.
    ///
    /// # Errors
    /// When another run lies there, or it cannot be made or written to.
    pub fn at(path: &Path, recipe: &Recipe, invocation: &Invocation) -> Result<Self, Error> {
        let folder = Self {
            path: path.to_path_buf(),
        };
        // A folder without a recipe is one that was killed before it had begun.
        if !folder.recipe_file().is_file() {
            return Self::start(folder.path, recipe, invocation);
        }
        let earlier = Recipe::from_file(folder.recipe_file(), &[])?;
        if (earlier.hash(), earlier.seed()) == (recipe.hash(), recipe.seed()) {
            return Ok(folder);
        }
        Err(Error::Input(format!(
            "{} holds the run of another recipe or seed than {} asks for; choose another folder",
            path.display(),
            recipe.name()
        )))
    }

    fn start(path: PathBuf, recipe: &Recipe, invocation: &Invocation) -> Result<Self, Error> {
        files::create_folder(&path)?;
        let folder = Self { path };
        let invocation = serde_json::to_vec_pretty(invocation).expect("an invocation is plain data");
        files::write_whole(&folder.path.join("run.json"), &invocation)?;
        // The recipe comes last: with it, the folder can be resumed.
        files::write_whole(&folder.recipe_file(), recipe.to_toml().as_bytes())?;
        Ok(folder)
    }

    /// Opens the folder of an earlier run.
    ///
    /// # Errors
    /// When there is no run in it.
    pub fn open(path: &Path) -> Result<(Self, Recipe, Invocation), Error> {
        let folder = Self {
            path: path.to_path_buf(),
        };
        if !folder.recipe_file().is_file() {
            return Err(Error::Input(format!(
                "{} holds no run (no recipe.toml); give the folder of a run, such as runs/NAME-SEED",
                path.display()
            )));
        }
        let recipe = Recipe::from_file(folder.recipe_file(), &[])?;
        let file = path.join("run.json");
        let text = fs::read(&file).map_err(Error::io("read", &file))?;
        let invocation = serde_json::from_slice(&text)
            .map_err(|error| Error::Input(format!("{} is broken: {error}; start the run again", file.display())))?;
        Ok((folder, recipe, invocation))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folder of the checkpoints of a phase.
    pub fn checkpoints(&self, phase: Phase) -> PathBuf {
        let name = match phase {
            Phase::Selection => "selection",
            Phase::Refit => "refit",
            Phase::Training => "training",
        };
        self.path.join("checkpoints").join(name)
    }

    /// The resolved recipe.
    pub fn recipe_file(&self) -> PathBuf {
        self.path.join("recipe.toml")
    }

    /// One line an epoch.
    pub fn metrics_file(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// The weights at the chosen epoch.
    pub fn model_file(&self) -> PathBuf {
        self.path.join("model.bpk")
    }

    /// The result.
    pub fn result_file(&self) -> PathBuf {
        self.path.join("result.json")
    }

    /// The report.
    pub fn report_file(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Rewrites the lines of the epochs: a killed run may have left one more than its checkpoint knows, or half a line.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn rewrite_metrics(&self, records: &[EpochRecord]) -> Result<(), Error> {
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record).expect("a record is plain data");
            lines.push(b'\n');
        }
        files::write_whole(&self.metrics_file(), &lines)
    }

    /// Writes the result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_result(&self, result: &RunResult) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(result).expect("a result is plain data");
        files::write_whole(&self.result_file(), &text)
    }

    /// Removes what only an unfinished run needs.
    pub fn tidy(&self) {
        // Checkpoints left behind cost space, not correctness.
        let _ = fs::remove_dir_all(self.checkpoints(Phase::Selection));
    }

    /// Removes all weights, of a run that was only made for its figures.
    pub fn forget_weights(&self) {
        let _ = fs::remove_dir_all(self.path.join("checkpoints"));
        let _ = fs::remove_file(self.model_file());
    }
}
