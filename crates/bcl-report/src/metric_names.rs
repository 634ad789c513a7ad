//! Which figures a table shows, and in which order.

use crate::result::{ALIGNMENT, CALIBRATION_ERROR, LAST_LOSS, ONLINE_PROBE, RunResult, UNIFORMITY};

/// Names of all kinds of figures, in the order in which people look for them.
const KINDS: [&str; 9] = [
    "precision",
    "recall",
    "ndcg",
    "hit_rate",
    "mrr",
    "map",
    "coverage",
    "gini",
    "mean_popularity",
];

/// Figures of image encoders, in the order in which people look for them.
const OF_IMAGES: [&str; 11] = [
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
    CALIBRATION_ERROR,
];
/// Those of them that a table shows where nothing else is asked for.
const SHOWN_OF_IMAGES: [&str; 4] = ["probe_top1", "official_top1", "knn_top1", CALIBRATION_ERROR];

/// What a figure of image encoders comes from.
pub(super) struct Judge {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
}

/// The judge behind a figure.
pub(super) fn judge(metric: &str) -> Judge {
    let (name, about) = match metric {
        "probe_top1" | "probe_top5" => (
            "linear probe",
            "a linear layer on frozen features of whole images, the encoder under its running statistics.",
        ),
        "official_top1" | "official_top5" => (
            "official probe",
            "as the released codes do it: trained on random views, with an encoder that normalises them by the batch.",
        ),
        "knn_top1" | "knn_top5" => (
            "nearest neighbours",
            "weighted vote of the nearest training images by cosine.",
        ),
        ONLINE_PROBE => (
            "online probe",
            "ridge regression on the features of whole images, in closed form: cheap enough to be asked for during training.",
        ),
        LAST_LOSS => (
            "training loss",
            "mean over the anchors of the last epoch, nats; losses of different estimators have different scales.",
        ),
        ALIGNMENT | UNIFORMITY => (
            "two views",
            "mean squared distance of two views of an image, and log of the mean Gaussian potential of all pairs; lower is closer, \
             and more evenly spread.",
        ),
        CALIBRATION_ERROR => (
            "P(TN|x)",
            "expected calibration error of the probability that a negative is a true one, against labels, after the last epoch.",
        ),
        _ => ("other", "figures that this version does not know."),
    };
    Judge { name, about }
}

/// Splits `ndcg@20` into `ndcg` and 20.
fn parts(metric: &str) -> Option<(&str, usize)> {
    let (kind, cutoff) = metric.split_once('@')?;
    Some((kind, cutoff.parse().ok()?))
}

/// Place in the order: by cutoff, then by kind; what this program does not know comes last.
fn place(metric: &str) -> (usize, usize) {
    let Some((kind, cutoff)) = parts(metric) else {
        let place = OF_IMAGES.iter().position(|known| *known == metric);
        return (usize::MAX, place.unwrap_or(usize::MAX));
    };
    let kind = KINDS.iter().position(|known| *known == kind);
    (cutoff, kind.unwrap_or(KINDS.len()))
}

/// All figures that any of the runs has, by cutoff and then precision, recall, NDCG and so on.
pub fn all_metrics<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Vec<String> {
    let mut metrics: Vec<String> = runs
        .into_iter()
        .flat_map(|run| run.validation.metrics.keys().cloned())
        .collect();
    metrics.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    metrics.dedup();
    metrics
}

/// Recall and NDCG at the largest cutoff that all runs have; accuracies of image encoders.
pub fn default_metrics<'a>(runs: impl IntoIterator<Item = &'a RunResult> + Clone) -> Vec<String> {
    let shared = |metric: &str| {
        runs.clone()
            .into_iter()
            .all(|run| run.validation.metrics.contains_key(metric))
    };
    let metrics = all_metrics(runs.clone());
    let largest = metrics
        .iter()
        .filter(|metric| shared(metric))
        .filter_map(|metric| parts(metric))
        .map(|(_, cutoff)| cutoff)
        .max();
    let Some(largest) = largest else {
        let shown: Vec<String> = metrics
            .iter()
            .filter(|metric| SHOWN_OF_IMAGES.contains(&metric.as_str()))
            .cloned()
            .collect();
        // Without an accuracy, as without labels, there is room for all.
        let has_accuracy = shown.iter().any(|metric| metric != CALIBRATION_ERROR);
        return if has_accuracy { shown } else { metrics };
    };
    [format!("recall@{largest}"), format!("ndcg@{largest}")]
        .into_iter()
        .filter(|metric| metrics.contains(metric))
        .collect()
}

/// The figure of image encoders that headlines and curves show: the last accuracy of those that a table shows; uniformity without any.
pub(super) fn last_accuracy(metrics: Vec<String>) -> Option<String> {
    metrics.into_iter().rfind(|metric| metric != CALIBRATION_ERROR)
}

/// Whether a higher figure is a better one; spread and popularity of recommendations are neither good nor bad, and a low alignment or
/// uniformity alone is none either.
pub(super) fn higher_is_better(metric: &str) -> bool {
    !matches!(parts(metric), Some(("gini" | "mean_popularity", _)))
        && !matches!(metric, LAST_LOSS | ALIGNMENT | UNIFORMITY | CALIBRATION_ERROR)
}

/// Decimals that tell runs apart: four for shares, one for counts.
pub(super) fn decimals(metric: &str) -> usize {
    if metric.starts_with("mean_popularity") { 1 } else { 4 }
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
}
