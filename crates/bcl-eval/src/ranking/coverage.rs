//! Metrics over all recommended lists: coverage, Gini coefficient and mean popularity.

use bcl_report::{metric_names::OF_ALL_LISTS, result::Metrics};

/// Counts how often each item is recommended within one cutoff.
#[derive(Debug)]
pub(super) struct RecommendationCounts {
    counts: Vec<u32>,
}

impl RecommendationCounts {
    /// Starts with all counts at 0.
    pub(super) fn new(num_items: usize) -> Self {
        Self {
            counts: vec![0; num_items],
        }
    }

    /// Counts the items of one list.
    pub(super) fn add(&mut self, list: impl Iterator<Item = u32>) {
        for item in list {
            self.counts[item as usize] += 1;
        }
    }

    /// Adds coverage, Gini coefficient and mean popularity at `cutoff` to `metrics`.
    pub(super) fn insert(&self, metrics: &mut Metrics, cutoff: usize, train_counts: &[u32]) {
        let values = [self.coverage(), self.gini(), self.mean_popularity(train_counts)];
        metrics.extend(
            OF_ALL_LISTS
                .iter()
                .zip(values)
                .map(|(name, value)| (format!("{name}@{cutoff}"), value)),
        );
    }

    /// Fraction of all items that are recommended to at least one user.
    fn coverage(&self) -> f64 {
        let recommended = self.counts.iter().filter(|&&count| count > 0).count();
        recommended as f64 / self.counts.len() as f64
    }

    /// Gini coefficient of the counts of all `n` items, including items never recommended: 0 if all are recommended equally often,
    /// `(n - 1) / n` if only one is.
    ///
    /// ```text
    /// gini = sum over i = 1..n of (2 i - n - 1) c_i / (n * sum of c),   c sorted ascending
    /// ```
    fn gini(&self) -> f64 {
        let mut ascending = self.counts.clone();
        ascending.sort_unstable();
        let num_items = ascending.len() as f64;
        let total: f64 = ascending.iter().copied().map(f64::from).sum();
        if total == 0.0 {
            return 0.0;
        }
        let weighted: f64 = (1_u32..)
            .zip(&ascending)
            .map(|(index, &count)| (2.0 * f64::from(index) - num_items - 1.0) * f64::from(count))
            .sum();
        weighted / (num_items * total)
    }

    /// Mean number of training interactions per recommended item, over all positions of all lists.
    fn mean_popularity(&self, train_counts: &[u32]) -> f64 {
        let total: u64 = self.counts.iter().copied().map(u64::from).sum();
        let popularity: u64 = self
            .counts
            .iter()
            .zip(train_counts)
            .map(|(&count, &train)| u64::from(count) * u64::from(train))
            .sum();
        if total == 0 {
            return 0.0;
        }
        popularity as f64 / total as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gini_is_zero_for_equal_counts_and_largest_for_a_single_item() {
        assert_eq!(RecommendationCounts { counts: vec![3; 5] }.gini(), 0.0);
        let single = RecommendationCounts {
            counts: vec![0, 0, 7, 0],
        };
        assert_eq!(single.gini(), 0.75);
    }

    #[test]
    fn gini_of_one_two_three_is_two_ninths() {
        let counts = RecommendationCounts { counts: vec![3, 1, 2] };
        assert!((counts.gini() - 2.0 / 9.0).abs() < 1e-15);
    }

    #[test]
    fn without_recommendations_nothing_is_divided_by_zero() {
        let mut metrics = Metrics::new();
        RecommendationCounts::new(3).insert(&mut metrics, 5, &[1, 2, 3]);
        assert!(metrics.values().all(|&figure| figure == 0.0));
    }
}
