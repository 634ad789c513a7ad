//! Metrics of one user's list, and their mean over users.

use bcl_report::{metric_names::OF_LISTS, result::Metrics};

/// Precision, recall, NDCG, hit rate, MRR and MAP of one list at one cutoff.
pub(super) type UserMetrics = [f64; OF_LISTS.len()];

/// DCG discounts `1 / log2(rank + 1)` and their cumulative sums.
#[derive(Debug)]
pub(super) struct Discounts {
    at: Vec<f64>,
    /// `ideal[n]` is the ideal DCG with `n` held-out items.
    ideal: Vec<f64>,
}

impl Discounts {
    /// Computes the discounts of the ranks 1 to `longest`.
    pub(super) fn new(longest: usize) -> Self {
        let at: Vec<f64> = (1..=longest).map(|rank| 1.0 / (rank as f64 + 1.0).log2()).collect();
        // Summed in the same order as a list's gain, so that a perfect list gets exactly 1.
        let ideal = std::iter::once(0.0)
            .chain(at.iter().scan(0.0, |sum, discount| {
                *sum += discount;
                Some(*sum)
            }))
            .collect();
        Self { at, ideal }
    }

    /// Computes the metrics of a list at `cutoff`; `hits[r]` says whether the item at rank `r + 1` is held out.
    ///
    /// With `n` the number of the user's held-out items, `h` the number of hits among the first `cutoff` items and `h(r)` among the
    /// first `r` items:
    ///
    /// ```text
    /// precision = h / cutoff          recall = h / n          hit_rate = [h > 0]        mrr = 1 / rank of the first hit, or 0
    /// ndcg      = sum of discounts at hits / sum of the first min(cutoff, n) discounts
    /// map       = sum over hits of h(rank) / rank, divided by min(cutoff, n)
    /// ```
    pub(super) fn user_metrics(&self, hits: &[bool], cutoff: usize, num_held_out: usize) -> UserMetrics {
        let mut num_hits = 0.0;
        let mut gain = 0.0;
        let mut precisions = 0.0;
        let mut reciprocal_rank = 0.0;
        for (index, _) in hits.iter().take(cutoff).enumerate().filter(|(_, hit)| **hit) {
            let rank = index as f64 + 1.0;
            if num_hits == 0.0 {
                reciprocal_rank = 1.0 / rank;
            }
            num_hits += 1.0;
            gain += self.at[index];
            precisions += num_hits / rank;
        }
        let attainable = cutoff.min(num_held_out);
        [
            num_hits / cutoff as f64,
            num_hits / num_held_out as f64,
            gain / self.ideal[attainable],
            if num_hits > 0.0 { 1.0 } else { 0.0 },
            reciprocal_rank,
            precisions / attainable as f64,
        ]
    }
}

/// Adds the means over `num_users` users at `cutoff` to `metrics`.
pub(super) fn insert_means(metrics: &mut Metrics, cutoff: usize, sums: &UserMetrics, num_users: usize) {
    for (name, sum) in names(cutoff).zip(sums) {
        metrics.insert(name, sum / num_users as f64);
    }
}

/// Names of the metrics of a list at `cutoff`, in the order of [`UserMetrics`].
pub(super) fn names(cutoff: usize) -> impl Iterator<Item = String> {
    OF_LISTS.iter().map(move |name| format!("{name}@{cutoff}"))
}
