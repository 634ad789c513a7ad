//! The files of a run: one record per epoch (`metrics.jsonl`) and one result (`result.json`).

use crate::{SampleMetrics, Showcase};
use bcl_data::LoadReport;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// Schema version of `result.json`.
pub const SCHEMA: u32 = 1;

/// Metric name: expected calibration error of P(TN|x) after the last epoch ([`CalibrationBin::expected_error`]).
pub const CALIBRATION_ERROR: &str = "calibration_error";

/// Metric name: top-1 accuracy of the online probe, a ridge regression that is cheap enough to run every few epochs.
pub const ONLINE_PROBE: &str = "online_top1";

/// Metric name: mean squared distance between two views of an image.
pub const ALIGNMENT: &str = "alignment";

/// Metric name: how uniformly features are distributed on the unit sphere.
pub const UNIFORMITY: &str = "uniformity";

/// Metric name: standard deviation of unit features times √dim: 0 if all features are equal, at most 1.
pub const FEATURE_STD: &str = "feature_std";

/// Metric name: effective number of dimensions over which unit features vary.
pub const EFFECTIVE_RANK: &str = "effective_rank";

/// Metric name: mean training loss of the last epoch in nats, for runs on images without labelled test data and on graphs without labels.
pub const LAST_LOSS: &str = "loss";

/// Metric name: the macro AUC of an encoder, which epochs keep as [`EpochRecord::macro_auc`].
pub const MACRO_AUC: &str = "macro_auc";

/// Metric name: [`EpochRecord::effective_sample_size`] of the weights after the chosen epoch.
pub const EFFECTIVE_SAMPLE_SIZE: &str = "effective_sample_size";

/// Metric name: [`EpochRecord::score_spread`] after the chosen epoch.
pub const SCORE_SPREAD: &str = "score_spread";

/// Metrics by name, such as `ndcg@20`, in alphabetical order.
///
/// - Image encoders: `probe_top1`, `probe_top5` (linear probe on frozen features), `probe_1%_top1` (the same on 1 % of the labels),
///   `official_top1`, `official_top5` (linear probe in the protocol of the papers' released code), `knn_top1`, `knn_top5`, `alignment`, `uniformity`, [`FEATURE_STD`], [`EFFECTIVE_RANK`],
///   [`CALIBRATION_ERROR`], and during training [`ONLINE_PROBE`].
/// - Image encoders without labelled test images: [`LAST_LOSS`], [`ALIGNMENT`], [`UNIFORMITY`], [`FEATURE_STD`] and [`EFFECTIVE_RANK`];
///   without any test images, all but the first are computed on training images.
/// - Graph encoders: `rbf_svm`, `rbf_svm_raw`, `linear_svm`, `logistic_regression` (mean accuracy of cross-validated classifiers),
///   [`CALIBRATION_ERROR`]; without graph labels only [`LAST_LOSS`].
/// - Recommenders: `precision@k`, `recall@k`, `ndcg@k`, `hit_rate@k`, `mrr@k`, `map@k` (means over users with at least one test item),
///   `coverage@k`, `gini@k`, `mean_popularity@k` (over all recommended lists), [`EFFECTIVE_SAMPLE_SIZE`], [`SCORE_SPREAD`].
pub type Metrics = BTreeMap<String, f64>;

/// The phase of a run that an epoch belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Trains on nine tenths of the training data; the remaining tenth is the validation set that chooses the number of epochs.
    Selection,
    /// Trains on all training data for the chosen number of epochs (and longer for the `oracle` column).
    Refit,
    /// Trains on all training data for a fixed number of epochs.
    Training,
}

/// The record of one epoch: one line of `metrics.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Phase of the run.
    pub phase: Phase,
    /// Epochs completed in this phase, from 1.
    pub epoch: usize,
    /// Mean training loss of the epoch, in nats.
    pub loss: f64,
    /// Number of anchors without negatives, because all were masked or the batch contained no other sample. They have no loss and are
    /// left out of the mean.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub anchors_without_negatives: usize,
    /// The α that the estimator used in this epoch, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alpha: Option<f64>,
    /// The values in this epoch of parameters of the loss that have a schedule, by name; a learned temperature is that after the epoch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub scheduled: BTreeMap<String, f64>,
    /// Label-free estimate of the encoder's AUC after the epoch, which the papers use as α. Training positives are easier than unseen
    /// ones, so it is biased upwards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alpha_hat: Option<f64>,
    /// The encoder's AUC against the labels after the epoch, which the papers use as α; `None` without labels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alpha_labels: Option<f64>,
    /// The encoder's macro AUC after the epoch on held-out data or on training images, if the schedule of α reads it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub macro_auc: Option<f64>,
    /// Effective sample size (Σω)² / Σω² as a fraction of the number of negatives, in (0, 1], averaged over anchors; `None` if no
    /// weights were measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effective_sample_size: Option<f64>,
    /// Standard deviation of an anchor's similarities with its negatives after the epoch, before the temperature, averaged over anchors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score_spread: Option<f64>,
    /// Share of anchors at the floor of the loss after the epoch: they do not push their negatives away. `None` if the loss has no floor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub floored: Option<f64>,
    /// Quantiles (0, 5, 25, 50, 75, 95 and 100 %) of the weights ω of the negatives.
    pub omega_quantiles: Vec<f64>,
    /// Number of weights ω in each bin of the [histogram](crate::histogram).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub omega_histogram: Vec<u64>,
    /// Reliability diagram of P(TN|x); empty without labels.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub calibration: Vec<CalibrationBin>,
    /// Share of the gradient that goes to false negatives; `None` without labels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub false_negatives: Option<FalseNegatives>,
    /// What was detected after the epoch, with `[recovery]`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detection: Option<DetectionRecord>,
    /// Ranking metrics on the validation set (selection phase only).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation: Option<Metrics>,
    /// Metrics on the test set, which choose nothing except the `oracle` column. For images without a test set, metrics on training
    /// images.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub test: Option<Metrics>,
    /// Wall-clock time of training, in seconds.
    pub train_seconds: f64,
    /// Wall-clock time of evaluation, in seconds.
    pub evaluation_seconds: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One bin of a reliability diagram: predicted P(TN|x) against the observed share of true negatives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// Mean predicted probability of the bin.
    pub predicted: f64,
    /// Share of true negatives in the bin.
    pub observed: f64,
    /// Number of negatives in the bin.
    pub count: u64,
}

/// False negatives (negatives of their anchor's class) and their share of the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FalseNegatives {
    /// Their share of all negatives, which is also their share of the gradient if every negative counts the same.
    pub share: f64,
    /// Their share of `Σ |∂loss / ∂score|` over all negatives.
    pub gradient: f64,
}

/// Pairs of training samples that clusters say are of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DetectionRecord {
    /// Number of clusters.
    pub clusters: usize,
    /// Adjusted Rand index of the clusterings of two halves, at most 1.
    pub stability: f64,
    /// How far the clusters are trusted, in [0, 1].
    pub gate: f64,
    /// Strength of the detection in the next epoch: the gate times the progress of the ramp.
    pub strength: f64,
    /// Largest share of the weight of all positives that detected pairs take; 0 if they are only left out.
    #[serde(skip_serializing_if = "is_zero_f64", default)]
    pub attract: f64,
    /// Share of all pairs that are in one cluster.
    pub detected: f64,
    /// Share of these that are of one class; `None` without labels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub precision: Option<f64>,
    /// Share of the pairs of one class that are in one cluster; `None` without labels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recall: Option<f64>,
}

impl DetectionRecord {
    /// The width of the detector's gate: a rise by so much takes it from shut to fully open.
    const NOTABLE_RISE: f64 = 0.15;

    /// The stability before anything was attracted and at the end, if clusters that could not be fully trusted before became reproducible only
    /// after. Attraction raises the stability of any clusters, right or wrong.
    pub fn rose_after_attraction(records: &[EpochRecord]) -> Option<[f64; 2]> {
        let last = records.last()?;
        let of_phase = records.iter().filter(|record| record.phase == last.phase);
        let mut found = of_phase
            .filter_map(|record| record.detection)
            .filter(|found| found.attract > 0.0);
        // The first with a strength was measured before it attracted anything.
        let before = found.find(|found| found.strength > 0.0)?;
        let after = found.next_back()?;
        let rose = before.gate < 1.0 && after.stability - before.stability > Self::NOTABLE_RISE;
        rose.then_some([before.stability, after.stability])
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero_f64(number: &f64) -> bool {
    *number == 0.0
}

impl CalibrationBin {
    /// Expected calibration error: the distance between predicted and observed, averaged over negatives; `None` without negatives.
    ///
    /// ```text
    /// ece = Σ count |predicted - observed| / Σ count
    /// ```
    pub fn expected_error(bins: &[Self]) -> Option<f64> {
        let filled = || bins.iter().filter(|bin| bin.count > 0);
        let total: f64 = filled().map(|bin| bin.count as f64).sum();
        let distance: f64 = filled()
            .map(|bin| bin.count as f64 * (bin.predicted - bin.observed).abs())
            .sum();
        (total > 0.0).then_some(distance / total)
    }
}

/// Test metrics at a chosen epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// The chosen epoch.
    pub epoch: usize,
    /// Test metrics.
    pub metrics: Metrics,
}

/// The data set of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSummary {
    /// Name of the data set.
    pub name: String,
    /// Size of the data set.
    #[serde(flatten)]
    pub size: DataSize,
}

/// Size of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DataSize {
    /// Interactions of users with items.
    Interactions {
        /// Number of users.
        users: usize,
        /// Number of items.
        items: usize,
        /// Training interactions.
        train: usize,
        /// Test interactions.
        test: usize,
    },
    /// Images.
    Images {
        /// Number of classes; 0 if the images have no labels.
        classes: usize,
        /// Training images.
        train: usize,
        /// Test images; 0 if there is no test set.
        test: usize,
        /// Files that were skipped because they could not be decoded (`data.skip_broken`).
        #[serde(skip_serializing_if = "is_none_of_them", default)]
        skipped: usize,
    },
    /// Graphs, which are evaluated by cross-validation.
    Graphs {
        /// Number of graphs.
        graphs: usize,
        /// Number of classes; 0 if the graphs have no labels.
        classes: usize,
        /// Nodes of all graphs.
        nodes: usize,
        /// Undirected edges of all graphs.
        edges: usize,
        /// Features per node.
        features: usize,
    },
}

impl DataSize {
    /// Returns whether a run can be evaluated on test data. Images and graphs need labels for that.
    pub fn can_be_evaluated(&self) -> bool {
        match *self {
            Self::Interactions { .. } => true,
            Self::Graphs { classes, .. } => classes > 0,
            Self::Images { classes, test, .. } => classes > 0 && test > 0,
        }
    }
}

impl fmt::Display for DataSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interactions {
                users,
                items,
                train,
                test,
            } => write!(
                f,
                "{train} training and {test} test interactions of {users} users with {items} items"
            ),
            Self::Images {
                classes, train, test, ..
            } => write!(f, "{train} training and {test} test images of {classes} classes"),
            Self::Graphs {
                graphs,
                classes,
                nodes,
                edges,
                features,
            } => {
                let labels = match classes {
                    0 => "without labels".to_owned(),
                    classes => format!("of {classes} classes"),
                };
                write!(
                    f,
                    "{graphs} graphs {labels}, {nodes} nodes with {features} features, {edges} edges"
                )
            }
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes references
fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

/// The machine and the program of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this program.
    pub version: String,
    /// Git revision of the source, if it was known at build time.
    pub git_revision: Option<String>,
    /// Backend, such as `flex`.
    pub backend: String,
    /// Device name as reported by the backend.
    pub device: String,
    /// Driver and its version, if reported.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub driver: Option<String>,
    /// Number of processes that trained together.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub processes: usize,
    /// Worker threads of each process.
    pub threads: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(processes: &usize) -> bool {
    *processes == 1
}

fn one() -> usize {
    1
}

/// The content of `result.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`] of the program that wrote the file.
    pub schema: u32,
    /// Name of the recipe.
    pub name: String,
    /// SHA-256 of the resolved recipe without its seed: runs with equal hashes differ only in the seed.
    pub recipe_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// Machine and program version.
    pub environment: Environment,
    /// Name and size of the data set.
    pub data: DataSummary,
    /// What was left out of the files of interactions, and what test data have that training data lack.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_out: Option<LoadReport>,
    /// Encoder, as in the recipe (`mf`, `light_gcn`, `resnet`, `gin`).
    pub encoder: String,
    /// Estimator, as in the recipe (`info_nce`, `bayesian`, …).
    pub loss: String,
    /// Test metrics at the epoch that the validation set chose, after refitting on all training data. Runs with a fixed number of epochs:
    /// test metrics of the last epoch.
    pub validation: Chosen,
    /// Test metrics at the epoch that is best on the test set. Optimistic; kept for comparison with papers that report it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub oracle: Option<Chosen>,
    /// Accuracy of each fold by classifier, for encoders that are cross-validated.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub folds: BTreeMap<String, Vec<f64>>,
    /// Test metrics of the baselines, by name (`popularity`, `ease`).
    pub baselines: BTreeMap<String, Metrics>,
    /// Wall-clock time of the run in seconds; for a resumed run, of the last process only.
    pub wall_seconds: f64,
    /// Median wall-clock time per epoch of training on all training data, in seconds.
    pub epoch_seconds: f64,
    /// Peak resident memory of the process in bytes, if the operating system reports it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub peak_memory_bytes: Option<u64>,
    /// The resolved recipe.
    pub recipe: serde_json::Value,
    /// Metrics of each user or graph; kept in a [file](crate::SampleKind::file) of their own, and not read with the result.
    #[serde(skip)]
    pub samples: Option<SampleMetrics>,
    /// Pictures of a run on images or graphs; kept in `showcase.json`.
    #[serde(skip)]
    pub showcase: Option<Showcase>,
}

impl RunResult {
    /// Returns whether the epoch of its results was chosen on held-out data. Otherwise they are of the last epoch.
    pub(crate) fn has_chosen_epoch(&self) -> bool {
        // Runs on images hold out data only if their recipe says so, and runs on graphs never do.
        let held_out = self.recipe["selection"]["held_out"].as_f64().unwrap_or_default();
        match self.data.size {
            DataSize::Interactions { .. } => true,
            DataSize::Images { .. } => held_out > 0.0,
            DataSize::Graphs { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calibration_error_weighs_bins_by_count() {
        let bin = |predicted, observed, count| CalibrationBin {
            predicted,
            observed,
            count,
        };
        let error = CalibrationBin::expected_error(&[bin(0.2, 0.1, 1), bin(0.5, f64::NAN, 0), bin(0.9, 0.5, 3)]).unwrap();
        assert!((error - (0.1 + 3.0 * 0.4) / 4.0).abs() < 1e-12);
        assert_eq!(CalibrationBin::expected_error(&[]), None);
    }

    #[test]
    fn a_line_of_an_earlier_version_still_reads() {
        let line = r#"{"phase":"refit","epoch":2,"loss":1.5,"effective_sample_size":0.5,"omega_quantiles":[],"train_seconds":1,
            "evaluation_seconds":1}"#;
        let record: EpochRecord = serde_json::from_str(line).unwrap();
        assert!(record.omega_histogram.is_empty() && record.false_negatives.is_none() && record.floored.is_none());
        assert_eq!(
            (record.anchors_without_negatives, record.effective_sample_size),
            (0, Some(0.5))
        );
    }
}
