//! Decides whether rows differ, given the number of pairs that are compared.

mod best_of;
mod bootstrap;
mod correction;

pub use best_of::expected_best;
pub(super) use bootstrap::Bootstrap;
pub(super) use correction::correct;
pub use correction::holm;

use bcl_report::{CONFIDENCE, Interval, t_bound, t_test};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Accepted probability of an error in any of a table's comparisons.
pub(super) const LEVEL: f64 = 0.05;

/// Probability with which a difference of [`Paired::resolvable`] is found.
pub(super) const POWER: f64 = 0.8;

/// Seeds below which rows are not compared: neither a difference nor a missing one says anything.
pub const FEWEST_SEEDS: usize = 5;

/// How a p-value was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Student's t-test over seeds: another training on the same data, measured on the same test set.
    #[default]
    StudentT,
    /// Student's t-test with the standard error of a paired bootstrap over samples, which are users or graphs, and seeds: another training, and other samples.
    Bootstrap,
}

/// One row minus another, seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// The row.
    pub row: String,
    /// The row that is subtracted.
    pub other: String,
    /// Mean difference over the seeds that both have, with its interval over seeds.
    pub difference: Interval,
    /// How `p` was computed.
    #[serde(default)]
    pub test: Test,
    /// Ends of the 95 % interval by the standard error of the bootstrap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounds: Option<[f64; 2]>,
    /// Standard error of the difference by `test`; `None` with fewer than two seeds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standard_error: Option<f64>,
    /// Two-sided p-value of no difference; `None` with fewer than two seeds.
    pub p: Option<f64>,
    /// The p-value after Holm's correction for the number of pairs.
    pub p_holm: Option<f64>,
    /// The difference that would be significant in four of five such comparisons; `None` with fewer than two seeds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resolvable: Option<f64>,
}

/// What a comparison says of its row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Significantly better at 5 %.
    Better,
    /// Significantly worse at 5 %.
    Worse,
    /// Not significant, and the 95 % interval of the difference lies within plus and minus this bound.
    Equivalent(f64),
    /// The rows may be equal or not; a difference of about this much would be found.
    NotKnown(Option<f64>),
    /// Too few seeds to say anything.
    TooFewSeeds,
}

impl Paired {
    /// Compares a row with another: differences of seeds, and the standard error of the mean difference by a bootstrap, if there is one.
    ///
    /// Seeds that are drawn from few scatter less than seeds of their population, so the standard error is at least that of the differences of seeds.
    pub(super) fn new(row: &str, other: &str, differences: &[f64], bootstrap: Option<f64>) -> Option<Self> {
        let difference = Interval::of(differences)?;
        let degrees_of_freedom = difference.count - 1;
        let of_seeds = difference.standard_error();
        let standard_error = of_seeds.map(|of_seeds| bootstrap.map_or(of_seeds, |error| error.max(of_seeds)));
        let bounds = bootstrap.zip(standard_error).map(|(_, error)| {
            let half_width = t_bound(CONFIDENCE, degrees_of_freedom) * error;
            [difference.mean - half_width, difference.mean + half_width]
        });
        Some(Self {
            row: row.to_owned(),
            other: other.to_owned(),
            difference,
            test: if bootstrap.is_some() {
                Test::Bootstrap
            } else {
                Test::StudentT
            },
            bounds,
            standard_error,
            p: standard_error.map(|error| t_test(difference.mean, error, degrees_of_freedom)),
            p_holm: None,
            resolvable: None,
        })
    }

    /// The mean difference with the interval by which it is judged.
    pub(crate) fn interval(&self) -> Interval {
        let half_width = self.bounds.map(|[low, high]| (high - low) / 2.0);
        Interval {
            half_width: half_width.or(self.difference.half_width),
            ..self.difference
        }
    }

    /// The mean difference with its interval, as text.
    pub(super) fn text(&self) -> String {
        match self.bounds {
            Some([low, high]) => format!("{:.4} ({low:.4} to {high:.4})", self.difference.mean),
            None => self.difference.to_string(),
        }
    }

    /// Whether these are the two rows, in either order.
    pub(super) fn is_of(&self, row: &str, other: &str) -> bool {
        [&*self.row, &*self.other] == [row, other] || [&*self.row, &*self.other] == [other, row]
    }

    /// Whether the two rows differ significantly at 5 %.
    pub fn is_significant(&self) -> bool {
        self.difference.count >= FEWEST_SEEDS && self.p_holm.is_some_and(|p| p < LEVEL)
    }

    /// What the comparison says of the row, with the difference up to which rows are equivalent, if one was stated.
    pub fn verdict(&self, bound: Option<f64>) -> Verdict {
        let interval = self
            .bounds
            .or_else(|| self.difference.bounds().map(|(low, high)| [low, high]));
        let is_within = |bound: &f64| interval.is_some_and(|[low, high]| -bound < low && high < *bound);
        if self.difference.count < FEWEST_SEEDS {
            Verdict::TooFewSeeds
        } else if self.is_significant() {
            if self.difference.mean > 0.0 {
                Verdict::Better
            } else {
                Verdict::Worse
            }
        } else if let Some(bound) = bound.filter(is_within) {
            Verdict::Equivalent(bound)
        } else {
            Verdict::NotKnown(self.resolvable)
        }
    }

    /// The difference that is found with a probability of [`POWER`] among `pairs` comparisons.
    ///
    /// ```text
    /// (t(1 - level / (2 pairs)) + t(power)) · standard error
    /// ```
    ///
    /// with as many degrees of freedom as seeds less one. The level is the one in the first step of Holm's correction, so this is cautious.
    fn resolvable_among(&self, pairs: usize) -> Option<f64> {
        let degrees_of_freedom = self.difference.count.checked_sub(1).filter(|&number| number > 0)?;
        let found = t_bound(1.0 - LEVEL / pairs as f64, degrees_of_freedom);
        let missed = t_bound(2.0 * POWER - 1.0, degrees_of_freedom);
        Some((found + missed) * self.standard_error?)
    }
}

/// The values of a row by which it is compared.
pub(super) struct Compared<'a> {
    /// Name of the row.
    pub(super) name: &'a str,
    /// The metric of each seed.
    pub(super) seeds: Vec<(u64, f64)>,
    /// The metric of each sample for each seed, if it was recorded.
    pub(super) samples: Option<&'a BTreeMap<u64, Vec<f64>>>,
}

/// Compares pairs of rows, given by their numbers: each first minus its second. The p-values are not [corrected](correct) for their number.
///
/// Runs with the same seed share splits, initial values and negatives as far as their recipes allow, so much of the scatter
/// cancels. With metrics of samples, samples are drawn anew, too.
pub(super) fn compare(rows: &[Compared<'_>], pairs: impl IntoIterator<Item = (usize, usize)>) -> Vec<Paired> {
    let samples: Option<Vec<_>> = rows.iter().map(|row| row.samples).collect();
    let bootstrap = samples.and_then(|samples| Bootstrap::new(&samples));
    let compared = pairs.into_iter().filter_map(|(index, to)| {
        let (row, other) = (&rows[index], &rows[to]);
        let differences: Vec<f64> = row
            .seeds
            .iter()
            .filter_map(|(seed, value)| {
                let (_, other) = other.seeds.iter().find(|(of, _)| of == seed)?;
                Some(value - other)
            })
            .collect();
        let error = bootstrap.as_ref().map(|bootstrap| bootstrap.standard_error(index, to));
        Paired::new(row.name, other.name, &differences, error)
    });
    compared.collect()
}

/// All pairs of rows, each later one with each earlier one.
pub(super) fn all_pairs(num_rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..num_rows).flat_map(|row| (0..row).map(move |other| (row, other)))
}

#[cfg(test)]
mod tests;
