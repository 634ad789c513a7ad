//! Ranges of parameters, and draws from them.

use bcl_core::EstimatorConfig;
use bcl_data::Seed;
use bcl_files::input::{self, MOST_TEXT};
use bcl_methods::MethodConfig;
use bcl_recipe::Override;
use bcl_train::error::Error;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};
use toml::{Spanned, Value};

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
    pub(super) fn at(&self, share: f64) -> Value {
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
/// [images.byol]                                    # a method with a loss of its own
/// "method.momentum" = { choice = [0.99, 0.996] }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges {
    recommender: BTreeMap<String, Space>,
    images: BTreeMap<String, Space>,
    /// Every entry of a file; empty for the built-in ranges, which fit every table.
    entries: Vec<Entry>,
}

/// An entry of a file of ranges.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// File and line.
    place: String,
    pub(super) is_recommender: bool,
    estimator: String,
    pub(super) key: String,
    pub(super) range: Range,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawRanges {
    recommender: RawSpaces,
    images: RawSpaces,
}

type RawSpaces = BTreeMap<String, BTreeMap<String, Spanned<Range>>>;

/// The tables of recipes that have keys to search.
const SEARCHED: &str = "encoder, views, negatives, method, loss, alpha_schedule, optimizer, training and recovery";

/// The name of the ranges that all estimators share.
const SHARED: &str = "shared";

impl Ranges {
    /// The built-in ranges.
    pub fn builtin() -> Self {
        Self::of_table(include_str!("ranges.toml"), "ranges.toml")
    }

    /// Built-in ranges from the text of a file.
    ///
    /// # Panics
    /// Panics if the text has no valid ranges.
    pub(super) fn of_table(text: &str, file: &str) -> Self {
        let mut builtin = Self::parse(text, file).unwrap_or_else(|error| panic!("built-in ranges are invalid: {error}"));
        builtin.entries.clear();
        builtin
    }

    /// Reads ranges from a file.
    ///
    /// # Errors
    /// Returns an error that names the line, the key and the remedy if the file cannot be read or contains something that is not a range.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = input::read_text(path, MOST_TEXT).map_err(Error::io("read", path))?;
        Self::parse(&text, &path.display().to_string()).map_err(Error::Input)
    }

    pub(super) fn parse(text: &str, file: &str) -> Result<Self, String> {
        let raw: RawRanges =
            toml::from_str(text).map_err(|error| format!("{file}: {}", error.to_string().trim().replace('\n', " ")))?;
        let mut entries = Vec::new();
        for (is_recommender, spaces) in [(true, raw.recommender), (false, raw.images)] {
            for (estimator, space) in spaces {
                for (key, range) in space {
                    let line = 1 + text[..range.span().start].matches('\n').count();
                    let entry = Entry {
                        place: format!("{file}:{line}"),
                        is_recommender,
                        estimator: estimator.clone(),
                        key,
                        range: range.into_inner(),
                    };
                    entry.range.check().map_err(|problem| entry.problem(&problem))?;
                    entry.check_key()?;
                    entries.push(entry);
                }
            }
        }
        let of_family = |is_recommender: bool| {
            let mut spaces: BTreeMap<String, Space> = BTreeMap::new();
            for entry in entries.iter().filter(|entry| entry.is_recommender == is_recommender) {
                let space = spaces.entry(entry.estimator.clone()).or_default();
                space.0.insert(entry.key.clone(), entry.range.clone());
            }
            spaces
        };
        Ok(Self {
            recommender: of_family(true),
            images: of_family(false),
            entries,
        })
    }

    /// Whether these are the built-in ranges, not a file's.
    pub(super) fn are_built_in(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries of the file.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The parameters to search for an estimator.
    pub(super) fn of(&self, is_recommender: bool, estimator: &str) -> Space {
        let family = if is_recommender { &self.recommender } else { &self.images };
        let spaces = [SHARED, estimator].into_iter().filter_map(|name| family.get(name));
        Space(spaces.flat_map(|space| space.0.clone()).collect())
    }
}

impl Entry {
    pub(super) fn problem(&self, problem: &str) -> String {
        let family = if self.is_recommender { "recommender" } else { "images" };
        format!("{}: {family}.{}.\"{}\" {problem}", self.place, self.estimator, self.key)
    }

    /// Whether the entry is for rows of a loss or a method.
    pub(super) fn is_for(&self, loss: &str) -> bool {
        [SHARED, loss].contains(&&*self.estimator)
    }

    /// Checks that the key may differ between the runs of a table. They share their data, which are loaded once, and what is measured;
    /// the table sets seeds and epochs of its own.
    fn check_key(&self) -> Result<(), String> {
        let problem = match self.key.split('.').next().unwrap_or_default() {
            "data" => "changes the data, which all runs of a table share; remove it, or set it for all with --set",
            "evaluation" | "selection" => {
                "changes what is measured, which must be the same for all runs of a table; remove it, or set it for all with --set"
            }
            "seed" | "name" => "is not a setting to choose, because the table sets it for each run; remove it",
            _ if self.key == "training.epochs" => {
                "cannot be searched, because all trials have the same number of epochs; remove it, or set it for all with --set"
            }
            _ => return Ok(()),
        };
        Err(self.problem(&format!("{problem} (other keys of {SEARCHED} can be searched)")))
    }

    /// Checks that the entry is for all estimators, for one that has the parameter, or for a method.
    pub(super) fn check_name(&self) -> Result<(), String> {
        if self.estimator == SHARED {
            return Ok(());
        }
        let methods = MethodConfig::all();
        let methods = methods.iter().map(MethodConfig::name);
        let estimators = EstimatorConfig::all();
        let Some(config) = estimators.iter().find(|config| config.name() == self.estimator) else {
            if methods.clone().any(|name| name == self.estimator) {
                return Ok(());
            }
            let names: Vec<&str> = estimators.iter().map(EstimatorConfig::name).chain(methods).collect();
            return Err(self.problem(&format!(
                "is for an unknown estimator; use `{SHARED}` or one of {}",
                names.join(", ")
            )));
        };
        // A parameter may have a schedule with keys of its own.
        match self.key.strip_prefix("loss.").and_then(|key| key.split('.').next()) {
            Some(parameter) if config.parameter(parameter).is_none() => {
                Err(self.problem(&format!("is no parameter of {}; remove it", self.estimator)))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
