//! Reads the folder in which criterion keeps results: `…/BENCHMARK/BASELINE/{benchmark,estimates}.json`.

use super::{Case, Kind, Results, ResultsError};
use crate::{Environment, Spread};
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

/// The file that marks a folder of results.
const BENCHMARK: &str = "benchmark.json";

/// Levels of folders below criterion's: group, function, parameter, baseline.
const DEPTH: usize = 4;

#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

impl Results {
    /// Reads the results of `cargo bench` that are saved under a baseline's name: medians with their 95 % confidence intervals.
    ///
    /// Criterion does not record its environment, so this is that of the current program, without a profile.
    ///
    /// # Errors
    /// Returns an error if there are no results of that name, or they cannot be read.
    pub fn of_criterion(folder: &Path, baseline: &str) -> Result<Self, ResultsError> {
        let mut found = Vec::new();
        find(folder, DEPTH, &mut found).map_err(|error| ResultsError::Unreadable {
            path: folder.into(),
            error,
        })?;
        let named = |folder: &PathBuf| folder.file_name().is_some_and(|name| name == baseline);
        let cases: Result<Vec<Case>, _> = found
            .iter()
            .filter(|folder| named(folder))
            .map(|folder| case(folder))
            .collect();
        let mut cases = cases?;
        if cases.is_empty() {
            return Err(ResultsError::NoBaseline {
                path: folder.into(),
                baseline: baseline.to_owned(),
                there_are: there_are(&found),
            });
        }
        cases.sort_by(|left, right| left.name.cmp(&right.name));
        let results = Self {
            kind: Kind::Criterion,
            environment: Environment {
                profile: None,
                ..Environment::read(rayon::current_num_threads())
            },
            settings: BTreeMap::new(),
            cases,
        };
        results.checked(folder)
    }
}

/// Collects the folders that contain results.
fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == BENCHMARK {
            found.push(folder.to_owned());
        } else if depth > 0 && entry.file_type()?.is_dir() {
            find(&entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}

fn there_are(found: &[PathBuf]) -> String {
    let names: BTreeSet<_> = found.iter().filter_map(|folder| folder.file_name()?.to_str()).collect();
    if names.is_empty() {
        return "run `cargo bench -p bcl-bench --profile dev` first".to_owned();
    }
    let names: Vec<_> = names.into_iter().collect();
    format!("--baseline can be {}", names.join(", "))
}

fn case(folder: &Path) -> Result<Case, ResultsError> {
    let benchmark: Benchmark = load(&folder.join(BENCHMARK))?;
    let Estimates { median } = load(&folder.join("estimates.json"))?;
    let interval = median.confidence_interval;
    Ok(Case {
        name: benchmark.full_id,
        // Criterion counts nanoseconds.
        seconds: vec![Spread {
            median: 1e-9 * median.point_estimate,
            least: 1e-9 * interval.lower_bound,
            most: 1e-9 * interval.upper_bound,
        }],
    })
}

fn load<T: DeserializeOwned>(path: &Path) -> Result<T, ResultsError> {
    let content = fs::read(path).map_err(|error| ResultsError::Unreadable {
        path: path.into(),
        error,
    })?;
    serde_json::from_slice(&content).map_err(|error| ResultsError::NotJson {
        path: path.into(),
        error,
    })
}
