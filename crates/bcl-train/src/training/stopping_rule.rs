//! When a phase of a run ends. This depends on its records only, so a resumed run stops at the same epoch.

use bcl_report::result::{Chosen, EpochRecord, Metrics};

/// When a phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoppingRule {
    /// When the validation metric has not improved for `patience` epochs, or after `at_most` epochs.
    NoImprovement {
        /// Number of epochs without improvement that ends the phase.
        patience: usize,
        /// Number of epochs from one evaluation to the next. The last epoch is evaluated, too.
        every: usize,
        /// Maximum number of epochs.
        at_most: usize,
    },
    /// After `epochs`. With the oracle, training continues until the test metric has not improved for `oracle_patience` epochs either.
    Epochs {
        /// Number of epochs, as chosen on validation.
        epochs: usize,
        /// Patience of the oracle, which looks for the best epoch on test; `None` without oracle.
        oracle_patience: Option<usize>,
        /// Maximum number of epochs.
        at_most: usize,
    },
    /// After `epochs`, with an evaluation every `every` epochs, 0 for none.
    Fixed {
        /// Number of epochs.
        epochs: usize,
        /// Number of epochs from one evaluation to the next.
        every: usize,
    },
}

impl StoppingRule {
    /// Whether a phase with these records is over.
    pub fn is_over(&self, records: &[&EpochRecord], select_by: &str) -> bool {
        let done = records.len();
        match *self {
            Self::NoImprovement { patience, at_most, .. } => {
                done >= at_most || waited(records, |record| record.validation.as_ref(), select_by) >= patience
            }
            Self::Epochs {
                epochs,
                oracle_patience,
                at_most,
            } => {
                let oracle_done =
                    |patience| done >= at_most || waited(records, |record| record.test.as_ref(), select_by) >= patience;
                done >= epochs && oracle_patience.is_none_or(oracle_done)
            }
            Self::Fixed { epochs, .. } => done >= epochs,
        }
    }

    /// Whether the metrics after an epoch (from 1) are needed.
    pub fn needs_metrics(&self, epoch: usize) -> bool {
        match *self {
            Self::Epochs {
                epochs,
                oracle_patience: None,
                ..
            } => epoch == epochs,
            Self::Epochs { .. } => true,
            Self::NoImprovement { every, at_most, .. } => epoch == at_most || every > 0 && epoch.is_multiple_of(every),
            Self::Fixed { every, .. } => every > 0 && epoch.is_multiple_of(every),
        }
    }

    /// Removes the metrics of a record that this rule would not have asked for: the last epoch of a shorter run may have been evaluated only
    /// because it was the last.
    pub fn trim(&self, record: &mut EpochRecord) {
        if !self.needs_metrics(record.epoch) {
            record.validation = None;
            record.test = None;
            record.macro_auc = None;
        }
    }

    /// Maximum number of epochs of the phase.
    pub fn at_most(&self) -> usize {
        match *self {
            Self::NoImprovement { at_most, .. } => at_most,
            Self::Epochs {
                epochs,
                oracle_patience: None,
                ..
            }
            | Self::Fixed { epochs, .. } => epochs,
            Self::Epochs { epochs, at_most, .. } => at_most.max(epochs),
        }
    }
}

/// Returns the epoch (from 1) with the highest metric, the earliest among equals, and its value; `None` if no epoch has the metric.
pub fn best<'a>(
    records: &[&'a EpochRecord],
    metrics: impl Fn(&'a EpochRecord) -> Option<&'a Metrics>,
    select_by: &str,
) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for record in records {
        if let Some(&value) = metrics(record).and_then(|metrics| metrics.get(select_by))
            && best.is_none_or(|(_, highest)| value > highest)
        {
            best = Some((record.epoch, value));
        }
    }
    best
}

/// Number of epochs since the best one.
fn waited<'a>(records: &[&'a EpochRecord], metrics: impl Fn(&'a EpochRecord) -> Option<&'a Metrics>, select_by: &str) -> usize {
    records.len() - best(records, metrics, select_by).map_or(0, |(epoch, _)| epoch)
}

/// The epoch that was best on test, the earliest of equals. The last epoch is among them: it is evaluated at the end, even if its record has no metrics.
pub fn oracle(records: &[&EpochRecord], last: (usize, &Metrics), metric: &str) -> Option<Chosen> {
    let (epoch, metrics) = last;
    let at_end = metrics.get(metric).map(|value| (epoch, *value, metrics));
    let before = best(records, |record| record.test.as_ref(), metric);
    let before =
        before.and_then(|(epoch, value)| Some((epoch, value, records.iter().find(|of| of.epoch == epoch)?.test.as_ref()?)));
    let (epoch, _, metrics) = match (before, at_end) {
        (Some(before), Some(at_end)) if before.1 >= at_end.1 => before,
        (before, at_end) => at_end.or(before)?,
    };
    Some(Chosen {
        epoch,
        metrics: metrics.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_report::result::Phase;
    use std::collections::BTreeMap;

    fn records(validation: &[f64]) -> Vec<EpochRecord> {
        let metrics = |value: f64| Some(Metrics::from([("ndcg@20".to_owned(), value)]));
        let record = |(i, &value): (usize, &f64)| EpochRecord {
            phase: Phase::Selection,
            epoch: i + 1,
            loss: 1.0,
            anchors_without_negatives: 0,
            alpha: None,
            scheduled: BTreeMap::new(),
            alpha_hat: None,
            alpha_labels: None,
            macro_auc: None,
            detection: None,
            score_spread: None,
            effective_sample_size: Some(1.0),
            floored: None,
            omega_quantiles: vec![],
            omega_histogram: vec![],
            calibration: vec![],
            false_negatives: None,
            validation: metrics(value),
            test: metrics(value),
            train_seconds: 0.0,
            evaluation_seconds: 0.0,
        };
        validation.iter().enumerate().map(record).collect()
    }

    #[test]
    fn patience_counts_from_the_best_epoch() {
        let until = StoppingRule::NoImprovement {
            patience: 2,
            every: 1,
            at_most: 9,
        };
        let over = |metrics: &[f64]| until.is_over(&records(metrics).iter().collect::<Vec<_>>(), "ndcg@20");
        assert!(!over(&[0.1, 0.3, 0.2]));
        assert!(over(&[0.1, 0.3, 0.2, 0.3]));
        assert!(over(&[0.0; 3]), "an equal value is no improvement");
        assert!(over(&(0..9).map(f64::from).collect::<Vec<_>>()));
    }

    #[test]
    fn the_oracle_sees_the_last_epoch() {
        let mut records = records(&[0.2, 0.5, 0.1]);
        // Epochs 1 and 3 were not evaluated in training.
        (records[0].test, records[2].test) = (None, None);
        let found = |records: &[EpochRecord], last: f64| {
            let metrics = Metrics::from([("ndcg@20".to_owned(), last)]);
            let records: Vec<&EpochRecord> = records.iter().collect();
            oracle(&records, (3, &metrics), "ndcg@20").map(|chosen| (chosen.epoch, chosen.metrics["ndcg@20"]))
        };
        assert_eq!(found(&records, 0.6), Some((3, 0.6)));
        assert_eq!(found(&records, 0.5), Some((2, 0.5)), "the earliest of equals");
        assert_eq!(found(&records, 0.4), Some((2, 0.5)));
        assert_eq!(found(&records[..1], 0.4), Some((3, 0.4)), "no other epoch was evaluated");
    }

    #[test]
    fn the_oracle_may_continue_past_the_chosen_epoch_but_never_stops_before_it() {
        let until = StoppingRule::Epochs {
            epochs: 4,
            oracle_patience: Some(1),
            at_most: 6,
        };
        let over = |metrics: &[f64]| until.is_over(&records(metrics).iter().collect::<Vec<_>>(), "ndcg@20");
        assert!(!over(&[0.5, 0.4, 0.4]));
        assert!(over(&[0.5, 0.4, 0.4, 0.4]));
        assert!(!over(&[0.1, 0.2, 0.3, 0.4, 0.5]));
        assert!(over(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));
    }

    #[test]
    fn the_best_epoch_is_the_earliest_of_equals() {
        let records = records(&[0.1, 0.4, 0.4]);
        let records: Vec<_> = records.iter().collect();
        assert_eq!(best(&records, |record| record.test.as_ref(), "ndcg@20"), Some((2, 0.4)));
        assert_eq!(best(&records, |record| record.test.as_ref(), "recall@5"), None);
    }
}
