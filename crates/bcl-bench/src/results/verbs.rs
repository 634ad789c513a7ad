//! Reads the files of all verbs, which differ in their fields.

use super::{Case, Kind, Results, ResultsError};
use crate::{
    Spread,
    kernels::{KernelBenchmark, Pass},
    loss::LossBenchmark,
    step::StepBenchmark,
    views::ViewsBenchmark,
};
use serde::Deserialize;
use serde_json::{Value, error::Category, json};
use std::{collections::BTreeMap, fs, io, path::Path};

/// Each variant has a field that the variants below it lack.
#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Gathered(Results),
    Step(StepBenchmark),
    Loss(LossBenchmark),
    Views(ViewsBenchmark),
    Kernels(KernelBenchmark),
}

impl Results {
    /// Reads a file that a verb of this program wrote with `--json`, or a gathered file.
    ///
    /// # Errors
    /// Returns an error if it is another kind of file, is cut off, or contains no times. The message names the file and the
    /// remedy.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let content = fs::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => ResultsError::Folder { path: path.into() },
            _ => ResultsError::Unreadable {
                path: path.into(),
                error,
            },
        })?;
        if content.iter().all(u8::is_ascii_whitespace) {
            return Err(ResultsError::Empty { path: path.into() });
        }
        // In two steps, because an error in the JSON is more helpful than "none of five kinds of files".
        let value: Value = serde_json::from_slice(&content).map_err(|error| match error.classify() {
            Category::Eof => ResultsError::Truncated {
                path: path.into(),
                line: error.line(),
            },
            _ => ResultsError::NotJson {
                path: path.into(),
                error,
            },
        })?;
        let file: File = serde_json::from_value(value).map_err(|_| ResultsError::Foreign { path: path.into() })?;
        Self::from(file).checked(path)
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

impl From<File> for Results {
    fn from(file: File) -> Self {
        match file {
            File::Gathered(results) => results,
            File::Step(step) => of_step(step),
            File::Loss(loss) => of_loss(loss),
            File::Views(views) => of_views(views),
            File::Kernels(kernels) => of_kernels(kernels),
        }
    }
}

fn of_kernels(benchmark: KernelBenchmark) -> Results {
    let measured = benchmark.measurements.into_iter().filter_map(|measurement| {
        let pass = match measurement.pass {
            Pass::Forward => "forward",
            Pass::Gradients => "with gradients",
        };
        let name = format!("{} {} {pass}", measurement.kernel, measurement.size);
        Some(Case::known_by_one(name, 1e-3 * measurement.timing?.kernel_ms))
    });
    Results {
        kind: Kind::Kernels,
        environment: benchmark.environment,
        settings: BTreeMap::new(),
        cases: measured.collect(),
    }
}

fn of_loss(benchmark: LossBenchmark) -> Results {
    let measured = benchmark.measurements.into_iter().filter_map(|measurement| {
        let name = format!("{} batch {}", measurement.loss, measurement.batch_size);
        Some(Case::known_by_one(name, 1e-3 * measurement.median_ms?))
    });
    Results {
        kind: Kind::Loss,
        environment: benchmark.environment,
        settings: BTreeMap::from([("dim".to_owned(), json!(benchmark.dim))]),
        cases: measured.collect(),
    }
}

/// Converts rates to times, so that more is slower everywhere.
fn of_views(benchmark: ViewsBenchmark) -> Results {
    let measured = benchmark.measurements.into_iter().map(|measurement| {
        let rate = measurement.views_per_second;
        Case {
            name: format!(
                "a view of {0} x {0} pixels, {1} threads",
                measurement.side, measurement.threads
            ),
            seconds: vec![Spread {
                median: rate.median.recip(),
                least: rate.most.recip(),
                most: rate.least.recip(),
            }],
        }
    });
    Results {
        kind: Kind::Views,
        environment: benchmark.environment,
        settings: BTreeMap::from([("batch_size".to_owned(), json!(benchmark.batch_size))]),
        cases: measured.collect(),
    }
}

fn of_step(benchmark: StepBenchmark) -> Results {
    let measured = benchmark.measurements.into_iter().flat_map(|measurement| {
        [("step", measurement.step), ("loss alone", measurement.loss_alone)].map(|(part, seconds)| Case {
            name: format!("{} {part}", measurement.loss),
            seconds: vec![seconds],
        })
    });
    let cases = measured.collect();
    let Ok(Value::Object(mut config)) = serde_json::to_value(&benchmark.config) else {
        unreachable!("a configuration is an object")
    };
    // The number of repetitions does not affect the time.
    config.remove("steps");
    Results {
        kind: Kind::Step,
        environment: benchmark.environment,
        settings: config.into_iter().collect(),
        cases,
    }
}

impl Case {
    fn known_by_one(name: String, seconds: f64) -> Self {
        Self {
            name,
            seconds: vec![Spread::of(&[seconds])],
        }
    }
}
