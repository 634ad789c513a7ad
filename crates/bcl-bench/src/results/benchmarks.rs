//! What the verbs measure, read from their files and turned into the common form.

use super::{Case, Kind, Results, ResultsError};
use crate::{Spread, kernels::KernelBenchmark, loss::LossBenchmark, step::StepBenchmark};
use bcl_files::input::{self, MOST_WHOLE};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{error::Category, json};
use std::{collections::BTreeMap, fmt::Display, path::Path};

/// What a verb measured.
pub trait Benchmark: Serialize + DeserializeOwned + Display {
    /// The verb.
    const KIND: Kind;

    /// Its times.
    fn into_results(self) -> Results;

    /// Reads a saved file.
    ///
    /// # Errors
    /// Returns an error if it is another kind of file or cut off. The message names the file and the remedy.
    fn read(path: &Path) -> Result<Self, ResultsError> {
        let content = input::read(path, MOST_WHOLE).map_err(|error| ResultsError::Unreadable {
            path: path.into(),
            error,
        })?;
        if content.iter().all(u8::is_ascii_whitespace) {
            return Err(ResultsError::Empty { path: path.into() });
        }
        serde_json::from_slice(&content).map_err(|error| match error.classify() {
            Category::Eof => ResultsError::Truncated {
                path: path.into(),
                line: error.line(),
            },
            Category::Data => ResultsError::Foreign {
                path: path.into(),
                kind: Self::KIND,
                error,
            },
            _ => ResultsError::NotJson {
                path: path.into(),
                error,
            },
        })
    }
}

impl Results {
    /// Reads the file of a verb, and checks that it has times.
    pub(super) fn of<B: Benchmark>(path: &Path) -> Result<Self, ResultsError> {
        B::read(path)?.into_results().checked(path)
    }

    /// Checks that every case has at least one round and that all times are above 0, as ratios need.
    pub(super) fn checked(self, path: &Path) -> Result<Self, ResultsError> {
        if self.cases.is_empty() || self.cases.iter().any(|case| case.seconds.is_empty()) {
            return Err(ResultsError::NoCases { path: path.into() });
        }
        for Case { name, seconds } in &self.cases {
            let mut times = seconds.iter().flat_map(|round| [round.median, round.least, round.most]);
            if let Some(seconds) = times.find(|seconds| !(seconds.is_finite() && *seconds > 0.0)) {
                return Err(ResultsError::Impossible {
                    path: path.into(),
                    name: name.clone(),
                    seconds,
                });
            }
        }
        Ok(self)
    }
}

impl Benchmark for KernelBenchmark {
    const KIND: Kind = Kind::Kernels;

    fn into_results(self) -> Results {
        let measured = self.measurements.into_iter().filter_map(|measurement| {
            Some(Case {
                name: format!("{} {} {}", measurement.kernel, measurement.size, measurement.pass),
                seconds: vec![measurement.timing?.kernel_ms.scaled(1e-3)],
            })
        });
        Results {
            kind: Self::KIND,
            environment: self.environment,
            settings: BTreeMap::new(),
            cases: measured.collect(),
        }
    }
}

impl Benchmark for LossBenchmark {
    const KIND: Kind = Kind::Loss;

    fn into_results(self) -> Results {
        let measured = self.measurements.into_iter().filter_map(|measurement| {
            Some(Case {
                name: format!("{} batch {}", measurement.loss, measurement.batch_size),
                seconds: vec![Spread::of(&[1e-3 * measurement.median_ms?])],
            })
        });
        Results {
            kind: Self::KIND,
            environment: self.environment,
            settings: BTreeMap::from([("dim".to_owned(), json!(self.dim))]),
            cases: measured.collect(),
        }
    }
}

impl Benchmark for StepBenchmark {
    const KIND: Kind = Kind::Step;

    fn into_results(self) -> Results {
        let settings = self.measurements.iter().map(|measurement| {
            let recipe = serde_json::to_value(&measurement.recipe).expect("a recipe is plain data");
            (measurement.name.clone(), recipe)
        });
        let settings = settings.collect();
        let measured = self.measurements.into_iter().flat_map(|measurement| {
            [("step", measurement.step), ("loss alone", measurement.loss_alone)].map(|(part, seconds)| Case {
                name: format!("{} {part}", measurement.name),
                seconds: vec![seconds],
            })
        });
        let cases = measured.collect();
        Results {
            kind: Self::KIND,
            environment: self.environment,
            settings,
            cases,
        }
    }
}
