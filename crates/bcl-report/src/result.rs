//! What a run leaves behind: one record an epoch (`metrics.jsonl`) and one result (`result.json`).

use crate::Showcase;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// Version of the layout of `result.json`.
pub const SCHEMA: u32 = 1;

/// Name of the figure that tells how far P(TN|x) is from the truth ([`CalibrationBin::expected_error`] after the last epoch).
pub const CALIBRATION_ERROR: &str = "calibration_error";

/// Name of the figure of a linear probe that is cheap enough for every few epochs (ridge regression).
pub const ONLINE_PROBE: &str = "online_top1";

/// Name of the mean squared distance of two views of an image.
pub const ALIGNMENT: &str = "alignment";

/// Name of the figure that tells how evenly features lie on the sphere.
pub const UNIFORMITY: &str = "uniformity";

/// Name of the mean training loss of the last epoch, nats: a figure of runs that no judge could look at.
pub const LAST_LOSS: &str = "loss";

/// Named figures, such as `ndcg@20`, in alphabetical order.
///
/// Of image encoders: `probe_top1`, `probe_top5` (linear probe on frozen features), `official_top1`, `official_top5` (the same in the
/// protocol of the released codes), `knn_top1`, `knn_top5`, `alignment`, `uniformity`, [`CALIBRATION_ERROR`]; during training
/// [`ONLINE_PROBE`]. Without labelled test images they are [`LAST_LOSS`], [`ALIGNMENT`] and [`UNIFORMITY`], the last two of training images
/// where there are no test images at all. Of recommenders:
/// `precision@k`, `recall@k`, `ndcg@k`, `hit_rate@k`, `mrr@k`, `map@k` (means over the users that have a test item),
/// `coverage@k`, `gini@k`, `mean_popularity@k` (over all recommended lists).
pub type Metrics = BTreeMap<String, f64>;

/// Which part of a run an epoch belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Trained on nine tenths of train; the remaining tenth chooses the number of epochs.
    Selection,
    /// Trained on all of train for the chosen number of epochs (and beyond, for the `oracle` column).
    Refit,
    /// Trained on all of train for a number of epochs that nothing chose.
    Training,
}

/// One line of `metrics.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// The part of the run.
    pub phase: Phase,
    /// Epochs completed in this phase, from 1.
    pub epoch: usize,
    /// Mean training loss of the epoch, nats.
    pub loss: f64,
    /// Anchors that had no negative, because all of theirs were masked out or their batch held nothing else. They have no loss, and the
    /// mean is over the others.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub anchors_without_negatives: usize,
    /// The α the estimator used this epoch, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alpha: Option<f64>,
    /// The label-free estimate of the encoder's AUC after the epoch: what the papers take for α. Positives of training are easier than
    /// unseen ones, so it is biased upwards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alpha_hat: Option<f64>,
    /// The encoder's AUC measured against the labels after the epoch, where truth is known: what the papers take for α.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alpha_labels: Option<f64>,
    /// Mean over anchors of (Σω)² / Σω², as a share of the number of negatives, in (0, 1]; `None` where no weight could be measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effective_sample_size: Option<f64>,
    /// Quantiles 0, 5, 25, 50, 75, 95 and 100 % of the weights on the negatives.
    pub omega_quantiles: Vec<f64>,
    /// How many weights on negatives lie in each bin of the [histogram](crate::histogram).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub omega_histogram: Vec<u64>,
    /// P(TN|x) against truth, where truth is known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub calibration: Vec<CalibrationBin>,
    /// Where the gradient goes, where truth is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub false_negatives: Option<FalseNegatives>,
    /// Ranking figures on the validation tenth (selection phase).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation: Option<Metrics>,
    /// Figures on test; never used to choose anything but the `oracle` column. Of images without test, figures of training images.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub test: Option<Metrics>,
    /// Wall time of training, s.
    pub train_seconds: f64,
    /// Wall time of evaluation, s.
    pub evaluation_seconds: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One bin of a reliability diagram: what P(TN|x) promised, and how many were true negatives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// Mean predicted probability of the bin.
    pub predicted: f64,
    /// Share of true negatives in the bin.
    pub observed: f64,
    /// Number of negatives in the bin.
    pub count: u64,
}

/// Negatives that share their anchor's class, and what they take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FalseNegatives {
    /// Their share among all negatives: what they would take if every negative were pushed alike.
    pub share: f64,
    /// Their share of `Σ |∂loss / ∂score|` over all negatives.
    pub gradient: f64,
}

impl CalibrationBin {
    /// Expected calibration error: the distance of promise and truth, averaged over negatives; `None` without any.
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

/// Test figures at one epoch, and how that epoch was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// The epoch.
    pub epoch: usize,
    /// Test figures.
    pub metrics: Metrics,
}

/// Size of the data a run saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSummary {
    /// Name of the data set.
    pub name: String,
    /// How much of what.
    #[serde(flatten)]
    pub size: DataSize,
}

/// How much data a run saw.
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
        /// Number of classes; 0 where images have no labels.
        classes: usize,
        /// Training images.
        train: usize,
        /// Test images; 0 where nothing is held out.
        test: usize,
        /// Files that were left out because they are no images that can be read (`data.skip_broken`).
        #[serde(skip_serializing_if = "is_none_of_them", default)]
        skipped: usize,
    },
}

impl DataSize {
    /// Whether there are test data to judge a run by. Images need labels for it, and an encoder learns without either.
    pub fn has_judges(&self) -> bool {
        match *self {
            Self::Interactions { .. } => true,
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
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

/// Where and with what a run ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this program.
    pub version: String,
    /// Git revision of the source, where it was known when the program was built.
    pub git_revision: Option<String>,
    /// Backend, such as `flex`.
    pub backend: String,
    /// Device as the backend names it.
    pub device: String,
    /// Its driver with the version, where that is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub driver: Option<String>,
    /// Worker threads.
    pub threads: usize,
}

/// The content of `result.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Name of the recipe.
    pub name: String,
    /// SHA-256 of the resolved recipe without its seed: runs with equal hashes differ by seed alone.
    pub recipe_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// Where it ran.
    pub environment: Environment,
    /// The data.
    pub data: DataSummary,
    /// Encoder, as in the recipe (`mf`, `light_gcn`, `resnet`).
    pub encoder: String,
    /// Estimator, as in the recipe (`info_nce`, `bayesian`, …).
    pub loss: String,
    /// Test figures at the epoch the validation tenth chose, after refitting on all of train; at the last epoch, where nothing was chosen.
    pub validation: Chosen,
    /// Test figures at the epoch that is best on test: not a fair result, kept for comparison with papers that report it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub oracle: Option<Chosen>,
    /// Test figures of the baselines, by name (`popularity`, `ease`).
    pub baselines: BTreeMap<String, Metrics>,
    /// Wall time of the whole run, s (of this process; a resumed run counts from its resumption).
    pub wall_seconds: f64,
    /// Median wall time of an epoch of training on all of train, s.
    pub epoch_seconds: f64,
    /// Peak resident memory of the process, bytes, where the system tells it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub peak_memory_bytes: Option<u64>,
    /// The resolved recipe.
    pub recipe: serde_json::Value,
    /// What a run on images has to show beside figures; kept in a file of its own.
    #[serde(skip)]
    pub showcase: Option<Showcase>,
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
        assert!(record.omega_histogram.is_empty() && record.false_negatives.is_none());
        assert_eq!(
            (record.anchors_without_negatives, record.effective_sample_size),
            (0, Some(0.5))
        );
    }
}
