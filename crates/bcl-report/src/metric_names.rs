//! The names of metrics, in results and in the order of a table.

use crate::few_labels;
use crate::result::{
    ALIGNMENT, CALIBRATION_ERROR, EFFECTIVE_RANK, EFFECTIVE_SAMPLE_SIZE, FEATURE_STD, LAST_LOSS, ONLINE_PROBE, RunResult,
    SCORE_SPREAD, UNIFORMITY,
};
use std::{borrow::Cow, collections::BTreeSet};

/// Metrics of one user's list, without their cutoff, in the order of a table.
pub const OF_LISTS: [&str; 6] = ["precision", "recall", "ndcg", "hit_rate", "mrr", "map"];
/// Metrics of the lists of all users, without their cutoff, in the order of a table: how many items are recommended, how evenly, and how
/// popular they are.
pub const OF_ALL_LISTS: [&str; 3] = ["coverage", "gini", "mean_popularity"];

/// RBF support vector machine on z-scores.
pub const RBF_SVM: &str = "rbf_svm";
/// RBF support vector machine on vectors as they are.
pub const RBF_SVM_RAW: &str = "rbf_svm_raw";
/// Linear support vector machine.
pub const LINEAR_SVM: &str = "linear_svm";
/// Logistic regression.
pub const LOGISTIC_REGRESSION: &str = "logistic_regression";
/// Linear probe; its metrics have `_top1` and `_top5` behind it.
pub const PROBE: &str = "probe";
/// Linear probe by the protocol of the papers' released code; its metrics have `_top1` and `_top5` behind it.
pub const OFFICIAL_PROBE: &str = "official";
/// Vote of the nearest neighbours; its metrics have `_top1` and `_top5` behind it.
pub const KNN: &str = "knn";

/// Metrics of encoders of images and graphs, in the order of a table.
const OF_ENCODERS: [&str; 17] = [
    RBF_SVM,
    RBF_SVM_RAW,
    LINEAR_SVM,
    LOGISTIC_REGRESSION,
    "probe_top1",
    "probe_top5",
    "official_top1",
    "official_top5",
    "knn_top1",
    "knn_top5",
    ONLINE_PROBE,
    LAST_LOSS,
    ALIGNMENT,
    UNIFORMITY,
    FEATURE_STD,
    EFFECTIVE_RANK,
    CALIBRATION_ERROR,
];
/// The metrics of encoders of images and graphs that a table shows by default.
const SHOWN_OF_ENCODERS: [&str; 6] = [
    RBF_SVM,
    RBF_SVM_RAW,
    "probe_top1",
    "official_top1",
    "knn_top1",
    CALIBRATION_ERROR,
];

/// The evaluation that a metric of encoders comes from.
pub(super) struct Evaluation {
    pub(super) name: Cow<'static, str>,
    pub(super) about: &'static str,
}

/// The evaluation behind a metric.
pub(super) fn evaluation(metric: &str) -> Evaluation {
    if let Some(percentage) = few_labels::percentage(metric) {
        return Evaluation {
            name: format!("linear probe, {percentage} % of the labels").into(),
            about: "the same classifier, trained for as many steps on a fraction of the training labels of each class.",
        };
    }
    let (name, about) = match metric {
        "probe_top1" | "probe_top5" => (
            "linear probe",
            "a linear classifier on frozen features of unaugmented images; the encoder is in evaluation mode.",
        ),
        "official_top1" | "official_top5" => (
            "official probe",
            "the protocol of the papers' released code: a linear classifier trained on augmented views, with the encoder's batch \
             normalisation in training mode.",
        ),
        RBF_SVM => (
            "RBF SVM",
            "a support vector machine with an RBF kernel, on z-scores of the training folds.",
        ),
        RBF_SVM_RAW => (
            "RBF SVM, raw",
            "the same on vectors as they are, as in the papers' released code. Sums over nodes grow with the graph, so the kernel sees \
             little but the scale of the largest graphs.",
        ),
        LINEAR_SVM => (
            "linear SVM",
            "a linear support vector machine, on z-scores of the training folds.",
        ),
        LOGISTIC_REGRESSION => ("logistic regression", "on z-scores of the training folds."),
        "knn_top1" | "knn_top5" => (
            "nearest neighbours",
            "weighted k-nearest-neighbour vote among training images, by cosine similarity.",
        ),
        ONLINE_PROBE => (
            "online probe",
            "ridge regression on features of unaugmented images, solved in closed form: cheap enough to run during training.",
        ),
        LAST_LOSS => (
            "training loss",
            "mean over the anchors of the last epoch, in nats; losses of different estimators are not comparable.",
        ),
        ALIGNMENT | UNIFORMITY => (
            "two views",
            "alignment: mean squared distance between two views of an image (lower: closer); uniformity: log of the mean Gaussian \
             potential over all pairs of images (lower: more evenly spread).",
        ),
        FEATURE_STD | EFFECTIVE_RANK => (
            "collapse",
            "feature_std: standard deviation of unit features times the root of their number of dimensions (0: all images have the same \
             features; at most 1); effective_rank: number of directions in which they vary.",
        ),
        CALIBRATION_ERROR => (
            "P(TN|x)",
            "expected calibration error of the probability that a negative is a true negative, against the labels, after the last \
             epoch (lower is better).",
        ),
        _ => ("other", "metrics that this version of the program does not know."),
    };
    Evaluation {
        name: name.into(),
        about,
    }
}

/// Splits `ndcg@20` into `ndcg` and 20.
fn parts(metric: &str) -> Option<(&str, usize)> {
    let (kind, cutoff) = metric.split_once('@')?;
    Some((kind, cutoff.parse().ok()?))
}

/// Sort key: cutoff first, then kind, then the fraction of labels; unknown metrics come last.
fn place(metric: &str) -> (usize, usize, u64) {
    let Some((kind, cutoff)) = parts(metric) else {
        let fraction = few_labels::order(metric);
        // Few labels come behind all labels.
        let known_as = if fraction > 0 { "probe_top5" } else { metric };
        let place = OF_ENCODERS.iter().position(|known| *known == known_as);
        return (usize::MAX, place.unwrap_or(usize::MAX), fraction);
    };
    let mut known = OF_LISTS.iter().chain(&OF_ALL_LISTS);
    (cutoff, known.position(|known| *known == kind).unwrap_or(usize::MAX), 0)
}

/// All metrics that occur in any of the runs, sorted by cutoff and then precision, recall, NDCG and so on.
pub fn all_metrics<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Vec<String> {
    in_order(runs.into_iter().flat_map(|run| run.validation.metrics.keys().cloned()))
}

/// The metrics in the order of a table, each once.
pub(super) fn in_order(metrics: impl Iterator<Item = String>) -> Vec<String> {
    let mut metrics: Vec<String> = metrics.collect();
    metrics.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    metrics.dedup();
    metrics
}

/// The metrics that the table of these runs shows by default: recall and NDCG at the largest cutoff that all recommenders share, or else
/// at the largest cutoff of each; for encoders of images and graphs their accuracies.
pub fn default_metrics<'a>(runs: impl IntoIterator<Item = &'a RunResult> + Clone) -> Vec<String> {
    let mut metrics = all_metrics(runs.clone());
    let cutoffs = shown_cutoffs(runs);
    if !cutoffs.is_empty() {
        let is_shown = |(kind, cutoff): (&str, usize)| matches!(kind, "recall" | "ndcg") && cutoffs.contains(&cutoff);
        metrics.retain(|metric| parts(metric).is_some_and(is_shown));
        return metrics;
    }
    let shown: Vec<String> = metrics
        .iter()
        .filter(|metric| is_shown_of_encoders(metric))
        .cloned()
        .collect();
    // Runs without labels have no accuracy and few metrics, so the table shows all of them that describe features.
    let has_accuracy = shown.iter().any(|metric| metric != CALIBRATION_ERROR);
    let describes = |metric: &String| !matches!(metric.as_str(), FEATURE_STD | EFFECTIVE_RANK);
    if has_accuracy {
        shown
    } else {
        metrics.into_iter().filter(describes).collect()
    }
}

/// The largest cutoff that all runs share, or else the largest of each run. Encoders of images and graphs have none.
fn shown_cutoffs<'a>(runs: impl IntoIterator<Item = &'a RunResult> + Clone) -> BTreeSet<usize> {
    let of_each = || runs.clone().into_iter().map(cutoffs);
    let shared = of_each().reduce(|shared, of_run| &shared & &of_run).unwrap_or_default();
    match shared.last() {
        Some(&largest) => [largest].into(),
        None => of_each().filter_map(|of_run| of_run.last().copied()).collect(),
    }
}

/// The cutoffs of the metrics of a run.
fn cutoffs(run: &RunResult) -> BTreeSet<usize> {
    let parts = run.validation.metrics.keys().filter_map(|metric| parts(metric));
    parts.map(|(_, cutoff)| cutoff).collect()
}

/// Whether a table shows a metric of encoders by default.
fn is_shown_of_encoders(metric: &str) -> bool {
    SHOWN_OF_ENCODERS.contains(&metric) || (few_labels::percentage(metric).is_some() && metric.ends_with("top1"))
}

/// The metric that headlines and curves of encoders show: for graphs the first one of a table, for images the last, calibration error aside.
pub(super) fn last_accuracy(metrics: Vec<String>) -> Option<String> {
    if let Some(of_graphs) = metrics.iter().find(|metric| metric.starts_with("rbf_svm")) {
        return Some(of_graphs.clone());
    }
    metrics.into_iter().rfind(|metric| metric != CALIBRATION_ERROR)
}

/// Returns whether higher is better. The Gini coefficient and the popularity of recommendations are neither good nor bad, and neither are
/// alignment, uniformity and the spread of features on their own.
pub(super) fn higher_is_better(metric: &str) -> bool {
    !matches!(parts(metric), Some(("gini" | "mean_popularity", _)))
        && !matches!(
            metric,
            LAST_LOSS
                | ALIGNMENT
                | UNIFORMITY
                | FEATURE_STD
                | EFFECTIVE_RANK
                | CALIBRATION_ERROR
                | EFFECTIVE_SAMPLE_SIZE
                | SCORE_SPREAD
        )
}

/// Decimals to show: four for fractions, one for counts.
pub(super) fn decimals(metric: &str) -> usize {
    if metric.starts_with("mean_popularity") || metric == EFFECTIVE_RANK {
        1
    } else {
        4
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn metrics_come_by_cutoff_as_a_number_and_then_by_kind() {
        let (mut run, _) = sample::run("a", "info_nce", 0);
        run.validation.metrics = ["ndcg@5", "recall@20", "odd", "precision@20", "recall@5", "ndcg@100"]
            .map(|name| (name.to_owned(), 0.5))
            .into();
        let expected = ["recall@5", "ndcg@5", "precision@20", "recall@20", "ndcg@100", "odd"];
        assert_eq!(all_metrics([&run]), expected);
    }

    #[test]
    fn the_default_is_the_largest_cutoff_that_all_runs_have() {
        let (one, _) = sample::run("a", "info_nce", 0);
        let mut other = one.clone();
        assert_eq!(default_metrics([&one, &other]), ["recall@20", "ndcg@20"]);
        other.validation.metrics.retain(|name, _| !name.ends_with("@20"));
        assert_eq!(default_metrics([&one, &other]), ["recall@10", "ndcg@10"]);
        assert_eq!(default_metrics([]), [""; 0]);
    }

    #[test]
    fn runs_without_a_common_cutoff_show_the_largest_cutoff_of_each() {
        let runs = [["@5", "@10"].as_slice(), &["@20"]].map(|cutoffs| {
            let (mut run, _) = sample::run("a", "info_nce", 0);
            let has = |name: &String| cutoffs.iter().any(|cutoff| name.ends_with(*cutoff));
            run.validation.metrics.retain(|name, _| has(name));
            run
        });
        assert_eq!(default_metrics(&runs), ["recall@10", "ndcg@10", "recall@20", "ndcg@20"]);
    }

    #[test]
    fn probes_on_few_labels_stand_behind_the_one_on_all_and_are_shown() {
        let (mut run, _) = sample::image_run("a", "info_nce", 0);
        let few = ["probe_10%_top1", "probe_10%_top5", "probe_1%_top1", "probe_1%_top5"].map(|name| (name.to_owned(), 0.3));
        run.validation.metrics.extend(few);
        assert_eq!(
            default_metrics([&run])[..4],
            ["probe_top1", "probe_1%_top1", "probe_10%_top1", "official_top1"]
        );
        assert_eq!(all_metrics([&run])[1..4], ["probe_top5", "probe_1%_top1", "probe_1%_top5"]);
        assert_eq!(evaluation("probe_1%_top5").name, "linear probe, 1 % of the labels");
        assert_eq!(evaluation("probe_1%_top5").name, evaluation("probe_1%_top1").name);
    }

    #[test]
    fn tables_of_images_show_the_spread_of_features_only_if_asked() {
        let (mut run, _) = sample::image_run("a", "info_nce", 0);
        let before = default_metrics([&run]);
        let spread = [(FEATURE_STD, 0.7), (EFFECTIVE_RANK, 30.0)].map(|(name, value)| (name.to_owned(), value));
        run.validation.metrics.extend(spread.clone());
        assert_eq!(default_metrics([&run]), before);
        assert!(all_metrics([&run]).ends_with(&[FEATURE_STD.to_owned(), EFFECTIVE_RANK.to_owned()]));

        // Without labels, the table shows what describes the features.
        run.validation.metrics = spread.into();
        run.validation.metrics.insert(UNIFORMITY.to_owned(), -2.0);
        assert_eq!(default_metrics([&run]), [UNIFORMITY]);
    }
}
