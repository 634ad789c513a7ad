//! What a job leaves behind, and where.

use super::{
    profile::{self, ProfileReport},
    torch_measurement::TorchMeasurement,
};
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
    Training(Vec<TrainingReport>),
    /// The kernels of a step.
    Profile(ProfileReport),
    /// The same work in PyTorch.
    Torch(Vec<TorchMeasurement>),
}

/// The epochs of a training run, and its result once it is finished.
#[derive(Debug, Default, Serialize)]
pub struct TrainingReport {
    /// Name of its folder.
    pub run: String,
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
    Profile,
    Torch,
}

/// Where a job leaves its result.
pub(super) struct ReportPlace<'a> {
    /// What it prints.
    pub(super) stdout: &'a Path,
    /// The folder of saved results, and the name of the job's.
    pub(super) saved: ResultsFolder,
    pub(super) name: &'a str,
    /// The folder of its runs or of its log.
    pub(super) folder: PathBuf,
}

impl ReportKind {
    /// The verb that saves it, if it is saved.
    pub(super) fn verb(self) -> Option<Kind> {
        match self {
            Self::Kernels => Some(Kind::Kernels),
            Self::Loss => Some(Kind::Loss),
            Self::Step => Some(Kind::Step),
            Self::Parity | Self::Training | Self::Profile | Self::Torch => None,
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
            Self::Training => {
                let runs = TrainingReport::read_all(&place.folder);
                (!runs.is_empty()).then_some(JobReport::Training(runs))
            }
            Self::Profile => {
                let log = fs::read(place.folder.join(profile::LOG)).ok()?;
                ProfileReport::of(&String::from_utf8_lossy(&log)).map(JobReport::Profile)
            }
            Self::Torch => TorchMeasurement::read(place.stdout).map(JobReport::Torch),
        }
    }
}

impl TrainingReport {
    /// Reads the results so far of all runs below a folder, sorted by name. Names contain slashes, so runs are at any depth.
    fn read_all(folder: &Path) -> Vec<Self> {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        let below = folders.iter().flat_map(|folder| Self::read_all(folder));
        Self::read(folder).into_iter().chain(below).collect()
    }

    fn read(folder: &Path) -> Option<Self> {
        let metrics = fs::read_to_string(folder.join("metrics.jsonl")).ok()?;
        Some(Self {
            run: folder.file_name()?.to_string_lossy().into_owned(),
            // The last line may be cut off.
            epochs: metrics.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            result: json(&folder.join("result.json")),
        })
    }
}

fn json<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_runs_are_read_and_a_stopped_run_has_the_epochs_so_far() {
        let folder = tempfile::tempdir().unwrap();
        let epoch = |epoch: usize| {
            format!(
                "{{\"phase\": \"training\", \"epoch\": {epoch}, \"loss\": 1.0, \"omega_quantiles\": [], \"train_seconds\": 2.0, \
                 \"evaluation_seconds\": 0.0}}\n"
            )
        };
        for (run, metrics) in [("infonce-0", epoch(1)), ("bayesian-0", epoch(1) + &epoch(2) + "{\"ep")] {
            let run = folder.path().join("table3/cifar10").join(run);
            fs::create_dir_all(&run).unwrap();
            fs::write(run.join("metrics.jsonl"), metrics).unwrap();
        }
        let reports = TrainingReport::read_all(folder.path());
        let read: Vec<_> = reports.iter().map(|report| (&*report.run, report.epochs.len())).collect();
        assert_eq!(read, [("bayesian-0", 2), ("infonce-0", 1)]);
        assert!(reports.iter().all(|report| report.result.is_none()));
    }
}
