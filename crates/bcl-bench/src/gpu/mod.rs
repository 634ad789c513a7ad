//! Everything worth doing on a GPU, with one command and a time limit: parity with reference values, the quickstart, times of losses and of
//! steps of image encoders, a profile by kernel, a short training with its probe, times of kernels, a `LightGCN` epoch.
//!
//! Parts run one after the other, the most valuable first, each with a share of the time. Time that a part does not use goes to the next. A
//! part that exceeds its share is stopped and keeps its measurements so far; a failed part does not stop the others.
//!
//! Nothing here computes: each job is a process of this program with another verb, so that it can be stopped. Beside losses and steps, a
//! script measures the same work in PyTorch, if it is installed.

mod beside;
mod job;
mod plan;
mod process;
mod profile;
mod torch;

pub use job::JobRecord;
pub use profile::{KernelShare, ProfileReport};

use crate::timing::Environment;
use bcl_backend::{Backend, DeviceInfo};
use bcl_files::{FileError, write_json};
use job::{Job, JobFolder};
use plan::Part;
use process::Limits;
use serde::Serialize;
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use torch::Torch;

/// What to run, and for how long.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuPlan {
    /// Folder with the data sets; parts whose data are missing are skipped.
    pub data: PathBuf,
    /// Files of reference values.
    pub golden: Vec<PathBuf>,
    /// The file for the results. Logs and results of the jobs go to a folder beside it.
    pub out: PathBuf,
    /// Minutes for all parts together.
    pub minutes: f64,
}

/// What ran, where and when, with the results.
#[derive(Debug, Serialize)]
pub struct GpuResults {
    /// Start time in UTC.
    pub date: String,
    /// Machine and build.
    pub environment: Environment,
    /// The device that computed.
    pub device: DeviceInfo,
    /// The version of PyTorch that is measured, too, or why there is none.
    pub pytorch: String,
    /// The time limit of all parts together.
    pub minutes: f64,
    /// The time they took.
    pub seconds: f64,
    /// The parts so far.
    pub parts: Vec<Outcome>,
}

/// A part, how it ended, and its jobs.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Name of the part.
    pub part: &'static str,
    /// How it ended.
    #[serde(flatten)]
    pub state: State,
    /// How long it took.
    pub seconds: f64,
    /// Its commands.
    pub jobs: Vec<JobRecord>,
}

/// How a part ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "why", rename_all = "snake_case")]
pub enum State {
    /// All of it is done.
    Done,
    /// Not run, for this reason.
    Skipped(String),
    /// A command failed; this is the error of the first that did.
    Failed(String),
    /// Its time ran out; measurements so far are kept.
    Stopped,
}

/// Runs all parts on a backend. `program` is this program, which is started again for every job. After `interrupted`, the running job is stopped and the
/// others are skipped. `finished` receives each part as soon as it ends.
///
/// # Errors
/// Returns an error if the results cannot be written.
pub fn run(
    plan: &GpuPlan,
    backend: &Backend,
    program: &Path,
    interrupted: &AtomicBool,
    mut finished: impl FnMut(&Outcome),
) -> Result<GpuResults, FileError> {
    let start = Instant::now();
    let mut limits = Limits::new(start + Duration::from_secs_f64(60.0 * plan.minutes), interrupted);
    let folder = JobFolder::beside(&plan.out)?;
    let torch = match backend.name() {
        "cuda" => Torch::find(Path::new("python3"), &folder, interrupted),
        _ => Err("measured beside CUDA only".to_owned()),
    };
    let now = OffsetDateTime::now_utc().truncate_to_second();
    let mut results = GpuResults {
        date: now.format(&Rfc3339).unwrap_or_default(),
        environment: Environment::read(rayon::current_num_threads()).on(backend.info()),
        device: backend.info().clone(),
        pytorch: torch.as_ref().map_or_else(String::clone, |torch| torch.version.clone()),
        minutes: plan.minutes,
        seconds: 0.0,
        parts: Vec::new(),
    };
    write_json(&plan.out, &results)?;
    let parts = plan::parts(program, plan, backend.info(), torch.as_ref().ok());
    limits.share_among(parts.iter().map(Part::weight).sum());
    for part in parts {
        let outcome = part.run(&folder, &mut limits);
        finished(&outcome);
        results.parts.push(outcome);
        results.seconds = start.elapsed().as_secs_f64();
        write_json(&plan.out, &results)?;
    }
    Ok(results)
}

impl Part {
    /// Runs its jobs one after the other, each with a share of the part's time.
    fn run(self, folder: &JobFolder, limits: &mut Limits<'_>) -> Outcome {
        let outcome = |state, jobs: Vec<JobRecord>| Outcome {
            part: self.name,
            state,
            // A sum of nothing is -0.
            seconds: jobs.iter().fold(0.0, |sum, job| sum + job.seconds),
            jobs,
        };
        let weight = self.weight();
        let jobs = match self.jobs {
            Ok(_) if limits.interrupted() => return outcome(State::Skipped("interrupted".to_owned()), Vec::new()),
            Ok(jobs) => jobs,
            Err(why) => return outcome(State::Skipped(why), Vec::new()),
        };
        let mut own = limits.share(weight);
        own.share_among(jobs.iter().map(Job::weight).sum());
        let mut records: Vec<JobRecord> = Vec::new();
        for job in jobs {
            let limits = own.share(job.weight());
            let name = format!("{} {}", self.name, job.label);
            eprintln!("gpu: {} ({:.0} s at most) ...", name.trim_end(), limits.seconds());
            if !limits.interrupted() {
                records.push(job.run(self.name, folder, &limits, records.last()));
            }
        }
        // A failed job takes precedence over a stopped one.
        let state = match records.iter().find_map(|job| job.failure.clone()) {
            Some(why) => State::Failed(why),
            None if records.iter().any(|job| job.stopped) => State::Stopped,
            None => State::Done,
        };
        outcome(state, records)
    }
}

impl GpuResults {
    /// Whether a part failed.
    pub fn failed(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.state, State::Failed(_)))
    }
}

impl fmt::Display for GpuResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceInfo {
            backend, name, driver, ..
        } = &self.device;
        let driver = driver.as_ref().map_or_else(String::new, |driver| format!(", {driver}"));
        let revision = self.environment.revision.as_deref().unwrap_or("unknown");
        write!(
            f,
            "{backend} on {name}{driver}, commit {revision}, {}: {:.0} s of {} minutes.\nPyTorch: {}.",
            self.date, self.seconds, self.minutes, self.pytorch
        )
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:.1} s): ", self.part, self.seconds)?;
        match &self.state {
            State::Done => write!(f, "done"),
            State::Skipped(why) => write!(f, "skipped: {why}"),
            State::Failed(why) => write!(f, "failed: {why}"),
            State::Stopped => write!(f, "stopped: time ran out"),
        }?;
        for job in self.jobs.iter().filter(|job| !job.text.is_empty()) {
            let label = if job.label.is_empty() { "" } else { "\n" };
            write!(f, "\n{label}{}\n{}", job.label, job.text)?;
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests;
