//! Reads the folder in which criterion keeps results: `…/BENCHMARK/BASELINE/{benchmark,estimates}.json`.

use super::{
    Environment, Spread,
    rounds::{Case, Rounds},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

/// The name of its folder.
pub(super) const KIND: &str = "criterion";

/// The file that marks a folder of results.
const BENCHMARK: &str = "benchmark.json";

/// Levels of folders below criterion's: group, function, parameter, baseline.
const DEPTH: usize = 4;

/// Reads the results of `cargo bench` that are saved under a baseline's name: medians with their 95 % confidence intervals.
///
/// Criterion does not record its environment, so the result gets the current program's environment, without a profile.
pub(super) fn read(folder: &Path, baseline: &str) -> Result<Rounds, String> {
    let named = |folder: &&PathBuf| folder.file_name().is_some_and(|name| name == baseline);
    let mut cases = found(folder)?
        .iter()
        .filter(named)
        .map(|folder| case(folder))
        .collect::<Result<Vec<Case>, _>>()?;
    cases.sort_by(|left, right| left.name.cmp(&right.name));
    let rounds = Rounds {
        kind: KIND.to_owned(),
        environment: Environment {
            revision: None,
            profile: None,
            ..Environment::read(rayon::current_num_threads())
        },
        settings: BTreeMap::new(),
        cases,
    };
    rounds.checked(&folder.display().to_string())
}

/// The names of the baselines in criterion's folder, including those that criterion itself keeps.
pub(super) fn baselines(folder: &Path) -> Result<BTreeSet<String>, String> {
    let name = |folder: &PathBuf| folder.file_name()?.to_str().map(str::to_owned);
    Ok(found(folder)?.iter().filter_map(name).collect())
}

/// The folders that contain results; none if there is no such folder.
fn found(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    match find(folder, DEPTH, &mut found) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("cannot read {}: {error}", folder.display())),
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

fn case(folder: &Path) -> Result<Case, String> {
    let load = |file: &str| -> Result<Value, String> {
        let path = folder.join(file);
        let content = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        serde_json::from_slice(&content).map_err(|error| format!("{} is not JSON: {error}", path.display()))
    };
    let (benchmark, estimates) = (load(BENCHMARK)?, load("estimates.json")?);
    let median = &estimates["median"];
    let interval = &median["confidence_interval"];
    // Criterion counts nanoseconds. What is missing is NaN, which is refused later.
    let seconds = |value: &Value| 1e-9 * value.as_f64().unwrap_or(f64::NAN);
    Ok(Case::new(
        benchmark["full_id"].as_str().unwrap_or_default().to_owned(),
        Spread {
            median: seconds(&median["point_estimate"]),
            least: seconds(&interval["lower_bound"]),
            most: seconds(&interval["upper_bound"]),
        },
    ))
}
