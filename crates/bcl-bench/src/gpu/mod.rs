//! Everything worth doing on a GPU, with one command and a time limit: parity with reference values, times of kernels and losses, a
//! `LightGCN` epoch, steps of image encoders, a short training with its probe.
//!
//! Parts run one after the other, each with a share of the time. Time that a part does not use goes to the next. A part that exceeds its
//! share is stopped and keeps its measurements so far; a failed part does not stop the others.
//!
//! Nothing here computes: each job is a process of this program with another verb, so that it can be stopped.

mod findings;
mod job;
mod outcome;
mod part;
mod plan;
mod process;
mod report;
mod results;
mod share;

pub use job::JobRecord;
pub use outcome::{Outcome, State};
pub use process::interrupted;
pub use report::{JobReport, TrainingReport};
pub use results::GpuResults;

use bcl_backend::Backend;
use bcl_train::error::Error;
use job::JobFolder;
use part::Part;
use share::Shares;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

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

/// Runs all parts on a backend. `program` is this program, which is started again for every job.
///
/// # Errors
/// Returns an error if the results cannot be written, or Ctrl-C cannot be listened for.
pub fn run(plan: &GpuPlan, backend: &Backend, program: &Path) -> Result<GpuResults, Error> {
    let job_folder = JobFolder::beside(&plan.out)?;
    let mut results = GpuResults::new(backend.info(), plan.minutes);
    results.write(&plan.out)?;
    process::listen_for_interrupts()?;

    let start = Instant::now();
    let end = start + Duration::from_secs_f64(60.0 * plan.minutes);
    let parts = plan::parts(program, plan, backend.info());
    let mut shares = Shares::new(end, parts.iter().map(Part::weight).sum());
    for part in parts {
        let outcome = if interrupted() {
            Outcome::of_nothing(part.name, State::Skipped("interrupted".to_owned()))
        } else {
            let deadline = shares.next(Instant::now(), part.weight());
            part.run(&job_folder, deadline)
        };
        results.add(outcome);
        results.write(&plan.out)?;
    }
    results.seconds = start.elapsed().as_secs_f64();
    results.write(&plan.out)?;
    Ok(results)
}
