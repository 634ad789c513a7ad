//! Detects training samples of one class by clusters of their features, epoch by epoch.
//!
//! The state is part of the model in training, as parameters without gradients. So it is in checkpoints, processes share it, and a resumed run goes
//! on with the same bits.

use crate::error::Error;
use bcl_clusters::{Bank, ClusterCount, ClusterError, Detector, equal_pairs};
use bcl_data::Seed;
use bcl_methods::Detected;
use bcl_recipe::{ClusterRule, RecoveryConfig};
use bcl_report::result::DetectionRecord;
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Every so many detections, all numbers of clusters are tried, and not only those near the last.
const FULL_GRID_EVERY: usize = 4;

/// The features of all training samples after an epoch.
#[derive(Debug)]
pub struct TrainingFeatures {
    /// `[num_samples, dim]`.
    pub features: Tensor<2>,
    /// The class of each sample, if all are known: for the record only.
    pub classes: Option<Vec<u32>>,
}

/// What has been detected, in the model.
#[derive(Module, Debug)]
pub struct Recovery {
    /// Sums of features over epochs, `[num_samples, dim]`.
    sums: Param<Tensor<2>>,
    /// The share of each sum, `[num_samples]`.
    shares: Param<Tensor<1>>,
    /// The cluster of each sample in two labelings, `[2, num_samples]`.
    labels: Param<Tensor<2>>,
    /// [`Figures`], `[5]`.
    figures: Param<Tensor<1>>,
}

/// The numbers of a detection. They are kept in 32 bits, so that a resumed run reads what it wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Figures {
    detections: f32,
    clusters: f32,
    stability: f32,
    gate: f32,
    strength: f32,
}

/// The state on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryState {
    sums: Vec<f32>,
    shares: Vec<f32>,
    labels: [Vec<u32>; 2],
    figures: Figures,
}

impl Recovery {
    /// Nothing has been detected.
    pub fn new(num_samples: usize, dim: usize, device: &Device) -> Self {
        fn parameter<const D: usize>(shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
            Param::from_tensor(Tensor::zeros(shape, device)).set_require_grad(false)
        }
        Self {
            sums: parameter([num_samples, dim], device),
            shares: parameter([num_samples], device),
            labels: parameter([2, num_samples], device),
            figures: parameter([5], device),
        }
    }

    /// The detection for the losses of the next epoch; `None` while it has no strength.
    pub fn detected(&self, config: &RecoveryConfig) -> Option<Arc<Detected>> {
        let strength = self.figures().strength;
        (strength > 0.0).then(|| {
            Arc::new(Detected {
                labels: self.labels(),
                strength: strength.into(),
                attract: config.attract,
            })
        })
    }

    /// Copies the state to the host.
    pub fn state(&self) -> RecoveryState {
        RecoveryState {
            sums: host(&self.sums),
            shares: host(&self.shares),
            labels: self.labels(),
            figures: self.figures(),
        }
    }

    fn labels(&self) -> [Vec<u32>; 2] {
        let labels = host(&self.labels);
        let (first, second) = labels.split_at(labels.len() / 2);
        [first, second].map(|labels| labels.iter().map(|&label| label as u32).collect())
    }

    fn figures(&self) -> Figures {
        let figures = host(&self.figures);
        Figures {
            detections: figures[0],
            clusters: figures[1],
            stability: figures[2],
            gate: figures[3],
            strength: figures[4],
        }
    }

    /// The same with another state.
    pub fn with(self, state: &RecoveryState) -> Self {
        fn replaced<const D: usize>(parameter: Param<Tensor<D>>, values: Vec<f32>) -> Param<Tensor<D>> {
            parameter.map(|before| {
                let data = TensorData::new(values, before.dims());
                Tensor::from_data(data, &before.device()).set_require_grad(false)
            })
        }
        let Figures {
            detections,
            clusters,
            stability,
            gate,
            strength,
        } = state.figures;
        let labels = state.labels.iter().flatten().map(|&label| label as f32).collect();
        Self {
            sums: replaced(self.sums, state.sums.clone()),
            shares: replaced(self.shares, state.shares.clone()),
            labels: replaced(self.labels, labels),
            figures: replaced(self.figures, vec![detections, clusters, stability, gate, strength]),
        }
    }
}

fn host<const D: usize>(parameter: &Param<Tensor<D>>) -> Vec<f32> {
    parameter.val().into_data().iter::<f32>().collect()
}

impl RecoveryState {
    /// Takes in the features after an epoch (counted from 1), if they are needed, and detects pairs, if it is time.
    ///
    /// # Errors
    /// Returns an error if features are not finite or there are too few samples.
    pub fn after_epoch(
        mut self,
        config: &RecoveryConfig,
        seed: Seed,
        epoch: usize,
        features: Option<TrainingFeatures>,
    ) -> Result<(Self, Option<DetectionRecord>), Error> {
        let Some(TrainingFeatures { features, classes }) = features else {
            return Ok((self, None));
        };
        let dim = features.dims()[1];
        let mut bank = Bank::of(self.sums, self.shares, dim).map_err(refused)?;
        for (row, features) in features.into_data().iter::<f32>().collect::<Vec<_>>().chunks(dim).enumerate() {
            bank.update(row, &unit(features)).map_err(refused)?;
        }
        if config.detects_after(epoch) {
            let count = match config.clusters {
                ClusterRule::Coarser => ClusterCount::COARSER,
                _ => ClusterCount::FINER,
            };
            let detector = Detector {
                count: config.max_clusters.map_or(count, |most| count.at_most(most)),
                ..Detector::default()
            };
            let earlier = self.figures.detections as usize;
            let near = (!earlier.is_multiple_of(FULL_GRID_EVERY)).then_some(self.figures.clusters as usize);
            let points = bank
                .points()
                .and_then(|points| points.principal_components(config.components));
            let mut random = seed.named("recovery").index(epoch as u64).rng();
            let found = points
                .and_then(|points| detector.detect(&points, near, &mut random))
                .map_err(refused)?;
            self.figures = Figures {
                detections: self.figures.detections + 1.0,
                clusters: found.num_clusters as f32,
                stability: found.stability as f32,
                gate: found.gate as f32,
                strength: 0.0,
            };
            self.labels = found.labels;
        }
        self.sums = bank.sums().to_vec();
        self.shares = bank.weights().to_vec();
        self.figures.strength = (f64::from(self.figures.gate) * config.progress_after(epoch)) as f32;
        let record = (self.figures.detections > 0.0).then(|| self.record(config, classes.as_deref()));
        Ok((self, record))
    }

    /// The cluster of each sample in two labelings.
    pub fn labels(&self) -> &[Vec<u32>; 2] {
        &self.labels
    }

    fn record(&self, config: &RecoveryConfig, classes: Option<&[u32]>) -> DetectionRecord {
        let shared: Vec<Shared> = self.labels.iter().map(|labels| Shared::of(labels, classes)).collect();
        let mean = |of: fn(&Shared) -> f64| shared.iter().map(of).sum::<f64>() / shared.len() as f64;
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let (detected, right) = (mean(|shared| shared.pairs), mean(|shared| shared.of_one_class));
        DetectionRecord {
            clusters: self.figures.clusters as usize,
            stability: self.figures.stability.into(),
            gate: self.figures.gate.into(),
            strength: self.figures.strength.into(),
            attract: config.attract,
            detected: share(detected, mean(|shared| shared.all)).unwrap_or(0.0),
            precision: classes.and_then(|_| share(right, detected)),
            recall: classes.and_then(|_| share(right, mean(|shared| shared.true_pairs))),
        }
    }
}

/// Numbers of pairs of different samples.
struct Shared {
    all: f64,
    /// In one cluster.
    pairs: f64,
    /// In one cluster and of one class.
    of_one_class: f64,
    /// Of one class.
    true_pairs: f64,
}

impl Shared {
    fn of(labels: &[u32], classes: Option<&[u32]>) -> Self {
        let classes = classes.unwrap_or(&[]);
        Self {
            all: (labels.len() * labels.len().saturating_sub(1) / 2) as f64,
            pairs: equal_pairs(labels),
            of_one_class: equal_pairs(labels.iter().zip(classes)),
            true_pairs: equal_pairs(classes),
        }
    }
}

/// Features of unit length; zeros stay zeros.
fn unit(features: &[f32]) -> Vec<f32> {
    let length = features.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    let scale = if length > 0.0 { length.recip() } else { 0.0 };
    features.iter().map(|value| (f64::from(*value) * scale) as f32).collect()
}

fn refused(error: ClusterError) -> Error {
    Error::Input(format!("[recovery] cannot cluster the training images: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Features of four tight groups of ten.
    fn features(classes: bool) -> TrainingFeatures {
        let row = |sample: usize| {
            let mut row = [0.01_f32; 4];
            row[sample % 4] = 1.0;
            row[(sample + 1) % 4] += 0.02 * (1.7 * sample as f32).sin();
            row
        };
        let values: Vec<f32> = (0..40).flat_map(row).collect();
        TrainingFeatures {
            features: Tensor::from_data(TensorData::new(values, [40, 4]), &Device::flex()),
            classes: classes.then(|| (0..40).map(|sample| sample % 4).collect()),
        }
    }

    fn config() -> RecoveryConfig {
        RecoveryConfig {
            warmup: 2,
            ramp: 2,
            every: 1,
            components: 3,
            ..RecoveryConfig::default()
        }
    }

    fn recovery() -> Recovery {
        Recovery::new(40, 4, &Device::flex())
    }

    #[test]
    fn groups_are_detected_after_the_warm_up_and_survive_the_model() {
        let config = config();
        let (first, record) = recovery()
            .state()
            .after_epoch(&config, Seed(1), 1, Some(features(true)))
            .unwrap();
        assert_eq!(record, None);
        assert!(recovery().with(&first).detected(&config).is_none());
        let (second, record) = first.after_epoch(&config, Seed(1), 2, Some(features(true))).unwrap();
        let record = record.unwrap();
        assert_eq!((record.precision, record.gate, record.strength), (Some(1.0), 1.0, 0.5));
        assert!(record.recall.unwrap() > 0.2 && record.detected > 0.02, "{record:?}");
        let model = recovery().with(&second);
        assert_eq!(model.state(), second);
        let detected = model.detected(&config).unwrap();
        assert_eq!(detected.strength, 0.5);
        assert!(detected.labels.iter().all(|labels| labels.len() == 40));
    }

    #[test]
    fn there_are_no_more_clusters_than_the_recipe_allows() {
        let config = RecoveryConfig {
            warmup: 1,
            max_clusters: Some(3),
            ..config()
        };
        let (_, record) = recovery()
            .state()
            .after_epoch(&config, Seed(1), 1, Some(features(true)))
            .unwrap();
        let most = record.unwrap().clusters;
        assert!((2..=3).contains(&most), "{most}");
    }

    #[test]
    fn without_classes_the_record_has_neither_precision_nor_recall() {
        let (state, _) = recovery()
            .state()
            .after_epoch(&config(), Seed(1), 1, Some(features(false)))
            .unwrap();
        let (_, record) = state.after_epoch(&config(), Seed(1), 2, Some(features(false))).unwrap();
        let record = record.unwrap();
        assert_eq!((record.precision, record.recall), (None, None));
    }

    #[test]
    fn features_that_are_not_finite_are_refused() {
        let mut broken = features(false);
        broken.features = broken.features * f32::NAN;
        let error = recovery()
            .state()
            .after_epoch(&config(), Seed(1), 1, Some(broken))
            .unwrap_err();
        assert!(error.to_string().contains("[recovery]"), "{error}");
    }
}
