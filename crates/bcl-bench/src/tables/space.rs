//! Ranges of parameters, and draws from them.

use bcl_data::{
    Seed,
    input::{self, MOST_TEXT},
};
use bcl_train::{error::Error, recipe::Override};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};
use toml::Value;

/// The range of one parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// Uniform between two numbers.
    Uniform([f64; 2]),
    /// Log-uniform between two positive numbers.
    Log([f64; 2]),
    /// One of several values, with equal probability.
    Choice(Vec<Value>),
}

impl Range {
    /// The value at a fraction in [0, 1) of the range.
    ///
    /// Numbers are rounded to three significant digits, which keeps recipes readable. No result depends on the fourth digit.
    fn at(&self, share: f64) -> Value {
        match self {
            Self::Uniform([low, high]) => Value::Float(three_digits(low + share * (high - low))),
            Self::Log([low, high]) => Value::Float(three_digits(low * (high / low).powf(share))),
            Self::Choice(values) => values[(share * values.len() as f64) as usize].clone(),
        }
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Self::Uniform([low, high]) if !(low.is_finite() && high.is_finite() && low <= high) => {
                Err(format!("uniform = [{low}, {high}] is not a range; put the lower end first"))
            }
            Self::Log([low, high]) if !(*low > 0.0 && high.is_finite() && low <= high) => Err(format!(
                "log = [{low}, {high}] is not a range of positive numbers; put the lower end first"
            )),
            Self::Choice(values) if values.is_empty() => Err("choice = [] has nothing to choose from".to_owned()),
            _ => Ok(()),
        }
    }
}

fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a printed number reads")
}

/// The parameters to search, by their keys in recipes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Space(pub BTreeMap<String, Range>);

impl Space {
    /// Draws the values of trial number `trial`.
    ///
    /// Each value depends only on the seed, the key and the number, so that all rows of a table try the same values of a shared
    /// parameter.
    pub fn draw(&self, seed: Seed, trial: usize) -> Vec<(String, Value)> {
        let draw = |(key, range): (&String, &Range)| {
            let mut rng = seed.named(key).index(trial as u64).rng();
            (key.clone(), range.at(rng.random()))
        };
        self.0.iter().map(draw).collect()
    }
}

/// Converts values to flags for reading a recipe.
pub(super) fn overrides(values: &[(String, Value)]) -> Vec<Override> {
    let set = |(key, value): &(String, Value)| Override::new(key, value.clone(), format!("{key} = {value}"));
    values.iter().map(set).collect()
}

/// The ranges of all estimators, for recommenders and for encoders of images.
///
/// ```toml
/// [recommender.shared]                             # every estimator
/// "loss.temperature" = { log = [0.05, 0.5] }
/// [recommender.bayesian]                           # one of them
/// "loss.beta" = { uniform = [0.5, 1.0] }
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    recommender: BTreeMap<String, Space>,
    images: BTreeMap<String, Space>,
}

/// The name of the ranges that all estimators share.
const SHARED: &str = "shared";

impl Ranges {
    /// The built-in ranges.
    pub fn builtin() -> Self {
        toml::from_str(include_str!("ranges.toml")).expect("the built-in ranges are valid")
    }

    /// Reads ranges from a file.
    ///
    /// # Errors
    /// Returns an error that names the key and the remedy if the file cannot be read or contains something that is not a range.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = input::read_text(path, MOST_TEXT).map_err(Error::io("read", path))?;
        let refuse = |problem: String| Error::Input(format!("{}: {problem}", path.display()));
        let ranges: Self = toml::from_str(&text).map_err(|error| refuse(error.to_string().trim().replace('\n', " ")))?;
        for (family, estimators) in [("recommender", &ranges.recommender), ("images", &ranges.images)] {
            for (estimator, space) in estimators {
                for (key, range) in &space.0 {
                    range
                        .check()
                        .map_err(|problem| refuse(format!("{family}.{estimator}.\"{key}\": {problem}")))?;
                }
            }
        }
        Ok(ranges)
    }

    /// The parameters to search for an estimator.
    pub(super) fn of(&self, is_recommender: bool, estimator: &str) -> Space {
        let family = if is_recommender { &self.recommender } else { &self.images };
        let spaces = [SHARED, estimator].into_iter().filter_map(|name| family.get(name));
        Space(spaces.flat_map(|space| space.0.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(text: &str) -> Space {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn draws_stay_in_their_ranges_and_fill_them() {
        let space = space("a = { uniform = [2.0, 4.0] }\nb = { log = [0.01, 1.0] }\nc = { choice = [16, 32] }");
        let draws: Vec<_> = (0..400).map(|trial| space.draw(Seed(3), trial)).collect();
        let numbers = |index: usize| draws.iter().map(move |draw| draw[index].1.as_float().unwrap());
        let (a, b): (Vec<f64>, Vec<f64>) = (numbers(0).collect(), numbers(1).collect());
        assert!(a.iter().all(|a| (2.0..=4.0).contains(a)) && b.iter().all(|b| (0.01..=1.0).contains(b)));
        assert!(a.iter().any(|a| *a < 2.1) && a.iter().any(|a| *a > 3.9));
        let below = b.iter().filter(|b| **b < 0.1).count();
        assert!(
            (160..240).contains(&below),
            "half of the draws should be in the lower decade, not {below} of 400"
        );
        assert!(draws.iter().any(|draw| draw[2].1.as_integer() == Some(16)));
        assert!(draws.iter().any(|draw| draw[2].1.as_integer() == Some(32)));
    }

    #[test]
    fn a_shared_parameter_has_the_same_draws_whatever_else_is_searched() {
        let alone = space("\"loss.temperature\" = { log = [0.1, 1.0] }");
        let with_others = space("\"loss.alpha\" = { uniform = [0.5, 1.0] }\n\"loss.temperature\" = { log = [0.1, 1.0] }");
        for trial in 0..20 {
            assert_eq!(alone.draw(Seed(1), trial)[0], with_others.draw(Seed(1), trial)[1]);
        }
    }

    #[test]
    fn the_built_in_ranges_are_ranges() {
        let ranges = Ranges::builtin();
        for family in [&ranges.recommender, &ranges.images] {
            assert!(family.contains_key(SHARED));
            for range in family.values().flat_map(|space| space.0.values()) {
                range.check().unwrap();
            }
        }
        assert!(ranges.of(true, "bayesian").0.contains_key("loss.beta"));
        assert!(!ranges.of(true, "info_nce").0.contains_key("loss.beta"));
    }

    #[test]
    fn every_estimator_has_the_parameters_that_are_searched_for_it() {
        for config in bcl_core::EstimatorConfig::all() {
            for recommender in [true, false] {
                for key in Ranges::builtin().of(recommender, config.name()).0.keys() {
                    let parameter = key.strip_prefix("loss.");
                    let is_known = parameter.is_none_or(|name| config.parameter(name).is_some());
                    assert!(is_known, "{} has no {key}", config.name());
                }
            }
        }
    }
}
