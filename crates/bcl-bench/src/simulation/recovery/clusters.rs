//! What a detector finds during training, compared with the truth.

use super::network::{HIDDEN, Network, hidden};
use super::trial::{Trial, to_host};
use bcl_clusters::{Bank, Detection, Detector};
use bcl_core::unit_rows;
use burn::tensor::Device;
use serde::Serialize;

/// Principal components of the bank that are clustered.
const COMPONENTS: usize = 20;
/// Epochs between two detections, and detections between two that try all numbers of clusters.
const REFRESH: usize = 2;
const FULL: usize = 4;
/// Epochs over which detected pairs come to count in full.
const RAMP: f64 = 4.0;
/// Samples whose pairs are compared with the truth.
const COMPARED: usize = 1_000;

/// What a detector read, and what it would have had to read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// Trust in the clusters.
    pub gate: f64,
    /// Their stability.
    pub stability: f64,
    /// Their number.
    pub num_clusters: usize,
    /// Share of pairs with P > 0.
    pub touched: f64,
    /// Share of pairs with P > 0 that share a class.
    pub precision: f64,
    /// Share of pairs of a class with P > 0.
    pub recall: f64,
    /// Every number of clusters that was tried, with its stability.
    pub candidates: Vec<(usize, f64)>,
}

/// The bank and what was detected in it.
pub(super) struct Clusters {
    detector: Detector,
    bank: Bank,
    detection: Option<Detection>,
    lambda: f64,
    readings: Vec<Reading>,
}

impl Clusters {
    pub(super) fn new(detector: Detector, trial: &Trial) -> Self {
        Self {
            detector,
            bank: Bank::new(trial.samples.len(), HIDDEN),
            detection: None,
            lambda: 0.0,
            readings: Vec::new(),
        }
    }

    /// λP of two samples.
    pub(super) fn share(&self, first: usize, second: usize) -> f64 {
        let probability = |found: &Detection| self.lambda * found.probability(first, second);
        self.detection.as_ref().map_or(0.0, probability)
    }

    pub(super) fn start_epoch(&mut self, epoch: usize, momentum: &Network, trial: &Trial) {
        let size = &trial.size;
        let Some(update) = epoch.checked_sub(size.first_update()) else {
            return;
        };
        let parameters = momentum.tensors(&Device::flex());
        let [first, second] = trial.for_bank[update]
            .each_ref()
            .map(|views| unit_rows(hidden(&parameters, views.clone())));
        let means = to_host((first + second) * 0.5);
        for (row, features) in means.chunks_exact(HIDDEN).enumerate() {
            self.bank.update(row, features).expect("features are finite");
        }
        let Some(since) = epoch.checked_sub(size.warm_up) else {
            return;
        };
        if since.is_multiple_of(REFRESH) {
            self.detect(since / REFRESH, trial);
        }
        let gate = self.detection.as_ref().map_or(0.0, |found| found.gate);
        self.lambda = gate * ((since + 1) as f64 / RAMP).min(1.0);
    }

    fn detect(&mut self, refresh: usize, trial: &Trial) {
        let near = match &self.detection {
            Some(found) if !refresh.is_multiple_of(FULL) => Some(found.num_clusters),
            _ => None,
        };
        let points = self.bank.points().and_then(|points| points.principal_components(COMPONENTS));
        let mut rng = trial.seed.named("clusters").index(refresh as u64).rng();
        let found = points.and_then(|points| self.detector.detect(&points, near, &mut rng));
        let found = found.expect("there are finite features of thousands of samples");
        self.readings.push(reading(&found, &trial.samples.labels));
        self.detection = Some(found);
    }

    pub(super) fn into_readings(self) -> [Reading; 2] {
        let ends = [self.readings.first(), self.readings.last()];
        ends.map(|reading| reading.cloned().expect("training goes on after the first detection"))
    }
}

/// Compares a detection with the truth.
fn reading(found: &Detection, labels: &[usize]) -> Reading {
    let (mut touched, mut same, mut both) = (0_usize, 0_usize, 0_usize);
    let count = labels.len().min(COMPARED);
    for first in 0..count {
        for second in 0..first {
            let is_touched = found.probability(first, second) > 0.0;
            let is_same = labels[first] == labels[second];
            touched += usize::from(is_touched);
            same += usize::from(is_same);
            both += usize::from(is_touched && is_same);
        }
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    Reading {
        gate: found.gate,
        stability: found.stability,
        num_clusters: found.num_clusters,
        touched: share(touched, count * (count - 1) / 2),
        precision: share(both, touched),
        recall: share(both, same),
        candidates: found.candidates.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_counts_pairs() {
        let found = Detection {
            labels: [vec![0, 0, 1, 1], vec![0, 0, 1, 2]],
            num_clusters: 3,
            stability: 0.2,
            gate: 0.5,
            candidates: Vec::new(),
        };
        // Touched: (0, 1) and (2, 3); of one class: (0, 1), (0, 3) and (1, 3).
        let found = reading(&found, &[5, 5, 6, 5]);
        assert_eq!([found.touched, found.precision, found.recall], [2.0 / 6.0, 0.5, 1.0 / 3.0]);
    }
}
