//! Results of benchmarks in one common form: named times, with a few numbers per round.
//!
//! | source | rounds | function |
//! | --- | --- | --- |
//! | a file that `kernels`, `loss`, `views` or `step` wrote with `--json` | one | [`Results::read`] |
//! | the folder in which criterion keeps results | one per baseline | [`Results::of_criterion`] |
//! | several results of the same kind | those of all sources | [`Results::gather`] |
//!
//! Results can be saved in a file of the same form, so gathered results can be read, compared and gathered again.

mod criterion;
mod display;
mod error;
mod gathered;
mod verbs;

pub use display::duration;
pub use error::ResultsError;
pub use gathered::Gathered;

use crate::{Environment, Spread, spread::median};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, path::Path};

/// The results of a benchmark, with its environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// The times of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Name of the case.
    pub name: String,
    /// Seconds per round. Median, least and most are equal if the round is a single number.
    pub seconds: Vec<Spread>,
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

    /// Checks that both come from the same measurement. Otherwise, times of the same name are not comparable.
    ///
    /// # Errors
    /// Returns an error if another verb measured, or other sizes were measured. The paths are for the message.
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
