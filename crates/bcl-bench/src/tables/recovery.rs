//! How much a loss could gain, and how much of it a loss gains.

use super::{Paired, Verdict};
use bcl_report::{CONFIDENCE, t_bound};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the supervised loss gains over InfoNCE by leaving out all false negatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headroom {
    /// The row of the supervised loss minus the row of InfoNCE. It is no part of the comparisons of losses, so its p-value is not corrected for them.
    pub paired: Paired,
    /// The share of it that each row gains, for the rows that are compared with this InfoNCE.
    pub recovered: BTreeMap<String, Recovery>,
}

/// The gain of a row over InfoNCE in gains of the supervised loss.
///
/// ```text
/// R = (loss - InfoNCE) / (supervised - InfoNCE)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// R, of means over seeds.
    pub share: f64,
    /// Its 95 % interval.
    pub bounds: [f64; 2],
}

impl Headroom {
    /// Whether the supervised loss gains significantly.
    pub fn is_known(&self) -> bool {
        self.paired.verdict(None) == Verdict::Better
    }

    /// What can be gained, in a sentence. `knows_test`: whether the supervised loss was trained with the classes of the test samples, too.
    pub(super) fn sentence(&self, bound: Option<f64>, knows_test: bool) -> String {
        let Paired { row, other, .. } = &self.paired;
        let gain = format!("{row} - {other} is {}", self.paired.text());
        match self.paired.verdict(bound) {
            Verdict::TooFewSeeds => format!("Headroom: {gain}; too few seeds to tell."),
            Verdict::Better if knows_test => format!(
                "Headroom: {gain}. So much is gained by leaving out false negatives with the classes of all graphs known, those of the test folds included."
            ),
            Verdict::Better => format!("Headroom: {gain}. So much can be gained by leaving out false negatives."),
            Verdict::Worse => format!("Headroom: none, {gain}. Leaving out false negatives harms here."),
            Verdict::Equivalent(bound) => {
                format!("Headroom: below {bound}, {gain}. No loss that leaves out false negatives can help here.")
            }
            Verdict::NotKnown(_) => format!("Headroom: not known, {gain}."),
        }
    }
}

impl Recovery {
    /// From the metric of each seed, of a row, of InfoNCE and of the supervised loss.
    pub(super) fn of_runs(row: &BTreeMap<u64, f64>, reference: &BTreeMap<u64, f64>, oracle: &BTreeMap<u64, f64>) -> Option<Self> {
        let gains = reference
            .iter()
            .filter_map(|(seed, base)| Some((row.get(seed)? - base, oracle.get(seed)? - base)));
        let (gains, headrooms): (Vec<f64>, Vec<f64>) = gains.unzip();
        Self::of(&gains, &headrooms)
    }

    /// The ratio of two means over the same seeds, with Fieller's interval (1954). `None` if the interval has no ends, because the headroom may be 0, if the
    /// headroom is negative, and with fewer than two seeds.
    pub(crate) fn of(gains: &[f64], headrooms: &[f64]) -> Option<Self> {
        let number = gains.len();
        if number < 2 || headrooms.len() != number {
            return None;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / number as f64;
        let (gain, headroom) = (mean(gains), mean(headrooms));
        // Of the means.
        let covariance = |left: &[f64], right: &[f64]| {
            let (of_left, of_right) = (mean(left), mean(right));
            let products = left
                .iter()
                .zip(right)
                .map(|(left, right)| (left - of_left) * (right - of_right));
            products.sum::<f64>() / ((number - 1) * number) as f64
        };
        let of_gain = covariance(gains, gains);
        let of_both = covariance(gains, headrooms);
        let of_headroom = covariance(headrooms, headrooms);
        let squared = t_bound(CONFIDENCE, number - 1).powi(2);
        // All ratios r with (gain - r headroom)² <= t² Var(gain - r headroom): a quadratic in r.
        let a = headroom.powi(2) - squared * of_headroom;
        let b = gain * headroom - squared * of_both;
        let c = gain.powi(2) - squared * of_gain;
        if a <= 0.0 || headroom <= 0.0 {
            return None;
        }
        let root = (b * b - a * c).max(0.0).sqrt();
        Some(Self {
            share: gain / headroom,
            bounds: [(b - root) / a, (b + root) / a],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sure_headroom_leaves_the_interval_of_the_gain() {
        let gains = [0.01, 0.03, 0.02, 0.02, 0.02];
        let found = Recovery::of(&gains, &[0.1; 5]).unwrap();
        // The gain is 0.02 with s² = 0.00005, so a standard error of √0.00001; t at four degrees of freedom is 2.776.
        let half_width = 2.776_445 * 0.000_01_f64.sqrt() / 0.1;
        assert!((found.share - 0.2).abs() < 1e-12);
        assert!((found.bounds[0] - (0.2 - half_width)).abs() < 1e-6, "{found:?}");
        assert!((found.bounds[1] - (0.2 + half_width)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn what_scatters_together_cancels() {
        let headrooms = [0.08, 0.12, 0.1, 0.09, 0.11];
        let gains = headrooms.map(|headroom| 0.5 * headroom);
        let found = Recovery::of(&gains, &headrooms).unwrap();
        assert!((found.share - 0.5).abs() < 1e-12);
        assert!(found.bounds.iter().all(|end| (end - 0.5).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn a_headroom_that_may_be_none_has_no_share() {
        assert_eq!(Recovery::of(&[0.01, 0.02, 0.03], &[0.1, -0.1, 0.02]), None);
        assert_eq!(Recovery::of(&[0.01], &[0.1]), None);
    }

    #[test]
    fn the_interval_covers_the_truth_in_about_nineteen_of_twenty_tables() {
        use rand::RngExt;
        let mut random = bcl_data::Seed(3).rng();
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let covered = (0..2_000).filter(|_| {
            let headrooms: Vec<f64> = (0..6).map(|_| 0.1 + 0.02 * normal()).collect();
            let gain = |headroom: &f64| 0.02 + 0.1 * (headroom - 0.1) + 0.02 * normal();
            let gains: Vec<f64> = headrooms.iter().map(gain).collect();
            Recovery::of(&gains, &headrooms).is_some_and(|found| found.bounds[0] <= 0.2 && 0.2 <= found.bounds[1])
        });
        let share = covered.count() as f64 / 2_000.0;
        assert!((share - 0.95).abs() < 0.015, "{share}");
    }
}
