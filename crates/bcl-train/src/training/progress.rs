//! The progress of a run: the state, beside Burn's records, from which a run is resumed.

use crate::error::Error;
use bcl_core::schedule::Moment;
use bcl_report::result::{EpochRecord, Phase};
use serde::{Deserialize, Serialize};

/// Upper bound on the number of steps and anchors of a run.
const MOST: usize = 1 << 48;

/// The state of a run after some step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Hash of the run's recipe.
    pub recipe_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// [Digest](super::DataIdentity::digest) of the run's data.
    pub data: String,
    /// Steps per epoch in this phase.
    pub steps_per_epoch: usize,
    /// The current phase.
    pub phase: Phase,
    /// Steps taken in this phase.
    pub step: usize,
    /// Epochs completed in this phase.
    pub epoch: usize,
    /// Loss of the current epoch, summed over anchors.
    pub loss_sum: f64,
    /// Anchors with negatives in the current epoch.
    pub anchors: usize,
    /// Anchors without negatives in the current epoch, which have no loss.
    pub anchors_without_negatives: usize,
    /// Records of all completed epochs, including earlier phases.
    pub records: Vec<EpochRecord>,
}

/// The run to which a checkpoint belongs. No other run can use it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Owner<'a> {
    /// Hash of the recipe.
    pub recipe_hash: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Digest of the data.
    pub data: &'a str,
}

impl Progress {
    /// The state at the beginning of a phase.
    pub fn start(owner: Owner<'_>, phase: Phase, steps_per_epoch: usize, records: Vec<EpochRecord>) -> Self {
        let Owner { recipe_hash, seed, data } = owner;
        Self {
            recipe_hash: recipe_hash.to_owned(),
            seed,
            data: data.to_owned(),
            steps_per_epoch,
            phase,
            step: 0,
            epoch: 0,
            loss_sum: 0.0,
            anchors: 0,
            anchors_without_negatives: 0,
            records,
        }
    }

    /// Says to which other run a checkpoint belongs; `None` if it belongs to the run of `self`.
    pub fn foreign(&self, checkpoint: &Self) -> Option<String> {
        if (&checkpoint.recipe_hash, checkpoint.seed) != (&self.recipe_hash, self.seed) {
            return Some("another recipe or seed".to_owned());
        }
        if checkpoint.data != self.data {
            return Some("a run on other data".to_owned());
        }
        let [theirs, ours] = [checkpoint.steps_per_epoch, self.steps_per_epoch];
        (theirs != ours).then(|| format!("a run with {theirs} steps per epoch, where this one has {ours}"))
    }

    /// Where the phase is, for schedules.
    pub fn moment(&self) -> Moment {
        Moment {
            epoch: self.epoch,
            step: self.step,
        }
    }

    /// The records of the current phase.
    pub fn of_phase(&self) -> impl Iterator<Item = &EpochRecord> {
        self.records.iter().filter(|record| record.phase == self.phase)
    }

    /// Finds a state that no run could have written, for example in an edited or misplaced file.
    pub fn contradiction(&self, phase: Phase, step: usize) -> Option<String> {
        let Self { epoch, records, .. } = self;
        if self.phase != phase {
            return Some(format!(
                "it belongs to phase {:?}, but is in the folder of {phase:?}",
                self.phase
            ));
        }
        if self.step != step {
            return Some(format!("it belongs to step {}, but its name says {step}", self.step));
        }
        if step > MOST || self.anchors.max(self.anchors_without_negatives) > MOST || *epoch > step {
            return Some(format!(
                "it has {epoch} epochs in {step} steps, and {} anchors in the next epoch",
                self.anchors
            ));
        }
        if !self.loss_sum.is_finite() || self.anchors == 0 && self.loss_sum != 0.0 {
            return Some(format!("it has a loss of {} over {} anchors", self.loss_sum, self.anchors));
        }
        let (own, earlier): (Vec<_>, Vec<_>) = records.iter().partition(|record| record.phase == phase);
        if own.len() != *epoch {
            return Some(format!("it has {epoch} completed epochs, but records of {}", own.len()));
        }
        let may_precede = |record: &EpochRecord| (record.phase, phase) == (Phase::Selection, Phase::Refit);
        if let Some(stray) = earlier.iter().find(|record| !may_precede(record)) {
            return Some(format!("phase {phase:?} has the record of an epoch of {:?}", stray.phase));
        }
        let is_numbered = |records: &[&EpochRecord]| records.iter().zip(1..).all(|(record, number)| record.epoch == number);
        if !is_numbered(&own) || !is_numbered(&earlier) {
            return Some("its records are not numbered from 1 in order".to_owned());
        }
        None
    }

    /// Steps taken in the current epoch.
    ///
    /// # Errors
    /// If no run with so many steps per epoch could have written this state.
    pub fn steps_of_epoch(&self, steps_per_epoch: usize) -> Result<usize, Error> {
        let before = self.epoch.checked_mul(steps_per_epoch);
        let within = before.and_then(|before| self.step.checked_sub(before));
        let is_possible = |&within: &usize| within <= steps_per_epoch && (within > 0 || self.anchors == 0);
        within.filter(is_possible).ok_or_else(|| {
            Error::Input(format!(
                "the checkpoint after step {} cannot be right: it has {} completed epochs of {steps_per_epoch} steps each; delete its \
                 progress file to continue from an older one",
                self.step, self.epoch
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner<'_> = Owner {
        recipe_hash: "recipe",
        seed: 3,
        data: "data",
    };

    fn record(phase: Phase, epoch: usize) -> EpochRecord {
        let line = r#"{"phase":"refit","epoch":1,"loss":1.5,"effective_sample_size":0.5,"omega_quantiles":[],"train_seconds":1,
            "evaluation_seconds":1}"#;
        let record: EpochRecord = serde_json::from_str(line).unwrap();
        EpochRecord { phase, epoch, ..record }
    }

    /// Two epochs of ten steps, and three steps.
    fn refit() -> Progress {
        let records = vec![record(Phase::Selection, 1), record(Phase::Refit, 1), record(Phase::Refit, 2)];
        Progress {
            step: 23,
            epoch: 2,
            loss_sum: 4.0,
            anchors: 12,
            ..Progress::start(OWNER, Phase::Refit, 10, records)
        }
    }

    type Edit = fn(&mut Progress);

    #[test]
    fn the_progress_of_a_run_has_no_contradiction_and_an_edited_one_has() {
        assert_eq!(refit().contradiction(Phase::Refit, 23), None);
        assert_eq!(refit().steps_of_epoch(10).unwrap(), 3);
        let mut at_end = refit();
        at_end.step = 30;
        assert_eq!(
            at_end.steps_of_epoch(10).unwrap(),
            10,
            "an interruption after the last step of an epoch"
        );

        let edits: [(Edit, &str); 13] = [
            (|progress| progress.phase = Phase::Training, "phase Training"),
            (|progress| progress.step = 24, "step 24"),
            (|progress| progress.epoch = 3, "3 completed epochs"),
            (|progress| progress.epoch = 24, "24 epochs in 23 steps"),
            (|progress| progress.anchors = usize::MAX, "anchors"),
            (|progress| progress.anchors_without_negatives = usize::MAX, "anchors"),
            (|progress| progress.anchors = 0, "over 0 anchors"),
            (|progress| progress.loss_sum = f64::NAN, "a loss of NaN"),
            (|progress| drop(progress.records.pop()), "records of 1"),
            (|progress| progress.records[2].epoch = 3, "not numbered from 1"),
            (|progress| progress.records[0].epoch = 0, "not numbered from 1"),
            (|progress| progress.records.swap(1, 2), "not numbered from 1"),
            (|progress| progress.records[0].phase = Phase::Training, "an epoch of Training"),
        ];
        for (edit, words) in edits {
            let mut progress = refit();
            edit(&mut progress);
            let found = progress.contradiction(Phase::Refit, 23).unwrap_or_default();
            assert!(found.contains(words), "`{words}` is not in `{found}`");
        }
    }

    #[test]
    fn step_numbers_that_do_not_fit_the_epochs_are_refused() {
        for (step, epoch, anchors) in [(19, 2, 12), (31, 2, 12), (20, 2, 12), (23, usize::MAX, 12)] {
            let progress = Progress {
                step,
                epoch,
                anchors,
                ..refit()
            };
            let message = progress.steps_of_epoch(10).unwrap_err().to_string();
            assert!(message.contains("cannot be right"), "{message}");
        }
    }

    #[test]
    fn a_checkpoint_of_another_recipe_seed_data_or_number_of_steps_is_foreign() {
        let own = Progress::start(OWNER, Phase::Refit, 7, Vec::new());
        assert_eq!(own.foreign(&Progress { step: 20, ..own.clone() }), None);
        for (checkpoint, words) in [
            (
                Progress {
                    recipe_hash: String::new(),
                    ..own.clone()
                },
                "another recipe or seed",
            ),
            (Progress { seed: 4, ..own.clone() }, "another recipe or seed"),
            (
                Progress {
                    data: String::new(),
                    ..own.clone()
                },
                "other data",
            ),
            (
                Progress {
                    steps_per_epoch: 8,
                    ..own.clone()
                },
                "8 steps per epoch, where this one has 7",
            ),
        ] {
            let found = own.foreign(&checkpoint).expect("it is foreign");
            assert!(found.contains(words), "{found}");
        }
    }
}
