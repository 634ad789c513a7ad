//! One measurement beside an earlier one: what became faster, what slower, and what is noise.
//!
//! Times of two runs differ even where the code does not, because of whatever else the machine did. So both sides should be measured
//! several times in turns and gathered ([`Results::gather`]); a single run of criterion knows the noise within itself only, and a single run
//! of most verbs none.

mod ratio;
mod report;

pub use ratio::{Ratio, Verdict};

use crate::{
    Environment,
    differences::differences,
    results::{Case, Kind, Results, ResultsError},
};
use serde::Serialize;
use std::path::Path;

/// Two results side by side.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// What measured both.
    pub kind: Kind,
    /// Where and with what the old one was measured.
    pub old: Environment,
    /// Where and with what the new one was measured.
    pub new: Environment,
    /// How the two environments differ, but for the revision.
    pub differences: Vec<String>,
    /// The fewest rounds of a pair, old and new.
    pub rounds: [usize; 2],
    /// What both have measured, in the order of the old one.
    pub pairs: Vec<Pair>,
    /// What the old one alone has measured.
    pub only_old: Vec<String>,
    /// What the new one alone has measured.
    pub only_new: Vec<String>,
}

/// One thing, measured twice.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// What it is.
    pub name: String,
    /// Its old time, seconds.
    pub old_seconds: f64,
    /// Its new time, seconds.
    pub new_seconds: f64,
    /// New relative to old.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// What that says.
    pub verdict: Verdict,
}

impl Comparison {
    /// Compares all that both have measured. The paths are for messages.
    ///
    /// # Errors
    /// When they measured different things, or share no case.
    pub fn new([old_path, new_path]: [&Path; 2], old: &Results, new: &Results) -> Result<Self, ResultsError> {
        old.check_same(old_path, new, new_path)?;
        let both: Vec<[&Case; 2]> = old
            .cases
            .iter()
            .filter_map(|case| Some([case, new.case(&case.name)?]))
            .collect();
        if both.is_empty() {
            let paths = [old_path.into(), new_path.into()];
            return Err(ResultsError::NothingShared { paths });
        }
        Ok(Self {
            kind: old.kind,
            old: old.environment.clone(),
            new: new.environment.clone(),
            differences: differences(&old.environment, &new.environment),
            rounds: [0, 1].map(|side| both.iter().map(|pair| pair[side].seconds.len()).min().unwrap_or(0)),
            pairs: both.into_iter().map(|[old, new]| Pair::new(old, new)).collect(),
            only_old: lone(old, new),
            only_new: lone(new, old),
        })
    }

    /// What has become slower by more than a factor, as far as the measurements tell: the least that the ratio may be is above it.
    pub fn above(&self, factor: f64) -> Vec<&Pair> {
        self.pairs.iter().filter(|pair| pair.ratio.least() > factor).collect()
    }
}

impl Pair {
    fn new(old: &Case, new: &Case) -> Self {
        let ratio = Ratio::of(old, new);
        Self {
            name: old.name.clone(),
            old_seconds: old.median(),
            new_seconds: new.median(),
            ratio,
            verdict: ratio.verdict(),
        }
    }
}

fn lone(of: &Results, other: &Results) -> Vec<String> {
    let names = of.cases.iter().map(|case| &case.name);
    names.filter(|name| other.case(name).is_none()).cloned().collect()
}

#[cfg(test)]
mod tests;
