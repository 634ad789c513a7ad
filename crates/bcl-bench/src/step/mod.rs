//! What a training step of an image encoder costs, and what share of it the loss has.
//!
//! A step is taken apart: views, forward, loss, backward, optimiser, one after the other (in training the views of the next step are made
//! meanwhile). The backward pass of the loss cannot be told from that of the encoder in there; so scores, loss and backward are also
//! measured alone, on the same projections without the encoder behind them. That, relative to the whole step, is the loss's share.
//!
//! With gradient caching, "forward" is the pass without a graph, "loss" goes from embeddings to their gradients, and "backward" is the
//! second pass, forward and backward; the views are made during both passes, so that "data" has no share of its own.
//!
//! Every measurement runs in a process of its own, which makes its peak memory its own. The losses take turns, several rounds.

mod phases;
mod report;
mod sample;

pub use phases::Phases;
pub use report::{Measurement, StepBenchmark};
pub use sample::StepSample;

use crate::{Place, environment::Environment};
use bcl_core::EstimatorConfig;
use bcl_models::vision::{ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig};
use bcl_train::{backend::Backend, recipe::Precision};
use serde::{Deserialize, Serialize};
use std::{path::Path, process::Command};

/// The name of the hidden verb with which this program measures one loss.
pub const SAMPLE_VERB: &str = "step-sample";

/// A step to measure: an encoder and the size of what it gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepConfig {
    /// The encoder, below a projection head of the default size.
    pub trunk: ResNetConfig,
    /// Images a batch, two views each.
    pub batch_size: usize,
    /// Images that are encoded, and anchors compared, at a time: [gradient caching](bcl_core::gradient_cache) where it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_cache: Option<usize>,
    /// In how many bits the encoder computes.
    #[serde(default)]
    pub precision: Precision,
    /// Rows, and columns, of a view.
    pub side: usize,
    /// Steps to measure in one process, after one that is not counted.
    pub steps: usize,
}

impl StepConfig {
    fn encoder(&self) -> ImageEncoderConfig {
        ImageEncoderConfig {
            trunk: self.trunk.clone(),
            head: ProjectionHeadConfig::default(),
        }
    }
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct StepPlan {
    /// The step.
    pub config: StepConfig,
    /// The losses, with default parameters.
    pub losses: Vec<EstimatorConfig>,
    /// Threads a measurement may use.
    pub threads: usize,
    /// Rounds in which the losses take turns.
    pub rounds: usize,
}

/// Measures everything on a backend; `program` is this program, started again for each measurement, and `progress` hears what comes next.
///
/// # Errors
/// When a process fails: the loss, and what it said.
pub fn run(plan: &StepPlan, backend: &Backend, program: &Path, mut progress: impl FnMut(&str)) -> Result<StepBenchmark, String> {
    let environment = Environment::read(plan.threads).on(backend.info());
    let mut samples: Vec<Vec<StepSample>> = vec![Vec::new(); plan.losses.len()];
    for round in 1..=plan.rounds {
        for (loss, samples) in plan.losses.iter().zip(&mut samples) {
            progress(&format!("{}: round {round} of {}", loss.name(), plan.rounds));
            samples.push(start(plan, backend, program, loss).map_err(|error| format!("{} {error}", loss.name()))?);
        }
    }
    Ok(StepBenchmark::new(plan, environment, &samples))
}

/// Measures one loss in a new process.
fn start(plan: &StepPlan, backend: &Backend, program: &Path, loss: &EstimatorConfig) -> Result<StepSample, String> {
    let config = serde_json::to_string(&plan.config).expect("a configuration is plain data");
    let output = Command::new(program)
        .arg(SAMPLE_VERB)
        .args(Place::arguments(backend))
        .args(["--loss", loss.name()])
        .args(["--config", &config])
        .env("RAYON_NUM_THREADS", plan.threads.to_string())
        .output()
        .map_err(|error| format!("cannot start: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().last().unwrap_or("no message");
        return Err(format!("failed ({}): {last}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("failed: its answer is no sample: {error}"))
}
