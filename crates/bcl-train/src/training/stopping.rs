//! When a phase of a run is over: decided from its records alone, so that a resumed run decides the same.

use bcl_report::result::{EpochRecord, Metrics};

/// When a phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The validation figure has not improved for `patience` epochs, or `at_most` epochs are done.
    NoImprovement {
        /// Epochs without improvement that end the phase.
        patience: usize,
        /// The most epochs.
        at_most: usize,
    },
    /// `epochs` are done and, where the oracle is wanted, the test figure has not improved for `oracle_patience` epochs either.
    Epochs {
        /// The number of epochs that was chosen on validation.
        epochs: usize,
        /// How long the oracle looks for a better epoch on test.
        oracle_patience: Option<usize>,
        /// The most epochs.
        at_most: usize,
    },
    /// `epochs` are done; figures are wanted after every `every` of them, 0 for none.
    Fixed {
        /// The number of epochs.
        epochs: usize,
        /// How often the model is measured.
        every: usize,
    },
}

impl Until {
    /// Whether a phase with these records is over.
    pub fn is_over(&self, records: &[&EpochRecord], select_by: &str) -> bool {
        let done = records.len();
        match *self {
            Self::NoImprovement { patience, at_most } => {
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

    /// Whether the figures after an epoch (from 1) are used for anything.
    pub fn wants_figures(&self, epoch: usize) -> bool {
        match *self {
            Self::Epochs {
                epochs,
                oracle_patience: None,
                ..
            } => epoch == epochs,
            Self::Fixed { every, .. } => every > 0 && epoch.is_multiple_of(every),
            _ => true,
        }
    }

    /// The most epochs the phase can take.
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

/// The epoch (from 1) with the highest figure, the earliest among equals; `None` without any figure.
pub fn best<'a>(
    records: &[&'a EpochRecord],
    figures: impl Fn(&'a EpochRecord) -> Option<&'a Metrics>,
    select_by: &str,
) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for record in records {
        if let Some(&figure) = figures(record).and_then(|figures| figures.get(select_by))
            && best.is_none_or(|(_, highest)| figure > highest)
        {
            best = Some((record.epoch, figure));
        }
    }
    best
}

/// Epochs since the best one.
fn waited<'a>(records: &[&'a EpochRecord], figures: impl Fn(&'a EpochRecord) -> Option<&'a Metrics>, select_by: &str) -> usize {
    records.len() - best(records, figures, select_by).map_or(0, |(epoch, _)| epoch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_report::result::Phase;

    fn records(validation: &[f64]) -> Vec<EpochRecord> {
        let figures = |figure: f64| Some(Metrics::from([("ndcg@20".to_owned(), figure)]));
        let record = |(i, &figure): (usize, &f64)| EpochRecord {
            phase: Phase::Selection,
            epoch: i + 1,
            loss: 1.0,
            anchors_without_negatives: 0,
            alpha: None,
            alpha_hat: None,
            alpha_labels: None,
            effective_sample_size: Some(1.0),
            omega_quantiles: vec![],
            omega_histogram: vec![],
            calibration: vec![],
            false_negatives: None,
            validation: figures(figure),
            test: figures(figure),
            train_seconds: 0.0,
            evaluation_seconds: 0.0,
        };
        validation.iter().enumerate().map(record).collect()
    }

    #[test]
    fn patience_counts_from_the_best_epoch() {
        let until = Until::NoImprovement { patience: 2, at_most: 9 };
        let over = |figures: &[f64]| until.is_over(&records(figures).iter().collect::<Vec<_>>(), "ndcg@20");
        assert!(!over(&[0.1, 0.3, 0.2]));
        assert!(over(&[0.1, 0.3, 0.2, 0.3]));
        assert!(over(&[0.0; 3]), "an equal figure is no improvement");
        assert!(over(&(0..9).map(f64::from).collect::<Vec<_>>()));
    }

    #[test]
    fn the_oracle_may_look_beyond_the_chosen_epoch_but_never_stops_before_it() {
        let until = Until::Epochs {
            epochs: 4,
            oracle_patience: Some(1),
            at_most: 6,
        };
        let over = |figures: &[f64]| until.is_over(&records(figures).iter().collect::<Vec<_>>(), "ndcg@20");
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
