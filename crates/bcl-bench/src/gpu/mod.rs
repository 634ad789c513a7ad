//! Everything worth doing on a GPU, with one command and a time limit: parity with reference values, the quickstart, times of losses and of
//! steps of image encoders, a profile by kernel, a short training with its probe, times of kernels, a `LightGCN` epoch.
//!
//! Parts run one after the other, the most valuable first, each with a share of the time. Time that a part does not use goes to the next. A
//! part that exceeds its share is stopped and keeps its measurements so far; a failed part does not stop the others.
//!
//! Nothing here computes: each job is a process of this program with another verb, so that it can be stopped. Beside losses and steps, a
//! script measures the same work in PyTorch, if it is installed.

mod beside_torch;
mod findings;
mod job;
mod outcome;
mod part;
mod plan;
mod process;
mod profile;
mod report;
mod results;
mod share;
mod torch;
mod torch_measurement;

pub use job::JobRecord;
pub use outcome::{Outcome, State};
pub use process::interrupted;
pub use profile::{KernelShare, ProfileReport};
pub use report::{JobReport, TrainingReport};
pub use results::GpuResults;
pub use torch_measurement::TorchMeasurement;

use bcl_backend::Backend;
use bcl_train::error::Error;
use job::JobFolder;
use part::Part;
use share::Shares;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use torch::Torch;

/// The hidden verb with which this program trains.
pub const TRAINING_VERB: &str = "gpu-training";

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

/// Runs all parts on a backend. `program` is this program, which is started again for every job. `finished` receives each part as soon as
/// it ends.
///
/// # Errors
/// Returns an error if the results cannot be written, or Ctrl-C cannot be listened for.
pub fn run(plan: &GpuPlan, backend: &Backend, program: &Path, mut finished: impl FnMut(&Outcome)) -> Result<GpuResults, Error> {
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(60.0 * plan.minutes);
    let job_folder = JobFolder::beside(&plan.out)?;
    process::listen_for_interrupts()?;
    let torch = match backend.name() {
        "cuda" => Torch::find(Path::new("python3"), &job_folder),
        _ => Err("measured beside CUDA only".to_owned()),
    };
    let pytorch = torch.as_ref().map_or_else(String::clone, |torch| torch.version.clone());
    let mut results = GpuResults::new(backend.info(), plan.minutes, pytorch);
    results.write(&plan.out)?;

    let parts = plan::parts(program, plan, backend.info(), torch.as_ref().ok());
    let mut shares = Shares::new(end, parts.iter().map(Part::weight).sum());
    for part in parts {
        let outcome = if interrupted() {
            Outcome::of_nothing(part.name, State::Skipped("interrupted".to_owned()))
        } else {
            let deadline = shares.next(Instant::now(), part.weight());
            part.run(&job_folder, deadline)
        };
        finished(&outcome);
        results.add(outcome);
        results.write(&plan.out)?;
    }
    results.seconds = start.elapsed().as_secs_f64();
    results.write(&plan.out)?;
    Ok(results)
}
