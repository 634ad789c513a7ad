//! Checkpoints that survive a crash at any moment.
//!
//! A checkpoint consists of Burn's records of the model, the optimizer and the scheduler, and a [`Progress`]. Their file names carry the
//! number of steps taken. The progress file is written last: without it, the checkpoint does not count. It holds the SHA-256 of the
//! records and of itself, so a changed bit is detected.

use super::progress::Progress;
use crate::{error::Error, processes::on_first};
use bcl_collective::Collective;
use bcl_files::{Seal, seal, sha256_of_file, unseal};
use bcl_report::result::Phase;
use burn::{
    optim::{OptimizerRecord, lr_scheduler::LrSchedulerRecord},
    store::{ModuleRecord, RecordError},
    tensor::Bytes,
    train::{
        Learner, LearnerModel, TrainingError,
        checkpoint::{Checkpoint, Checkpointer, CheckpointerError, CheckpointingAction, CheckpointingStrategy},
        metric::store::EventStoreClient,
    },
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    marker::PhantomData,
    path::{Path, PathBuf},
};

/// Number of checkpoints to keep. Burn writes the records of a checkpoint in separate threads, so the newest may still be incomplete when
/// the oldest is deleted; the one in between is complete.
const KEPT: usize = 3;

/// The names of the records.
const RECORDS: [&str; 3] = ["model", "optimizer", "scheduler"];

/// Writes and reads one kind of record as `NAME-STEP.bpk`, atomically.
pub struct AtomicCheckpointer<R> {
    folder: PathBuf,
    name: &'static str,
    record: PhantomData<fn() -> R>,
}

impl<R> AtomicCheckpointer<R> {
    /// Creates a checkpointer for the record `name` in a folder.
    pub fn new(folder: &Path, name: &'static str) -> Self {
        Self {
            folder: folder.to_path_buf(),
            name,
            record: PhantomData,
        }
    }

    fn path(&self, step: usize) -> PathBuf {
        record_path(&self.folder, self.name, step)
    }
}

impl<R: Checkpoint> Checkpointer<R> for AtomicCheckpointer<R> {
    fn save(&self, step: usize, record: R) -> Result<(), CheckpointerError> {
        let bytes = ordered(record).map_err(CheckpointerError::Record)?;
        bcl_files::write_whole(&self.path(step), &bytes).map_err(|error| CheckpointerError::Unknown(error.to_string()))
    }

    fn delete(&self, step: usize) -> Result<(), CheckpointerError> {
        match fs::remove_file(self.path(step)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(CheckpointerError::IOError(error)),
            _ => Ok(()),
        }
    }

    fn restore(&self, step: usize) -> Result<R, CheckpointerError> {
        R::load(self.path(step))
    }
}

/// Serializes a record so that equal records give equal bytes. Burn writes the state of an optimizer in the random order of a hash map;
/// after reading it back, the state is ordered by name.
fn ordered<R: Checkpoint>(record: R) -> Result<Bytes, RecordError> {
    R::checkpoint_from_bytes(record.checkpoint_into_bytes()?)?.checkpoint_into_bytes()
}

/// The three record checkpointers of a folder.
pub fn checkpointers(
    folder: &Path,
) -> (
    AtomicCheckpointer<ModuleRecord>,
    AtomicCheckpointer<OptimizerRecord>,
    AtomicCheckpointer<LrSchedulerRecord>,
) {
    let [model, optimizer, scheduler] = RECORDS;
    (
        AtomicCheckpointer::new(folder, model),
        AtomicCheckpointer::new(folder, optimizer),
        AtomicCheckpointer::new(folder, scheduler),
    )
}

/// Gives all processes the state of process 0: its checkpoint after a step, or else its initial weights.
///
/// # Errors
/// Returns an error if process 0 cannot read the checkpoint, or a process cannot load what it receives.
pub fn share<M: LearnerModel>(
    processes: &dyn Collective,
    learner: &mut Learner<M>,
    checkpoint: Option<(&Path, usize)>,
) -> Result<(), Error> {
    if processes.size() == 1 {
        return Ok(());
    }
    let broken = |error: RecordError| Error::Training(format!("the state of process 0 cannot be loaded: {error}"));
    let model = learner.model();
    let received: Vec<Vec<u8>> = on_first(processes, || match checkpoint {
        Some((folder, step)) => RECORDS
            .into_iter()
            .map(|name| {
                let path = record_path(folder, name, step);
                fs::read(&path).map_err(Error::io("read", path))
            })
            .collect(),
        None => Ok(vec![model.into_record().checkpoint_into_bytes().map_err(broken)?.to_vec()]),
    })?;
    if processes.is_first() {
        return Ok(());
    }
    let mut received = received.into_iter().map(Bytes::from_bytes_vec);
    if let Some(model) = received.next() {
        learner.load_model(ModuleRecord::checkpoint_from_bytes(model).map_err(broken)?);
    }
    if let Some(optimizer) = received.next() {
        learner.load_optim(OptimizerRecord::checkpoint_from_bytes(optimizer).map_err(broken)?);
    }
    if let Some(scheduler) = received.next() {
        learner.load_scheduler(LrSchedulerRecord::checkpoint_from_bytes(scheduler).map_err(broken)?);
    }
    Ok(())
}

/// Converts Burn's error. A checkpoint that could not be written is an error of the file, not of training.
pub fn failure(error: &TrainingError) -> Error {
    match error {
        TrainingError::Checkpoint(CheckpointerError::Unknown(message)) => Error::Input(message.clone()),
        other => Error::Training(other.to_string()),
    }
}

/// Saves at every call and deletes all but the last three checkpoints.
#[derive(Debug, Default)]
pub struct KeepLast {
    steps: Vec<usize>,
}

impl KeepLast {
    /// Includes the checkpoints that exist already, so that a resumed run deletes them in turn.
    pub fn continuing(steps: Vec<usize>) -> Self {
        Self { steps }
    }
}

impl CheckpointingStrategy for KeepLast {
    fn checkpointing(&mut self, step: usize, _: &EventStoreClient) -> Vec<CheckpointingAction> {
        self.steps.retain(|&other| other != step);
        self.steps.push(step);
        let surplus = self.steps.len().saturating_sub(KEPT);
        let mut actions = vec![CheckpointingAction::Save];
        // Burn's writer threads take the next action only when the last one is done, so a deletion after the save means that the save
        // is on disk. Deleting a step that does not exist does nothing.
        actions.extend(self.steps.drain(..surplus).map(CheckpointingAction::Delete));
        if surplus == 0 {
            actions.push(CheckpointingAction::Delete(usize::MAX));
        }
        actions
    }
}

/// The content of a progress file.
#[derive(Serialize)]
struct Completed<'a> {
    #[serde(flatten)]
    progress: &'a Progress,
    /// SHA-256 of the records, by name.
    sha256: BTreeMap<&'static str, String>,
}

/// The checksums of the records, as read from a progress file.
#[derive(Deserialize)]
struct Recorded {
    sha256: Option<BTreeMap<String, String>>,
}

/// Writes the progress file, which completes a checkpoint, and removes the progress files of deleted checkpoints.
///
/// # Errors
/// Names the file that could not be read or written.
pub fn complete(folder: &Path, progress: &Progress) -> Result<(), Error> {
    let of_record = |name| {
        let path = record_path(folder, name, progress.step);
        let sha256 = sha256_of_file(&path).map_err(Error::io("read", path))?;
        Ok((name, sha256))
    };
    let sha256 = RECORDS.into_iter().map(of_record).collect::<Result<_, Error>>()?;
    let text = seal(&Completed { progress, sha256 });
    bcl_files::write_whole(&progress_path(folder, progress.step), &text)?;
    let steps = completed_steps(folder)?;
    for step in &steps[..steps.len().saturating_sub(KEPT)] {
        let _ = fs::remove_file(progress_path(folder, *step));
    }
    Ok(())
}

/// Copies the checkpoint after the step of `progress` into another folder, with this progress in place of its own.
///
/// # Errors
/// Names the file that could not be read or written.
pub fn copy(from: &Path, to: &Path, progress: &Progress) -> Result<(), Error> {
    bcl_files::create_folder(to)?;
    for name in RECORDS {
        let path = record_path(from, name, progress.step);
        let bytes = fs::read(&path).map_err(Error::io("read", path))?;
        bcl_files::write_whole(&record_path(to, name, progress.step), &bytes)?;
    }
    complete(to, progress)
}

/// Removes all checkpoints but the newest. What cannot be removed stays: it takes space but does no harm.
pub fn keep_newest(folder: &Path) {
    let steps = completed_steps(folder).unwrap_or_default();
    for step in &steps[..steps.len().saturating_sub(1)] {
        let _ = fs::remove_file(progress_path(folder, *step));
        for name in RECORDS {
            let _ = fs::remove_file(record_path(folder, name, *step));
        }
    }
}

/// The checkpoint from which a phase continues.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundCheckpoint {
    /// Its progress file.
    pub progress: Progress,
    /// Warnings for the user: newer checkpoints that cannot be used, missing checksums.
    pub remarks: Vec<String>,
}

/// Returns the newest usable checkpoint of a phase, or `None` if the phase has no checkpoints.
///
/// # Errors
/// If there are checkpoints but none of them is usable, or the folder cannot be listed.
pub fn newest(folder: &Path, phase: Phase) -> Result<Option<FoundCheckpoint>, Error> {
    let mut remarks = Vec::new();
    for step in completed_steps(folder)?.into_iter().rev() {
        match read(folder, step, phase) {
            Ok((progress, seal)) => {
                if !remarks.is_empty() {
                    remarks.push(format!("continuing from the checkpoint after step {step}"));
                }
                if seal == Seal::Absent {
                    let file = progress_path(folder, step);
                    remarks.push(format!(
                        "{} was written by an earlier version without checksums, so damage would go unnoticed",
                        file.display()
                    ));
                }
                return Ok(Some(FoundCheckpoint { progress, remarks }));
            }
            Err(problem) => remarks.push(problem),
        }
    }
    match remarks.first() {
        None => Ok(None),
        Some(problem) => Err(Error::Input(format!(
            "no checkpoint in {} is usable: {problem}; restore the files, or delete the folder to start this phase again",
            folder.display()
        ))),
    }
}

/// Reads a whole checkpoint to check that it is usable, because Burn panics on a damaged one.
fn read(folder: &Path, step: usize, phase: Phase) -> Result<(Progress, Seal), String> {
    let path = progress_path(folder, step);
    let file = path.display();
    let text = fs::read(&path).map_err(|error| format!("cannot read {file}: {error}"))?;
    let damaged = |path: &Path| format!("{} was damaged or changed since it was written", path.display());
    let broken = |error: serde_json::Error| format!("{file} is broken: {error}");
    let recorded: Recorded = serde_json::from_slice(&text).map_err(broken)?;
    let seal = match (unseal(&text), &recorded.sha256) {
        (Seal::Broken, _) | (Seal::Absent, Some(_)) => return Err(damaged(&path)),
        (seal, _) => seal,
    };
    let progress: Progress = serde_json::from_slice(&text).map_err(broken)?;
    if let Some(contradiction) = progress.contradiction(phase, step) {
        return Err(format!("{file} cannot be right: {contradiction}"));
    }
    for name in RECORDS {
        let path = record_path(folder, name, step);
        let known = recorded.sha256.as_ref().map(|known| known.get(name));
        let found = sha256_of_file(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if known.is_some_and(|known| known != Some(&found)) {
            return Err(damaged(&path));
        }
    }
    let (model, optimizer, scheduler) = checkpointers(folder);
    let unreadable =
        |name: &str, error: CheckpointerError| format!("{} is broken: {error}", record_path(folder, name, step).display());
    model.restore(step).map_err(|error| unreadable(RECORDS[0], error))?;
    optimizer.restore(step).map_err(|error| unreadable(RECORDS[1], error))?;
    scheduler.restore(step).map_err(|error| unreadable(RECORDS[2], error))?;
    Ok((progress, seal))
}

/// Returns the steps that have a progress file, in ascending order.
///
/// # Errors
/// If the folder exists but cannot be listed.
pub fn completed_steps(folder: &Path) -> Result<Vec<usize>, Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", folder)(error)),
    };
    let mut steps: Vec<usize> = entries
        .filter_map(|entry| {
            entry
                .ok()?
                .file_name()
                .to_str()?
                .strip_prefix("progress-")?
                .strip_suffix(".json")?
                .parse()
                .ok()
        })
        .collect();
    steps.sort_unstable();
    Ok(steps)
}

fn progress_path(folder: &Path, step: usize) -> PathBuf {
    folder.join(format!("progress-{step}.json"))
}

fn record_path(folder: &Path, name: &str, step: usize) -> PathBuf {
    folder.join(format!("{name}-{step}.bpk"))
}
