//! Decides whether rows differ, given the number of pairs that are compared.

mod best_of;
mod bootstrap;
mod correction;

pub use best_of::expected_best;
pub(super) use bootstrap::Bootstrap;
pub(super) use correction::correct;
pub use correction::holm;

use bcl_report::{Interval, t_bound};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Accepted probability of an error in any of a table's comparisons.
pub(super) const LEVEL: f64 = 0.05;

/// Probability with which a difference of [`Paired::resolvable`] is found.
pub(super) const POWER: f64 = 0.8;

/// Seeds below which a missing difference says nothing.
pub const FEWEST_SEEDS: usize = 5;

/// How a p-value was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Student's t-test over seeds: another training on the same data, measured on the same test set.
    #[default]
    StudentT,
    /// Paired bootstrap over users and seeds: another training, and other users.
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
    /// Ends of the 95 % interval of the bootstrap.
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

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resolution {
    /// The rows differ significantly at 5 %.
    Differ,
    /// The rows may be equal, or differ by less than about this much.
    NotResolved(Option<f64>),
    /// Not significant, with too few seeds to say anything.
    TooFewSeeds,
}

impl Paired {
    /// Whether these are the two rows, in either order.
    pub(super) fn is_of(&self, row: &str, other: &str) -> bool {
        [&*self.row, &*self.other] == [row, other] || [&*self.row, &*self.other] == [other, row]
    }

    /// Whether the two rows differ significantly at 5 %.
    pub fn is_significant(&self) -> bool {
        self.p_holm.is_some_and(|p| p < LEVEL)
    }

    /// What the comparison says.
    pub fn resolution(&self) -> Resolution {
        if self.is_significant() {
            Resolution::Differ
        } else if self.difference.count < FEWEST_SEEDS {
            Resolution::TooFewSeeds
        } else {
            Resolution::NotResolved(self.resolvable)
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
    /// The metric of each user for each seed, if it was recorded.
    pub(super) users: Option<&'a BTreeMap<u64, Vec<f64>>>,
}

/// Compares all pairs of rows. The p-values are corrected for the number of pairs.
///
/// Runs with the same seed share splits, initial values and negatives as far as their recipes allow, so much of the scatter
/// cancels. With metrics of users, users are drawn anew, too.
pub(super) fn all_pairs(rows: &[Compared<'_>]) -> Vec<Paired> {
    let of_users: Option<Vec<_>> = rows.iter().map(|row| row.users).collect();
    let bootstrap = of_users.and_then(|users| Bootstrap::new(&users));
    let mut pairs = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        for (to, other) in rows[..index].iter().enumerate() {
            let differences: Vec<f64> = row
                .seeds
                .iter()
                .filter_map(|(seed, value)| {
                    let (_, other) = other.seeds.iter().find(|(of, _)| of == seed)?;
                    Some(value - other)
                })
                .collect();
            let Some(difference) = Interval::of(&differences) else {
                continue;
            };
            let mut pair = Paired {
                row: row.name.to_owned(),
                other: other.name.to_owned(),
                difference,
                test: Test::StudentT,
                bounds: None,
                standard_error: difference.standard_error(),
                p: difference.p_value(),
                p_holm: None,
                resolvable: None,
            };
            if let Some(bootstrap) = &bootstrap {
                let found = bootstrap.compare(index, to);
                pair.test = Test::Bootstrap;
                pair.bounds = Some(found.bounds);
                pair.standard_error = Some(found.standard_error);
                pair.p = Some(found.p);
            }
            pairs.push(pair);
        }
    }
    correct(pairs.iter_mut().collect());
    pairs
}

#[cfg(test)]
mod tests;
