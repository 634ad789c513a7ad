//! What a job leaves behind, and where.

use crate::{
    kernels::KernelBenchmark,
    loss::LossBenchmark,
    parity::ParityResult,
    results::{Benchmark, Kind, ResultsFolder},
    step::StepBenchmark,
};
use bcl_report::result::{EpochRecord, RunResult};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The result of a job; it may be incomplete if the job was stopped.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)] // the verbs
pub enum JobReport {
    Parity(ParityResult),
    Kernels(KernelBenchmark),
    Loss(LossBenchmark),
    Step(StepBenchmark),
    Training(Box<TrainingReport>),
}

/// The epochs of a training run, and its result once it is finished.
#[derive(Debug, Default, Serialize)]
pub struct TrainingReport {
    /// One record per epoch.
    pub epochs: Vec<EpochRecord>,
    /// The result.
    pub result: Option<RunResult>,
}

/// The kind of result that a job leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportKind {
    Parity,
    Kernels,
    Loss,
    Step,
    Training,
}

/// Where a job leaves its result.
pub(super) struct ReportPlace<'a> {
    /// What it prints.
    pub(super) stdout: &'a Path,
    /// The folder of saved results, and the name of the job's.
    pub(super) saved: ResultsFolder,
    pub(super) name: &'a str,
    /// The folder of its run.
    pub(super) runs: PathBuf,
}

impl ReportKind {
    /// The verb that saves it, if it is saved.
    pub(super) fn verb(self) -> Option<Kind> {
        match self {
            Self::Kernels => Some(Kind::Kernels),
            Self::Loss => Some(Kind::Loss),
            Self::Step => Some(Kind::Step),
            Self::Parity | Self::Training => None,
        }
    }

    /// Reads what is there; `None` if it is missing or cut off.
    pub(super) fn read(self, place: &ReportPlace<'_>) -> Option<JobReport> {
        fn saved<B: Benchmark>(place: &ReportPlace<'_>) -> Option<B> {
            B::read(&place.saved.file(B::KIND, place.name)).ok()
        }
        match self {
            Self::Parity => json(place.stdout).map(JobReport::Parity),
            Self::Kernels => saved(place).map(JobReport::Kernels),
            Self::Loss => saved(place).map(JobReport::Loss),
            Self::Step => saved(place).map(JobReport::Step),
            Self::Training => TrainingReport::read(&place.runs).map(Box::new).map(JobReport::Training),
        }
    }
}

impl TrainingReport {
    /// Reads the results so far of the only run below a folder.
    fn read(out: &Path) -> Option<Self> {
        let folder = find(out, "metrics.jsonl")?;
        let metrics = fs::read_to_string(folder.join("metrics.jsonl")).ok()?;
        Some(Self {
            // The last line may be cut off.
            epochs: metrics.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            result: json(&folder.join("result.json")),
        })
    }
}

fn json<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Finds the folder that contains a file of this name, at any depth: run names contain slashes.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    if folder.join(name).is_file() {
        return Some(folder.to_path_buf());
    }
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .find_map(|path| find(&path, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_run_has_the_epochs_so_far() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("table3/cifar10/bayesian-0");
        fs::create_dir_all(&run).unwrap();
        let epoch = |epoch: usize| {
            format!(
                "{{\"phase\": \"training\", \"epoch\": {epoch}, \"loss\": 1.0, \"omega_quantiles\": [], \"train_seconds\": 2.0, \
                 \"evaluation_seconds\": 0.0}}\n"
            )
        };
        fs::write(run.join("metrics.jsonl"), epoch(1) + &epoch(2) + "{\"ep").unwrap();
        let report = TrainingReport::read(folder.path()).unwrap();
        let epochs: Vec<usize> = report.epochs.iter().map(|record| record.epoch).collect();
        assert_eq!((epochs, report.result.is_none()), (vec![1, 2], true));
    }
}
