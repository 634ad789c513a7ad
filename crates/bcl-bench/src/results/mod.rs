//! Results of benchmarks in one common form, and the folder in which they are saved: named times, with a few numbers per round.
//!
//! Verbs save typed files, and criterion has a folder of its own within the same folder. [`ResultsFolder`] lists both and gathers several
//! results as rounds; [`compare`](crate::compare) compares two such sets.

mod benchmarks;
mod criterion;
mod display;
mod error;
mod folder;
mod gathered;

pub use benchmarks::Benchmark;
pub use display::duration;
pub use error::ResultsError;
pub use folder::{ResultsFolder, Saved};
pub use gathered::Gathered;

use crate::{Environment, Spread, spread::median};
use serde::Serialize;
use std::{collections::BTreeMap, fmt, path::Path};

/// The results of a benchmark, with its environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// The program that measured.
    pub kind: Kind,
    /// Machine and build.
    pub environment: Environment,
    /// Sizes that all cases share and that their names do not mention.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The measured cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// The program that times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the verbs, and `cargo bench`
pub enum Kind {
    Kernels,
    Loss,
    Step,
    Criterion,
}

/// The times of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// Name of the case.
    pub name: String,
    /// Seconds per round. Median, least and most are equal if the round is a single number.
    pub seconds: Vec<Spread>,
}

impl Kind {
    /// All programs.
    pub const ALL: [Self; 4] = [Self::Kernels, Self::Loss, Self::Step, Self::Criterion];

    /// The name of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Loss => "loss",
            Self::Step => "step",
            Self::Criterion => "criterion",
        }
    }
}

impl Case {
    /// The median of the rounds in seconds.
    pub fn median(&self) -> f64 {
        median(self.seconds.iter().map(|round| round.median).collect())
    }

    /// The smallest and the largest time of all rounds in seconds; `None` if there is only one number.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let least = self.seconds.iter().map(|round| round.least).fold(f64::INFINITY, f64::min);
        let most = self.seconds.iter().map(|round| round.most).fold(0.0, f64::max);
        (self.seconds.len() > 1 || least < most).then_some([least, most])
    }
}

impl Results {
    /// The case of a given name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// Checks that both measured the same sizes. Otherwise, times of the same name are not comparable.
    ///
    /// # Errors
    /// Returns an error that names the size. The paths are for the message.
    pub fn check_same(&self, path: &Path, other: &Self, other_path: &Path) -> Result<(), ResultsError> {
        let names = self.settings.keys().chain(other.settings.keys());
        match names
            .into_iter()
            .find(|name| self.settings.get(*name) != other.settings.get(*name))
        {
            None => Ok(()),
            Some(name) => Err(ResultsError::OtherSetting {
                paths: [path.into(), other_path.into()],
                name: name.clone(),
                values: [self, other].map(|results| {
                    let value = results.settings.get(name);
                    value.map_or_else(|| "not set".to_owned(), ToString::to_string)
                }),
            }),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Criterion => f.write_str("`cargo bench`"),
            verb => write!(f, "`bcl-bench {}`", verb.name()),
        }
    }
}

#[cfg(test)]
mod tests;
