//! Linear probes on a few training labels.

use super::{ImageEvaluator, features::rows};
use crate::{
    EvaluationError,
    probe::{Labelled, LinearProbeConfig, TopK, probe_fixed},
};
use bcl_core::parameter::MOST_EPOCHS;
use bcl_images::few_labels;

impl ImageEvaluator {
    /// Draws the training labels of a semi-supervised evaluation: rows of the training [`features`](Self::features), ascending. At least one
    /// of each class; [`few_labels`](bcl_images::few_labels()) has the rule. The choice depends only on the labels and the seed of the
    /// evaluator.
    ///
    /// # Panics
    /// Panics if `fraction` is not in (0, 1].
    pub fn few_labels(&self, fraction: f64) -> Vec<usize> {
        let labels: Vec<Option<u32>> = self.train.classes.iter().copied().map(Some).collect();
        few_labels(&labels, fraction, self.seed.named("few labels"))
    }

    /// Trains the linear probe on a fraction of the training labels. It takes as many steps as the probe on all labels, with batches of at
    /// most the same size, so that a small subset is not trained for less time.
    ///
    /// # Errors
    /// Returns an error if features are not finite or the probe diverges.
    ///
    /// # Panics
    /// Panics if `fraction` is not in (0, 1], or the features do not come from [`features`](Self::features).
    pub fn few_labels_probe(&self, train: &Labelled, test: &Labelled, fraction: f64) -> Result<TopK, EvaluationError> {
        let chosen = self.few_labels(fraction);
        let config = as_many_steps(&self.config.probe, train.labels.len(), chosen.len());
        let subset = Labelled {
            labels: chosen.iter().map(|&row| train.labels[row]).collect(),
            features: rows(&train.features, &chosen),
        };
        Ok(probe_fixed(&subset, test, self.num_classes(), &config, self.seed)?)
    }
}

/// The configuration by which a probe on `few` samples takes at least as many steps as on `all` of them.
fn as_many_steps(config: &LinearProbeConfig, all: usize, few: usize) -> LinearProbeConfig {
    let steps = |samples: usize| samples.div_ceil(config.batch_size).max(1);
    let epochs = config.epochs.saturating_mul(steps(all)).div_ceil(steps(few));
    LinearProbeConfig {
        epochs: epochs.min(MOST_EPOCHS),
        ..config.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_is_trained_for_as_many_steps() {
        let config = LinearProbeConfig {
            epochs: 10,
            batch_size: 100,
            ..LinearProbeConfig::default()
        };
        // 10 epochs of 10 steps; epochs of one step; epochs of three steps, which end 2 steps later; all.
        for (few, epochs) in [(7, 100), (250, 34), (1000, 10)] {
            assert_eq!(as_many_steps(&config, 1000, few).epochs, epochs, "{few}");
        }
    }
}
