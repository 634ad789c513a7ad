//! Decides whether rows differ, given the number of pairs that are compared.

use bcl_report::Interval;
use serde::{Deserialize, Serialize};

/// One row minus another, seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// The row.
    pub row: String,
    /// The row that is subtracted.
    pub other: String,
    /// Mean difference over the seeds that both have, with its interval.
    pub difference: Interval,
    /// Two-sided p-value of no difference, by Student's t-test over seeds; `None` with fewer than two.
    pub p: Option<f64>,
    /// The p-value after Holm's correction for the number of pairs.
    pub p_holm: Option<f64>,
}

/// Accepted probability of an error in any of a table's comparisons.
pub(super) const LEVEL: f64 = 0.05;

impl Paired {
    /// Whether the two rows differ significantly at 5 %.
    pub fn is_significant(&self) -> bool {
        self.p_holm.is_some_and(|p| p < LEVEL)
    }
}

/// Compares all pairs of rows, given their values by seed. The p-values are corrected for the number of pairs.
///
/// Runs with the same seed share splits, initial values and negatives as far as their recipes allow, so much of the scatter
/// cancels.
pub(super) fn all_pairs(rows: &[(&str, Vec<(u64, f64)>)]) -> Vec<Paired> {
    let mut pairs = Vec::new();
    for (index, (row, values)) in rows.iter().enumerate() {
        for (other, subtracted) in &rows[..index] {
            let differences: Vec<f64> = values
                .iter()
                .filter_map(|(seed, value)| {
                    let (_, other) = subtracted.iter().find(|(of, _)| of == seed)?;
                    Some(value - other)
                })
                .collect();
            if let Some(difference) = Interval::of(&differences) {
                pairs.push(Paired {
                    row: (*row).to_owned(),
                    other: (*other).to_owned(),
                    difference,
                    p: difference.p_value(),
                    p_holm: None,
                });
            }
        }
    }
    let known: Vec<f64> = pairs.iter().filter_map(|pair| pair.p).collect();
    let mut corrected = holm(&known).into_iter();
    for pair in pairs.iter_mut().filter(|pair| pair.p.is_some()) {
        pair.p_holm = corrected.next();
    }
    pairs
}

/// Holm's step-down correction (1979). With the results in place of the p-values, the probability of rejecting any true null
/// hypothesis at a level is at most that level.
///
/// ```text
/// p'_(i) = max over j <= i of min{ 1, (m - j + 1) p_(j) }        p_(1) <= … <= p_(m)
/// ```
///
/// ```
/// use bcl_bench::tables::holm;
///
/// assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(((p_values.len() - rank) as f64 * p_values[index]).min(1.0));
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_seeds(values: &[f64]) -> Vec<(u64, f64)> {
        values.iter().enumerate().map(|(seed, value)| (seed as u64, *value)).collect()
    }

    #[test]
    fn holm_equals_the_example_worked_by_hand() {
        // m = 4: 0.005 · 4, 0.01 · 3, 0.03 · 2, and 0.04 · 1 raised to the previous value.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn a_steady_difference_is_found_and_scatter_is_not() {
        let base = [0.40, 0.42, 0.41, 0.43, 0.40];
        let better: Vec<f64> = base.iter().enumerate().map(|(i, v)| v + 0.01 + 1e-4 * i as f64).collect();
        let scattered = [0.42, 0.40, 0.43, 0.41, 0.405];
        let pairs = all_pairs(&[
            ("base", with_seeds(&base)),
            ("better", with_seeds(&better)),
            ("scattered", with_seeds(&scattered)),
        ]);
        assert_eq!(pairs.len(), 3);
        assert!(pairs[0].is_significant() && (pairs[0].difference.mean - 0.0102).abs() < 1e-9);
        assert!(!pairs[1].is_significant() && !pairs[2].is_significant());
    }

    #[test]
    fn only_seeds_that_both_have_are_compared() {
        let pairs = all_pairs(&[("a", vec![(0, 1.0), (1, 2.0)]), ("b", vec![(1, 2.5), (2, 9.0)])]);
        assert_eq!((pairs[0].difference.mean, pairs[0].difference.count), (0.5, 1));
        assert_eq!(pairs[0].p, None, "one difference says nothing");
    }
}
