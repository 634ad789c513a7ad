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
mod tests {
    use super::*;

    fn row<'a>(name: &'a str, values: &[f64]) -> Compared<'a> {
        Compared {
            name,
            seeds: values.iter().enumerate().map(|(seed, value)| (seed as u64, *value)).collect(),
            users: None,
        }
    }

    #[test]
    fn a_steady_difference_is_found_and_scatter_is_not() {
        let base = [0.40, 0.42, 0.41, 0.43, 0.40];
        let better: Vec<f64> = base.iter().enumerate().map(|(i, v)| v + 0.01 + 1e-4 * i as f64).collect();
        let scattered = [0.42, 0.40, 0.43, 0.41, 0.405];
        let pairs = all_pairs(&[row("base", &base), row("better", &better), row("scattered", &scattered)]);
        assert_eq!(pairs.len(), 3);
        assert_eq!(pairs[0].resolution(), Resolution::Differ);
        assert!((pairs[0].difference.mean - 0.0102).abs() < 1e-9);
        for pair in &pairs[1..] {
            assert!(matches!(pair.resolution(), Resolution::NotResolved(Some(_))), "{pair:?}");
        }
    }

    #[test]
    fn only_seeds_that_both_have_are_compared() {
        let mut other = row("b", &[0.0, 2.5, 9.0]);
        other.seeds.remove(0);
        let pairs = all_pairs(&[row("a", &[1.0, 2.0]), other]);
        assert_eq!((pairs[0].difference.mean, pairs[0].difference.count), (0.5, 1));
        assert_eq!(pairs[0].p, None, "one difference says nothing");
        assert_eq!(pairs[0].resolution(), Resolution::TooFewSeeds);
    }

    #[test]
    fn fewer_than_five_seeds_resolve_nothing_unless_they_differ() {
        let of = |b: &[f64]| all_pairs(&[row("a", &[0.1, 0.2, 0.3, 0.4]), row("b", b)])[0].resolution();
        assert_eq!(of(&[0.3, 0.1, 0.5, 0.2]), Resolution::TooFewSeeds);
        assert_eq!(of(&[1.1, 1.2, 1.3001, 1.4]), Resolution::Differ);
    }

    #[test]
    fn the_resolvable_difference_is_computed_by_hand() {
        // Differences of 1, 2, 3, 4, 5 less 3: s² = 2.5, standard error √0.5. One pair at four degrees of freedom: 2.776 and 0.941.
        let pairs = all_pairs(&[row("a", &[3.0; 5]), row("b", &[1.0, 2.0, 3.0, 4.0, 5.0])]);
        let expected = (2.776_445 + 0.940_965) * 0.5_f64.sqrt();
        assert!((pairs[0].resolvable.unwrap() - expected).abs() < 1e-5, "{pairs:?}");
    }

    #[test]
    fn a_difference_of_the_resolvable_size_is_found_in_four_of_five_tables() {
        use rand::RngExt;
        let mut random = bcl_data::Seed(7).rng();
        // The sum of twelve uniform values less 6 is nearly normal with variance 1.
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        // The true standard error is 1 / √6; the bound uses the standard error of each draw, so both are averaged.
        let tables = 2_000;
        let mut found = 0;
        let resolvable = (t_bound(0.95, 5) + t_bound(0.6, 5)) / 6.0_f64.sqrt();
        for _ in 0..tables {
            let differences: Vec<f64> = (0..6).map(|_| normal() + resolvable).collect();
            found += usize::from(all_pairs(&[row("a", &[0.0; 6]), row("b", &differences)])[0].is_significant());
        }
        let share = found as f64 / f64::from(tables);
        assert!((share - POWER).abs() < 0.06, "{share}");
    }
}
