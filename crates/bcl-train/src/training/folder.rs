//! The folder of a run.

use super::kept_data::KeptData;
use crate::{error::Error, notice, recipe::Recipe};
use bcl_data::SearchPath;
use bcl_report::{
    files::{self, FolderLock, checksums},
    result::{EpochRecord, Phase, RunResult},
    write_html,
};
use burn::{
    module::{Module, ModuleDisplay},
    store::ModuleRecord,
    tensor::Bytes,
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

const RECIPE: &str = "recipe.toml";
const INVOCATION: &str = "run.json";
const METRICS: &str = "metrics.jsonl";
const MODEL: &str = "model.bpk";
const RESULT: &str = "result.json";

/// What a finished run keeps: the encoder, whatever method trained it.
#[derive(Module, Debug)]
struct Kept<E: Module> {
    encoder: E,
}

/// Loads the weights that a run kept into an encoder of the same shape.
///
/// # Errors
/// When there are none, they are not the ones that were kept, or they do not fit.
pub fn load_kept<E: Module + ModuleDisplay>(encoder: E, folder: &RunFolder) -> Result<E, Error> {
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
    let bytes = Bytes::from_bytes_vec(checksums::read(folder.path(), MODEL)?);
    let record = ModuleRecord::from_bytes(bytes).map_err(|error| broken(&error))?;
    let kept = Kept { encoder }.try_load_record(record).map_err(|error| broken(&error))?;
    Ok(kept.encoder)
}

/// Keeps the weights of an encoder in the [file](RunFolder::model_file) of a run, for [`load_kept`].
///
/// # Errors
/// When the file cannot be written.
pub fn keep<E: Module + ModuleDisplay>(encoder: E, file: &Path) -> Result<(), Error> {
    let bytes = Kept { encoder }
        .into_record()
        .into_bytes()
        .map_err(|error| Error::Training(error.to_string()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    Ok(checksums::write(folder, MODEL, &bytes)?)
}

/// The folder of a run and what lies where in it.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// While this lives, no other process writes into the folder; `None` for those that only read.
    lock: Option<Arc<FolderLock>>,
}

/// What a run needs to go on beside its recipe and its data, as `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Where files that the recipe names were looked for.
    #[serde(flatten)]
    pub search: SearchPath,
    /// The backend.
    pub backend: String,
    /// The command of the table that this is a tuning trial of, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_of: Option<String>,
}

impl Invocation {
    /// Refuses a tuning trial: it is trained on a part of the training data, and is no run of its recipe.
    ///
    /// # Errors
    /// Names the command that goes on with the trial.
    pub fn refuse_trial(&self, folder: &RunFolder) -> Result<(), Error> {
        match &self.trial_of {
            None => Ok(()),
            Some(command) => Err(Error::Input(format!(
                "{} is a tuning trial of a table: it is trained and judged on parts of the training data, and its weights are not kept; \
                 go on with the table ({command}), or train {} as a run of its own",
                folder.path().display(),
                folder.recipe_file().display()
            ))),
        }
    }
}

impl RunFolder {
    /// Makes the folder of a new run: `<out>/<name>-<seed>`, or that with a number behind it where there is one already, because nothing
    /// that a former run wrote is overwritten. Until the last copy of the handle is dropped, no other process can write into it.
    ///
    /// # Errors
    /// When it cannot be made or written to.
    pub fn create(out: &Path, recipe: &Recipe, invocation: &Invocation, data: &KeptData) -> Result<Self, Error> {
        let first = recipe.run_folder(out);
        if let Some(parent) = first.parent() {
            files::create_folder(parent)?;
        }
        let mut path = first.clone();
        let mut number = 1;
        // Two processes may start the same run at once: whoever makes the folder has it.
        while let Err(error) = fs::create_dir(&path) {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(Error::io("create", path)(error));
            }
            number += 1;
            path = PathBuf::from(format!("{}.{number}", first.display()));
        }
        Self { path, lock: None }.locked()?.start(recipe, invocation, data)
    }

    /// The folder of a run at exactly this path: that of an earlier one of the same recipe, seed and data, or a new one. It is locked as a
    /// [new](Self::create) one is.
    ///
    /// # Errors
    /// When another run lies there, another process writes into it, or it cannot be made or written to.
    pub fn at(path: &Path, recipe: &Recipe, invocation: &Invocation, data: &KeptData) -> Result<Self, Error> {
        files::create_folder(path)?;
        let path = path.to_path_buf();
        let folder = Self { path, lock: None }.locked()?;
        // A folder without a recipe is one that was killed before it had begun.
        if !folder.recipe_file().is_file() {
            return folder.start(recipe, invocation, data);
        }
        let earlier = folder.recipe()?;
        if (earlier.hash(), earlier.seed()) == (recipe.hash(), recipe.seed()) {
            folder.data_to_resume()?.check(&data.identity, recipe.name(), folder.path())?;
            return Ok(folder);
        }
        Err(Error::Input(format!(
            "{} holds the run of another recipe or seed than {} asks for; choose another folder",
            folder.path.display(),
            recipe.name()
        )))
    }

    fn start(self, recipe: &Recipe, invocation: &Invocation, data: &KeptData) -> Result<Self, Error> {
        self.record(invocation)?;
        data.write(&self.path)?;
        // The recipe comes last: with it, the folder can be resumed.
        checksums::write(&self.path, RECIPE, recipe.to_toml().as_bytes())?;
        Ok(self)
    }

    /// Opens the folder of an earlier run for reading; [`locked`](Self::locked) is for writing.
    ///
    /// # Errors
    /// When there is no run in it.
    pub fn open(path: &Path) -> Result<(Self, Recipe, Invocation), Error> {
        let folder = Self {
            path: path.to_path_buf(),
            lock: None,
        };
        if !folder.recipe_file().is_file() {
            return Err(Error::Input(format!(
                "{} holds no run (no recipe.toml); give the folder of a run, such as runs/NAME-SEED",
                path.display()
            )));
        }
        if !checksums::exist(path) {
            notice::note(format!(
                "{} has no checksums, as an earlier version left it: its files are read unchecked",
                path.display()
            ));
        }
        let recipe = folder.recipe()?;
        let file = path.join(INVOCATION);
        let invocation: Invocation = serde_json::from_slice(&checksums::read(path, INVOCATION)?)
            .map_err(|error| Error::Input(format!("{} is broken: {error}; start the run again", file.display())))?;
        let recipe = recipe.in_folder(invocation.search.recipe_dir().map(Path::to_path_buf));
        Ok((folder, recipe, invocation))
    }

    /// The recipe that the run was started with.
    fn recipe(&self) -> Result<Recipe, Error> {
        checksums::read(&self.path, RECIPE)?;
        Ok(Recipe::from_file(self.recipe_file(), &[])?)
    }

    /// Records how the run was called, or where its data have moved since. Only for the process that holds the folder's lock.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record(&self, invocation: &Invocation) -> Result<(), Error> {
        let invocation = serde_json::to_vec_pretty(invocation).expect("an invocation is plain data");
        Ok(checksums::write(&self.path, INVOCATION, &invocation)?)
    }

    /// What the run keeps of its data, which a run that goes on must find again.
    ///
    /// # Errors
    /// When nothing was kept, as version 0.1 did, or the file is damaged.
    pub fn data_to_resume(&self) -> Result<KeptData, Error> {
        KeptData::read(&self.path)?.ok_or_else(|| {
            Error::Input(format!(
                "{} has no data.json, because version 0.1 began it: whether its data are still the same cannot be told; start it again",
                self.path.display()
            ))
        })
    }

    /// The same folder, into which no other process can write until the last copy of this handle is dropped. What a crash left unfinished
    /// is removed.
    ///
    /// # Errors
    /// When another process writes into it: says which. Or when it cannot be written to.
    pub fn locked(self) -> Result<Self, Error> {
        let lock = match self.lock {
            Some(lock) => lock,
            None => Arc::new(FolderLock::take(&self.path)?),
        };
        let folder = Self {
            lock: Some(lock),
            ..self
        };
        let phases = [Phase::Selection, Phase::Refit, Phase::Training].map(|phase| folder.checkpoints(phase));
        phases
            .iter()
            .chain([&folder.path])
            .for_each(|path| files::remove_unfinished(path));
        Ok(folder)
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
        self.path.join(RECIPE)
    }

    /// One line an epoch.
    pub fn metrics_file(&self) -> PathBuf {
        self.path.join(METRICS)
    }

    /// The weights at the chosen epoch.
    pub fn model_file(&self) -> PathBuf {
        self.path.join(MODEL)
    }

    /// The result.
    pub fn result_file(&self) -> PathBuf {
        self.path.join(RESULT)
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
        Ok(files::write_whole(&self.metrics_file(), &lines(records))?)
    }

    /// Writes what a run ends with: the lines of all epochs, the result with its showcase, and the report.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn finish(&self, result: &RunResult, records: Vec<EpochRecord>) -> Result<(), Error> {
        checksums::write(&self.path, METRICS, &lines(&records))?;
        if let Some(showcase) = &result.showcase {
            showcase.write_map(&self.path)?;
            showcase.write(&self.path)?;
        }
        let text = serde_json::to_vec_pretty(result).expect("a result is plain data");
        checksums::write(&self.path, RESULT, &text)?;
        Ok(write_html(&self.report_file(), &[(result.clone(), records)])?)
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

/// One line per epoch.
fn lines(records: &[EpochRecord]) -> Vec<u8> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record).expect("a record is plain data");
        lines.push(b'\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, sync::Barrier, thread};

    fn invocation() -> Invocation {
        Invocation {
            search: SearchPath::new(None, Path::new("data")),
            backend: "flex".to_owned(),
            trial_of: None,
        }
    }

    fn data() -> KeptData {
        KeptData::of_interactions(&bcl_data::PlantedConfig::default().generate())
    }

    fn recipe() -> Recipe {
        let found = crate::recipe::find("quickstart/bayesian").expect("a built-in recipe");
        Recipe::read(&found[0], &[]).expect("it reads")
    }

    #[test]
    fn runs_that_start_at_once_have_folders_of_their_own() {
        const RUNS: usize = 8;
        let out = tempfile::tempdir().expect("a folder");
        let (recipe, start) = (recipe(), Barrier::new(RUNS));
        let create = || {
            start.wait();
            RunFolder::create(out.path(), &recipe, &invocation(), &data()).expect("a folder of its own")
        };
        let folders: BTreeSet<PathBuf> = thread::scope(|scope| {
            let runs: Vec<_> = (0..RUNS).map(|_| scope.spawn(create)).collect();
            let folders = runs.into_iter().map(|run| run.join().expect("it ends"));
            folders.map(|folder| folder.path).collect()
        });
        assert_eq!(folders.len(), RUNS);
    }

    #[test]
    fn a_folder_is_locked_until_its_last_handle_is_dropped() {
        let out = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::create(out.path(), &recipe(), &invocation(), &data()).expect("writable");
        let path = folder.path().to_owned();
        let copy = folder.clone();
        drop(folder);
        let opened = RunFolder::open(&path).expect("readers need no lock").0;
        let message = opened.clone().locked().expect_err("held").to_string();
        assert!(message.contains("is in use by process"), "{message}");
        assert!(RunFolder::at(&path, &recipe(), &invocation(), &data()).is_err());
        drop(copy);
        opened.locked().expect("free");
    }

    #[test]
    fn a_recipe_that_changed_since_the_run_began_is_refused() {
        let out = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::create(out.path(), &recipe(), &invocation(), &data()).expect("writable");
        let text = fs::read_to_string(folder.recipe_file()).expect("readable");
        fs::write(folder.recipe_file(), text.replacen('1', "2", 1)).expect("writable");
        let message = RunFolder::open(folder.path()).expect_err("changed").to_string();
        assert!(message.contains("recipe.toml was damaged or changed"), "{message}");
    }
}
