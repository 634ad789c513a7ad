//! The folder of a run.

use super::{checkpoint, data_record::DataRecord};
use crate::error::Error;
use bcl_data::SearchPath;
use bcl_files::{FolderLock, checksums, notice, shell_quoted};
use bcl_recipe::Recipe;
use bcl_report::{
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

const CLUSTERS_HEADER: &str = "image,first_half,second_half";
/// The file of the encoder in the folder of a run.
pub const MODEL: &str = "model.bpk";
const RESULT: &str = "result.json";

/// What `model.bpk` holds: the encoder, whichever method trained it.
#[derive(Module, Debug)]
struct SavedModel<E: Module> {
    encoder: E,
}

/// Loads the weights of a finished run into an encoder of the same shape.
///
/// # Errors
/// If there are no weights, their checksum is wrong, or they do not fit the encoder.
pub fn load_model<E: Module + ModuleDisplay>(encoder: E, folder: &RunFolder) -> Result<E, Error> {
    let file = folder.model_file();
    if !file.is_file() {
        let run = folder.path().display();
        return Err(Error::Input(if folder.result_file().is_file() {
            format!(
                "{run} is finished, but its weights have been removed; restore {}, or train again",
                file.display()
            )
        } else {
            format!(
                "{run} has no weights yet; finish the run with: bcl-train --resume {}",
                shell_quoted(folder.path().display())
            )
        }));
    }
    let broken = |error: &dyn std::fmt::Display| {
        Error::Input(format!(
            "cannot read {}: {error}; restore the file or train again",
            file.display()
        ))
    };
    let bytes = Bytes::from_bytes_vec(checksums::read(folder.path(), MODEL)?);
    let record = ModuleRecord::from_bytes(bytes).map_err(|error| broken(&error))?;
    let model = SavedModel { encoder }
        .try_load_record(record)
        .map_err(|error| broken(&error))?;
    Ok(model.encoder)
}

/// Saves the weights of an encoder in the [model file](RunFolder::model_file) of a run, for [`load_model`].
///
/// # Errors
/// If the file cannot be written.
pub fn save_model<E: Module + ModuleDisplay>(encoder: E, file: &Path) -> Result<(), Error> {
    let bytes = SavedModel { encoder }
        .into_record()
        .into_bytes()
        .map_err(|error| Error::Training(error.to_string()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    Ok(checksums::write(folder, MODEL, &bytes)?)
}

/// The folder of a run, and the paths of its files.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// Keeps other processes from writing into the folder; `None` for readers.
    lock: Option<Arc<FolderLock>>,
}

/// What a run needs to be resumed, beside its recipe and its data; stored as `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Search path of the files that the recipe names.
    #[serde(flatten)]
    pub search: SearchPath,
    /// The backend.
    pub backend: String,
    /// Number of processes that train together; when a run is resumed with another number, the last one.
    pub processes: usize,
    /// For a tuning trial, the command of its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_of: Option<String>,
}

/// The layout of a run's folder that this program writes and reads.
const FORMAT: u32 = 1;

/// The content of `run.json`.
#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    #[serde(flatten)]
    invocation: Invocation,
}

impl Invocation {
    /// Refuses a folder whose path `run.json` cannot hold.
    fn check_paths(&self) -> Result<(), Error> {
        let mut folders = [Some(self.search.data_dir()), self.search.recipe_dir()].into_iter().flatten();
        match folders.find(|folder| folder.to_str().is_none()) {
            None => Ok(()),
            Some(folder) => Err(Error::Input(format!("{} is not UTF-8; rename the folder", folder.display()))),
        }
    }

    /// Refuses a tuning trial, which was trained on a part of the training data only.
    ///
    /// # Errors
    /// Names the command that continues the table.
    pub fn refuse_trial(&self, folder: &RunFolder) -> Result<(), Error> {
        match &self.trial_of {
            None => Ok(()),
            Some(command) => Err(Error::Input(format!(
                "{} is a tuning trial of a table: it was trained and evaluated on parts of the training data, and its weights are not \
                 kept; continue the table ({command}), or train {} as a run of its own",
                folder.path().display(),
                folder.recipe_file().display()
            ))),
        }
    }
}

impl RunFolder {
    /// Creates the folder of a new run, `<out>/<name>-<seed>`, with a number appended if that exists: no run is overwritten. The folder is
    /// locked against other processes until the last copy of the handle is dropped.
    ///
    /// # Errors
    /// If it cannot be created or written to.
    pub fn create(out: &Path, recipe: &Recipe, invocation: &Invocation, data: &DataRecord) -> Result<Self, Error> {
        invocation.check_paths()?;
        Self::reserve(&recipe.run_folder(out))?.start(recipe, invocation, data)
    }

    /// As [`create`](Self::create), at a path of the caller's choice, with a number appended if that exists. `prepare` fills the folder before
    /// it counts as a run; if it fails, no folder is left.
    ///
    /// # Errors
    /// As [`create`](Self::create), and the errors of `prepare`.
    pub fn create_with(
        first: &Path,
        recipe: &Recipe,
        invocation: &Invocation,
        data: &DataRecord,
        prepare: impl FnOnce(&Self) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        invocation.check_paths()?;
        let folder = Self::reserve(first)?;
        match prepare(&folder) {
            Ok(()) => folder.start(recipe, invocation, data),
            Err(error) => {
                let _ = fs::remove_dir_all(&folder.path);
                Err(error)
            }
        }
    }

    /// The folder of a run that another process has created and writes.
    pub fn of_first_process(path: PathBuf) -> Self {
        Self { path, lock: None }
    }

    /// Creates an empty folder at a path, with a number appended if that exists, and locks it.
    fn reserve(first: &Path) -> Result<Self, Error> {
        if let Some(parent) = first.parent() {
            bcl_files::create_folder(parent)?;
        }
        let mut path = first.to_path_buf();
        let mut number = 1;
        // Two processes may start the same run at once; the one that creates the folder owns it.
        while let Err(error) = fs::create_dir(&path) {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(Error::io("create", path)(error));
            }
            number += 1;
            path = Self::numbered(first, number);
        }
        Self { path, lock: None }.locked()
    }

    /// A path with a number appended: `runs/a-0.2`.
    pub fn numbered(first: &Path, number: usize) -> PathBuf {
        let mut path = first.as_os_str().to_owned();
        path.push(format!(".{number}"));
        path.into()
    }

    /// Creates or reopens the folder of a run at exactly this path, and locks it. An existing one must have the same recipe, seed and data.
    ///
    /// # Errors
    /// If the folder holds another run, is locked by another process, or cannot be created or written to.
    pub fn at(path: &Path, recipe: &Recipe, invocation: &Invocation, data: &DataRecord) -> Result<Self, Error> {
        invocation.check_paths()?;
        bcl_files::create_folder(path)?;
        let path = path.to_path_buf();
        let folder = Self { path, lock: None }.locked()?;
        // A run that was killed before it began leaves a folder without a recipe.
        if !folder.recipe_file().is_file() {
            return folder.start(recipe, invocation, data);
        }
        let earlier = folder.recipe()?;
        if (earlier.hash(), earlier.seed()) == (recipe.hash(), recipe.seed()) {
            folder.data_to_resume()?.check(&data.identity, recipe.name(), folder.path())?;
            return Ok(folder);
        }
        Err(Error::Input(format!(
            "{} holds a run of another recipe or seed than {}; choose another folder",
            folder.path.display(),
            recipe.name()
        )))
    }

    fn start(self, recipe: &Recipe, invocation: &Invocation, data: &DataRecord) -> Result<Self, Error> {
        self.record(invocation)?;
        data.write(&self.path)?;
        // The recipe is written last: once it exists, the run can be resumed.
        checksums::write(&self.path, RECIPE, recipe.to_toml().as_bytes())?;
        Ok(self)
    }

    /// Opens the folder of an existing run for reading; use [`locked`](Self::locked) for writing.
    ///
    /// # Errors
    /// If the folder holds no run.
    pub fn open(path: &Path) -> Result<(Self, Recipe, Invocation), Error> {
        // Other runs are put beside it, so the path must end in its name.
        let mut path: PathBuf = path.components().collect();
        if path.file_name().is_none() {
            path = fs::canonicalize(&path).map_err(Error::io("find", &path))?;
        }
        let path = &*path;
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
                "{} was written by an earlier version without checksums; its files are read without checking them",
                path.display()
            ));
        }
        let recipe = folder.recipe()?;
        let file = path.join(INVOCATION);
        let Stored { format, invocation } = serde_json::from_slice(&checksums::read(path, INVOCATION)?)
            .map_err(|error| Error::Input(format!("{} is broken: {error}; start the run again", file.display())))?;
        if format != FORMAT {
            return Err(Error::Input(format!(
                "{} has format {format}, but this program reads {FORMAT}; use the version that wrote it, or start the run again",
                file.display()
            )));
        }
        let recipe = recipe.in_folder(invocation.search.recipe_dir().map(Path::to_path_buf));
        Ok((folder, recipe, invocation))
    }

    /// The recipe that the run was started with.
    fn recipe(&self) -> Result<Recipe, Error> {
        checksums::read(&self.path, RECIPE)?;
        Ok(Recipe::from_file(self.recipe_file(), &[])?)
    }

    /// Writes `run.json`: how the run was called, or where its data are now. Requires the folder's lock.
    ///
    /// # Errors
    /// If the path of a folder is not UTF-8, or the file cannot be written.
    pub fn record(&self, invocation: &Invocation) -> Result<(), Error> {
        invocation.check_paths()?;
        let stored = Stored {
            format: FORMAT,
            invocation: invocation.clone(),
        };
        let text = serde_json::to_vec_pretty(&stored).expect("an invocation is plain data");
        Ok(checksums::write(&self.path, INVOCATION, &text)?)
    }

    /// Reads `data.json`, which the data of a resumed run must match.
    ///
    /// # Errors
    /// If the file does not exist or is damaged.
    pub fn data_to_resume(&self) -> Result<DataRecord, Error> {
        DataRecord::read(&self.path)?.ok_or_else(|| {
            Error::Input(format!(
                "{} has no data.json, so nothing tells whether its data have changed; restore it from a copy, or start the run again",
                self.path.display()
            ))
        })
    }

    /// Locks the folder against other processes until the last copy of this handle is dropped, and removes unfinished files that a crash
    /// has left.
    ///
    /// # Errors
    /// If another process holds the lock (the error names it), or the folder cannot be written to.
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
            .chain([&folder.inherited(), &folder.path])
            .for_each(|path| bcl_files::remove_unfinished(path));
        Ok(folder)
    }

    /// Path of the folder.
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

    /// Folder of what an extended run takes over from the second phase of the shorter one, until its own second phase begins.
    pub fn inherited(&self) -> PathBuf {
        self.path.join("checkpoints").join("inherited")
    }

    /// The resolved recipe.
    pub fn recipe_file(&self) -> PathBuf {
        self.path.join(RECIPE)
    }

    /// The metrics, one line per epoch.
    pub fn metrics_file(&self) -> PathBuf {
        self.path.join(METRICS)
    }

    /// The detected clusters of the training images, one line per image; only if the recipe has `[recovery]`.
    pub fn clusters_file(&self) -> PathBuf {
        self.path.join("clusters.csv")
    }

    /// Writes the clusters of the training images by the clusters of two halves.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_clusters(&self, [first, second]: &[Vec<u32>; 2]) -> Result<(), Error> {
        let lines = first.iter().zip(second).enumerate();
        let lines = lines.map(|(image, (first, second))| format!("{image},{first},{second}\n"));
        let text = format!("{CLUSTERS_HEADER}\n{}", lines.collect::<String>());
        Ok(bcl_files::write_whole(&self.clusters_file(), text.as_bytes())?)
    }

    /// Reads the clusters of the training images by the clusters of the first half; `None` if nothing was detected, or if the file was changed.
    pub fn read_clusters(&self) -> Option<Vec<u32>> {
        let text = fs::read_to_string(self.clusters_file()).ok()?;
        let lines = text.strip_prefix(CLUSTERS_HEADER)?.lines().skip(1);
        lines.map(|line| line.split(',').nth(1)?.parse().ok()).collect()
    }

    /// The loss within epochs, one line per point; only if `logging.every` asks for it.
    pub fn steps_file(&self) -> PathBuf {
        self.path.join("steps.jsonl")
    }

    /// Folder of the event files of TensorBoard, one folder per phase; only if `logging.tensorboard` is on.
    pub fn tensorboard(&self) -> PathBuf {
        self.path.join("tensorboard")
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

    /// Rewrites the metrics file. A killed run may have left half a line, or one more than its checkpoint has.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn rewrite_metrics(&self, records: &[EpochRecord]) -> Result<(), Error> {
        Ok(bcl_files::write_whole(&self.metrics_file(), &lines(records))?)
    }

    /// Writes the files of a finished run: metrics, result with showcase or metrics of samples, and report.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn finish(&self, result: &RunResult, records: Vec<EpochRecord>) -> Result<(), Error> {
        checksums::write(&self.path, METRICS, &lines(&records))?;
        if let Some(showcase) = &result.showcase {
            showcase.write_map(&self.path)?;
            showcase.write(&self.path)?;
        }
        if let Some(samples) = &result.samples {
            samples.write(&self.path)?;
        }
        let text = serde_json::to_vec_pretty(result).expect("a result is plain data");
        checksums::write(&self.path, RESULT, &text)?;
        Ok(write_html(&self.report_file(), &[(result.clone(), records)])?)
    }

    /// Removes the checkpoints of the selection phase, which a finished run does not need; its last one remains if the run could be extended.
    pub fn tidy(&self, is_extendable: bool) {
        let selection = self.checkpoints(Phase::Selection);
        // Leftover checkpoints take space but do no harm.
        let _ = fs::remove_dir_all(self.inherited());
        if is_extendable {
            checkpoint::keep_newest(&selection);
        } else {
            let _ = fs::remove_dir_all(selection);
        }
    }

    /// Removes all weights and checkpoints of a run of which only the metrics are needed.
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
            processes: 1,
            trial_of: None,
        }
    }

    fn data() -> DataRecord {
        DataRecord::of_interactions(&bcl_data::PlantedConfig::default().generate())
    }

    fn recipe() -> Recipe {
        let found = bcl_recipe::find("quickstart/bayesian").expect("a built-in recipe");
        Recipe::read(&found[0], &[]).expect("it reads")
    }

    #[test]
    fn concurrent_runs_get_different_folders() {
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

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_utf_8_is_refused_before_there_is_a_folder() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let out = tempfile::tempdir().expect("a folder");
        let strange = Path::new(OsStr::from_bytes(b"/data-\xff"));
        let elsewhere = Invocation {
            search: SearchPath::new(None, strange),
            ..invocation()
        };
        let runs = out.path().join("runs");
        let error = RunFolder::create(&runs, &recipe(), &elsewhere, &data()).expect_err("not UTF-8");
        assert!(error.to_string().contains("is not UTF-8; rename the folder"), "{error}");
        assert!(!runs.exists());
        let numbered = RunFolder::numbered(strange, 2);
        assert_eq!(numbered.as_os_str().as_bytes(), b"/data-\xff.2");
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
    fn a_folder_of_another_format_is_refused() {
        let out = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::create(out.path(), &recipe(), &invocation(), &data()).expect("writable");
        let file = folder.path().join(INVOCATION);
        let text = fs::read_to_string(&file).expect("readable");
        assert!(text.contains("\"format\": 1"), "{text}");
        let other = text.replace("\"format\": 1", "\"format\": 2");
        checksums::write(folder.path(), INVOCATION, other.as_bytes()).expect("writable");
        let message = RunFolder::open(folder.path()).expect_err("another format").to_string();
        assert!(message.contains("has format 2, but this program reads 1"), "{message}");
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
