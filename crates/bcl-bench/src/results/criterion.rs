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
    /// Criterion does not record its environment, so the result gets the current program's environment, without a profile.
    pub(super) fn of_criterion(folder: &Path, baseline: &str) -> Result<Self, ResultsError> {
        let found = found(folder)?;
        let named = |folder: &&PathBuf| folder.file_name().is_some_and(|name| name == baseline);
        let cases = found.iter().filter(named).map(|folder| case(folder));
        let mut cases = cases.collect::<Result<Vec<Case>, _>>()?;
        cases.sort_by(|left, right| left.name.cmp(&right.name));
        let results = Self {
            kind: Kind::Criterion,
            environment: Environment {
                revision: None,
                profile: None,
                ..Environment::read(rayon::current_num_threads())
            },
            settings: BTreeMap::new(),
            cases,
        };
        results.checked(folder)
    }

    /// The names of the baselines in criterion's folder, those that criterion itself keeps among them.
    pub(super) fn baselines(folder: &Path) -> Result<BTreeSet<String>, ResultsError> {
        let found = found(folder)?;
        let names = found
            .iter()
            .filter_map(|folder| folder.file_name()?.to_str().map(str::to_owned));
        Ok(names.collect())
    }
}

/// The folders that contain results; none if there is no such folder.
fn found(folder: &Path) -> Result<Vec<PathBuf>, ResultsError> {
    let mut found = Vec::new();
    match find(folder, DEPTH, &mut found) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ResultsError::Unreadable {
            path: folder.into(),
            error,
        }),
        _ => Ok(found),
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
