//! What a benchmark measured, in one form wherever it comes from: named times, a few numbers a round.
//!
//! | from | rounds | by |
//! | --- | --- | --- |
//! | what `kernels`, `loss`, `views` or `step` wrote with `--json` | one | [`Results::read`] |
//! | the folder in which criterion keeps results | one a baseline | [`Results::of_criterion`] |
//! | several of these of the same kind | all of theirs | [`Results::gather`] |
//!
//! Results are themselves such a file: what was gathered can be read, compared and gathered again.

mod criterion;
mod error;
mod gathered;
mod report;
mod verbs;

pub use error::ResultsError;
pub use gathered::Gathered;
pub use report::duration;

use crate::{Environment, Spread, spread::median};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, path::Path};

/// What was measured where, with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// What measured.
    pub kind: Kind,
    /// Where and with what.
    pub environment: Environment,
    /// Sizes that all cases share and no name tells.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// What was measured, in the order of the file.
    pub cases: Vec<Case>,
}

/// Where times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the verbs, and `cargo bench`
pub enum Kind {
    Kernels,
    Loss,
    Views,
    Step,
    Criterion,
}

/// The time of one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What it is.
    pub name: String,
    /// Seconds in each round; all three are one where the round is known by one number.
    pub seconds: Vec<Spread>,
}

impl Case {
    /// The middle of the rounds, seconds.
    pub fn median(&self) -> f64 {
        median(self.seconds.iter().map(|round| round.median).collect())
    }

    /// From the least to the most of all rounds, seconds; `None` where there is but one number.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let least = self.seconds.iter().map(|round| round.least).fold(f64::INFINITY, f64::min);
        let most = self.seconds.iter().map(|round| round.most).fold(0.0, f64::max);
        (self.seconds.len() > 1 || least < most).then_some([least, most])
    }
}

impl Results {
    /// The case of that name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// Checks that both come from the same measurement, which alone makes times of one name comparable.
    ///
    /// # Errors
    /// When another verb measured, or in another size. The paths are for the message.
    pub fn check_same(&self, path: &Path, other: &Self, other_path: &Path) -> Result<(), ResultsError> {
        let paths = || [path.into(), other_path.into()];
        if self.kind != other.kind {
            return Err(ResultsError::OtherKind {
                paths: paths(),
                kinds: [self.kind, other.kind],
            });
        }
        let names = self.settings.keys().chain(other.settings.keys());
        match names
            .into_iter()
            .find(|name| self.settings.get(*name) != other.settings.get(*name))
        {
            None => Ok(()),
            Some(name) => Err(ResultsError::OtherSetting {
                paths: paths(),
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
        f.write_str(match self {
            Self::Kernels => "`bcl-bench kernels`",
            Self::Loss => "`bcl-bench loss`",
            Self::Views => "`bcl-bench views`",
            Self::Step => "`bcl-bench step`",
            Self::Criterion => "`cargo bench`",
        })
    }
}

#[cfg(test)]
mod tests;
