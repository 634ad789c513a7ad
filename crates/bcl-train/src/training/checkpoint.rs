//! Checkpoints that survive a crash at any moment.
//!
//! A checkpoint is a model, an optimizer, a scheduler record (Burn's) and a [`Progress`], all under one
//! number: the steps taken so far. The progress is written last; a number without it is no checkpoint.

use super::{files, progress::Progress};
use crate::error::Error;
use burn::{
    optim::{OptimizerRecord, lr_scheduler::LrSchedulerRecord},
    store::{ModuleRecord, RecordError},
    tensor::Bytes,
    train::{
        checkpoint::{Checkpoint, Checkpointer, CheckpointerError, CheckpointingAction, CheckpointingStrategy},
        metric::store::EventStoreClient,
    },
};
use std::{
    fs,
    marker::PhantomData,
    path::{Path, PathBuf},
};

/// How many checkpoints stay. Burn writes the records of one checkpoint in separate threads: when the oldest is deleted the newest
/// may still be incomplete, so the one between must be whole.
const KEPT: usize = 3;

/// Writes and reads one kind of record as `NAME-STEP.bpk`, atomically.
pub struct AtomicCheckpointer<R> {
    folder: PathBuf,
    name: &'static str,
    record: PhantomData<fn() -> R>,
}

impl<R> AtomicCheckpointer<R> {
    /// A checkpointer in a folder.
    pub fn new(folder: &Path, name: &'static str) -> Self {
        Self {
            folder: folder.to_path_buf(),
            name,
            record: PhantomData,
        }
    }

    fn path(&self, step: usize) -> PathBuf {
        self.folder.join(format!("{}-{step}.bpk", self.name))
    }
}

impl<R: Checkpoint> Checkpointer<R> for AtomicCheckpointer<R> {
    fn save(&self, step: usize, record: R) -> Result<(), CheckpointerError> {
        let bytes = ordered(record).map_err(CheckpointerError::Record)?;
        files::write_whole(&self.path(step), &bytes).map_err(|error| CheckpointerError::Unknown(error.to_string()))
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

/// The bytes of a record, the same for equal records: Burn writes the state of an optimizer in the random order of a hash map, but
/// reads it in that of the names.
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
    (
        AtomicCheckpointer::new(folder, "model"),
        AtomicCheckpointer::new(folder, "optimizer"),
        AtomicCheckpointer::new(folder, "scheduler"),
    )
}

/// Saves whenever asked and deletes all but the last three.
#[derive(Debug, Default)]
pub struct KeepLast {
    steps: Vec<usize>,
}

impl KeepLast {
    /// Counts the checkpoints already there, so that a resumed run deletes them in their turn.
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
        // Burn's writer threads take the next action only when they are done with the last one: a deletion after the save means that
        // the save has reached the disk. Deleting what is not there is fine.
        actions.extend(self.steps.drain(..surplus).map(CheckpointingAction::Delete));
        if surplus == 0 {
            actions.push(CheckpointingAction::Delete(usize::MAX));
        }
        actions
    }
}

/// Writes the progress that completes the checkpoint of its step, and removes those of deleted checkpoints.
///
/// # Errors
/// Names the file that could not be written.
pub fn complete(folder: &Path, progress: &Progress) -> Result<(), Error> {
    let text = serde_json::to_vec(progress).expect("progress is plain data");
    files::write_whole(&progress_path(folder, progress.step), &text)?;
    let steps = completed_steps(folder)?;
    for step in &steps[..steps.len().saturating_sub(KEPT)] {
        let _ = fs::remove_file(progress_path(folder, *step));
    }
    Ok(())
}

/// The newest checkpoint of a folder of which every part can be read, if there is one.
///
/// # Errors
/// When the folder exists and cannot be listed.
pub fn newest(folder: &Path) -> Result<Option<Progress>, Error> {
    for step in completed_steps(folder)?.into_iter().rev() {
        if let Some(progress) = read_progress(folder, step)
            && is_whole(folder, step)
        {
            return Ok(Some(progress));
        }
    }
    Ok(None)
}

/// Steps that have a progress file, in order.
///
/// # Errors
/// When the folder exists and cannot be listed.
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

fn read_progress(folder: &Path, step: usize) -> Option<Progress> {
    serde_json::from_slice(&fs::read(progress_path(folder, step)).ok()?).ok()
}

/// Whether all records of a step can be read; Burn's own loading panics where one cannot.
fn is_whole(folder: &Path, step: usize) -> bool {
    let (model, optimizer, scheduler) = checkpointers(folder);
    model.restore(step).is_ok() && optimizer.restore(step).is_ok() && scheduler.restore(step).is_ok()
}
