//! When the phases of a run end, for a recipe and its data.

use super::Kind;
use crate::training::stopping_rule::{StoppingRule, best};
use bcl_report::result::{EpochRecord, Metrics, Phase};

/// The rules by which the phases of a run end.
#[derive(Debug)]
pub struct Phases<'a, K> {
    recipe: &'a K,
    metric: String,
}

impl<'a, K: Kind> Phases<'a, K> {
    /// The rules of a recipe on its data.
    pub fn new(recipe: &'a K, data: &K::Data) -> Self {
        Self {
            recipe,
            metric: recipe.metric(data),
        }
    }

    /// The rule of the first phase, which chooses the number of epochs on held-out data.
    pub fn first(&self) -> StoppingRule {
        self.first_of_at_most(self.recipe.training().epochs)
    }

    fn first_of_at_most(&self, at_most: usize) -> StoppingRule {
        StoppingRule::NoImprovement {
            patience: self.recipe.training().patience(),
            every: self.recipe.evaluate_every(),
            at_most,
        }
    }

    /// The rule of the second phase, which trains on all of train for the chosen number of epochs.
    pub fn second(&self, epochs: usize) -> StoppingRule {
        let training = self.recipe.training();
        StoppingRule::Epochs {
            epochs,
            oracle_patience: self.recipe.selection().oracle.then_some(training.patience()),
            at_most: training.epochs,
        }
    }

    /// The records of a phase as this rule would have written them.
    pub fn under(rule: StoppingRule, phase: Phase, records: &[EpochRecord]) -> Vec<EpochRecord> {
        let mut records = in_phase(phase, records);
        for record in &mut records {
            rule.trim(record);
        }
        records
    }

    /// Whether a phase with these records is over.
    pub fn is_over(&self, rule: StoppingRule, records: &[EpochRecord]) -> bool {
        rule.is_over(&records.iter().collect::<Vec<_>>(), &self.metric)
    }

    /// The epoch that records of the first phase choose.
    pub fn chosen(&self, records: &[EpochRecord]) -> Option<usize> {
        let metrics: fn(&EpochRecord) -> Option<&Metrics> = |record| record.validation.as_ref();
        best(&records.iter().collect::<Vec<_>>(), metrics, &self.metric).map(|(epoch, _)| epoch)
    }

    /// Whether a run of this recipe with the records of a shorter run is finished as it is.
    pub fn are_over(&self, records: &[EpochRecord]) -> bool {
        let first = Self::under(self.first(), Phase::Selection, records);
        let of_shorter: Vec<EpochRecord> = in_phase(Phase::Selection, records);
        let Some(epochs) = self.chosen(&first) else { return false };
        let second = Self::under(self.second(epochs), Phase::Refit, records);
        self.is_over(self.first(), &first)
            && self.chosen(&of_shorter) == Some(epochs)
            && self.is_over(self.second(epochs), &second)
    }

    /// Whether the first phase of a finished run ended only at `training.epochs`, so that a larger number would continue it.
    pub fn may_grow(&self, records: &[EpochRecord]) -> bool {
        let unlimited = self.first_of_at_most(usize::MAX);
        let first = Self::under(unlimited, Phase::Selection, records);
        self.recipe.spread_over_epochs().is_none() && !first.is_empty() && !self.is_over(unlimited, &first)
    }
}

/// The records of a phase.
fn in_phase(phase: Phase, records: &[EpochRecord]) -> Vec<EpochRecord> {
    records.iter().filter(|record| record.phase == phase).cloned().collect()
}
