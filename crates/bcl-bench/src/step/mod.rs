//! Measures the time of an image encoder's training step, and the share of the loss in it.
//!
//! A step is timed in parts that run one after the other: views, forward, loss, backward, optimizer. (In training, the views of
//! the next step are made meanwhile.) The backward pass of the loss cannot be separated from that of the encoder this way, so
//! scores, loss and backward are also timed alone, on the same projections without the encoder. That time over the time of the
//! whole step is the share of the loss.
//!
//! With gradient caching, "forward" is the pass without a graph, "loss" goes from embeddings to their gradients, and "backward"
//! is the second pass, forward and backward. The views are made during both passes, so "data" is 0.
//!
//! Every measurement runs in its own process, so that the peak memory is its own. The losses alternate in several rounds.

mod benchmark;
mod phases;
mod sample;

pub use benchmark::{StepBenchmark, StepMeasurement};
pub use phases::Phases;
pub use sample::StepSample;

use crate::{DeviceArguments, environment::Environment};
use bcl_backend::Backend;
use bcl_core::EstimatorConfig;
use bcl_models::vision::{ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig};
use bcl_train::recipe::Precision;
use serde::{Deserialize, Serialize};
use std::{path::Path, process::Command};

/// The hidden verb with which this program measures one loss.
pub const SAMPLE_VERB: &str = "step-sample";

/// A step to measure: an encoder and the size of its inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepConfig {
    /// The encoder, which gets a projection head of the default size.
    pub trunk: ResNetConfig,
    /// Images per batch, with two views each.
    pub batch_size: usize,
    /// Number of images encoded, and of anchors compared, at a time with [gradient caching](bcl_core::gradient_cache); `None`
    /// without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_cache: Option<usize>,
    /// Precision of the encoder.
    #[serde(default)]
    pub precision: Precision,
    /// Height and width of a view.
    pub side: usize,
    /// Steps to measure in one process, after one warm-up step.
    pub steps: usize,
}

impl StepConfig {
    fn encoder(&self) -> ImageEncoderConfig {
        ImageEncoderConfig {
            trunk: self.trunk.clone(),
            head: ProjectionHeadConfig::default(),
            split_channels: None,
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
    /// Number of threads of a measurement.
    pub threads: usize,
    /// Number of rounds; every loss runs in each.
    pub rounds: usize,
}

/// Measures all losses on a backend. `program` is this program, which is started again for every measurement. `progress`
/// receives the next step.
///
/// # Errors
/// Returns an error with the name of the loss and the output if a process fails.
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
        .args(DeviceArguments::of(backend.info()))
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
    serde_json::from_slice(&output.stdout).map_err(|error| format!("failed: its output is not a sample: {error}"))
}
