//! Compares a measurement with an earlier one: what became faster, what became slower, and what is noise.
//!
//! Times of two runs differ even if the code does not, because of other work on the machine. So measure both sides several
//! times in alternation and gather the results ([`Results::gather`]). A single run of criterion only knows the noise within
//! itself, and a single run of most verbs knows none.

mod display;
mod ratio;

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
    /// The program that measured both.
    pub kind: Kind,
    /// The environment of the old measurement.
    pub old: Environment,
    /// The environment of the new measurement.
    pub new: Environment,
    /// Differences between the two environments, except for the revision.
    pub differences: Vec<String>,
    /// The smallest number of rounds of any pair, old and new.
    pub rounds: [usize; 2],
    /// The cases in both results, in the order of the old one.
    pub pairs: Vec<Pair>,
    /// The cases in the old result only.
    pub only_old: Vec<String>,
    /// The cases in the new result only.
    pub only_new: Vec<String>,
}

/// One case, measured twice.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// Name of the case.
    pub name: String,
    /// Old time in seconds.
    pub old_seconds: f64,
    /// New time in seconds.
    pub new_seconds: f64,
    /// New time relative to the old one.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// Whether that is faster, slower or noise.
    pub verdict: Verdict,
}

impl Comparison {
    /// Compares the results of each program that both sides have. The names of the sides are for messages.
    ///
    /// # Errors
    /// Returns an error if no program has results of both, or they measured different things.
    pub fn of_each(sides: [String; 2], old: &[Results], new: &[Results]) -> Result<Vec<Self>, ResultsError> {
        let paths = sides.each_ref().map(Path::new);
        let pairs = old
            .iter()
            .flat_map(|old| new.iter().filter(|new| new.kind == old.kind).map(move |new| (old, new)));
        let comparisons = pairs
            .map(|(old, new)| Self::new(paths, old, new))
            .collect::<Result<Vec<_>, _>>()?;
        if comparisons.is_empty() {
            return Err(ResultsError::NothingShared {
                paths: paths.map(Into::into),
            });
        }
        Ok(comparisons)
    }

    /// Compares all cases that are in both results of one program. The paths are for messages.
    ///
    /// # Errors
    /// Returns an error if the results measure different things or have no case in common.
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

    /// The pairs that became slower by more than a factor for certain: the lower end of their interval is above it.
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
