//! Where a run stands: everything beside the records that a resumed run needs to go on as if nothing had happened.

use crate::result::{EpochRecord, Phase};
use serde::{Deserialize, Serialize};

/// The state of a run after some step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Hash of the recipe the checkpoint belongs to.
    pub recipe_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// The part of the run.
    pub phase: Phase,
    /// Steps taken in this phase.
    pub step: usize,
    /// Epochs completed in this phase.
    pub epoch: usize,
    /// Loss of the steps of the epoch under way, summed over anchors.
    pub loss_sum: f64,
    /// Anchors seen in the epoch under way.
    pub anchors: usize,
    /// All epochs completed so far, of both phases.
    pub records: Vec<EpochRecord>,
}

impl Progress {
    /// The beginning of a phase.
    pub fn start(recipe_hash: &str, seed: u64, phase: Phase, records: Vec<EpochRecord>) -> Self {
        Self {
            recipe_hash: recipe_hash.to_owned(),
            seed,
            phase,
            step: 0,
            epoch: 0,
            loss_sum: 0.0,
            anchors: 0,
            records,
        }
    }

    /// The records of the phase under way.
    pub fn of_phase(&self) -> impl Iterator<Item = &EpochRecord> {
        self.records.iter().filter(|record| record.phase == self.phase)
    }
}
