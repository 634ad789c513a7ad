//! Measures the time of an image encoder's training step, and the share of the loss in it.
//!
//! A recipe defines the step: any method, encoder, loss and optimizer. The step is timed in parts that run one after the other: views, forward,
//! loss, backward, optimizer. (Training makes the views of the next step meanwhile.) This cannot separate the loss's backward pass from the
//! encoder's, so scores, loss and backward are also timed without the encoder, on the same projections. That time over the time of the whole
//! step is the share of the loss.
//!
//! With gradient caching, "forward" is the pass without a graph, "loss" goes from embeddings to their gradients, and "backward"
//! is the second pass, forward and backward. The views are made during both passes, so "data" is 0.
//!
//! Every measurement runs in its own process, so that the peak memory is its own. The recipes alternate in several rounds.

mod benchmark;
mod phases;
mod sample;

pub use benchmark::{Rates, StepBenchmark, StepMeasurement};
pub use phases::Phases;
pub use sample::StepSample;

use crate::{DeviceArguments, environment::Environment};
use bcl_backend::Backend;
use bcl_recipe::ImageRecipe;
use serde::{Deserialize, Serialize};
use std::{path::Path, process::Command};

/// The hidden verb with which this program measures one recipe.
pub const SAMPLE_VERB: &str = "step-sample";

/// A step to measure in one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepConfig {
    /// The recipe whose step it is. The images are planted ones.
    pub recipe: ImageRecipe,
    /// Number of images of the data set, of each of which some methods keep an embedding.
    pub images: usize,
    /// Steps to measure, after one warm-up step.
    pub steps: usize,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct StepPlan {
    /// The recipes, each with a name of its own.
    pub recipes: Vec<ImageRecipe>,
    /// Number of images of the data set, of each of which some methods keep an embedding.
    pub images: usize,
    /// Steps per round, after one warm-up step.
    pub steps: usize,
    /// Number of threads of a measurement.
    pub threads: usize,
    /// Number of rounds; every recipe runs in each.
    pub rounds: usize,
}

/// Measures all recipes on a backend. `program` is this program, which is started again for every measurement. `progress`
/// receives the next step, and `finished` all results after each.
///
/// # Errors
/// Returns an error with the name of the recipe and the output if a process fails.
pub fn run(
    plan: &StepPlan,
    backend: &Backend,
    program: &Path,
    mut progress: impl FnMut(&str),
    mut finished: impl FnMut(&StepBenchmark),
) -> Result<StepBenchmark, String> {
    let environment = Environment::read(plan.threads).on(backend.info());
    let mut samples: Vec<Vec<StepSample>> = vec![Vec::new(); plan.recipes.len()];
    let so_far = |samples: &[Vec<StepSample>]| StepBenchmark::new(plan, environment.clone(), samples);
    for round in 1..=plan.rounds {
        for (i, recipe) in plan.recipes.iter().enumerate() {
            progress(&format!("{}: round {round} of {}", recipe.name, plan.rounds));
            samples[i].push(start(plan, backend, program, recipe).map_err(|error| format!("{} {error}", recipe.name))?);
            finished(&so_far(&samples));
        }
    }
    Ok(so_far(&samples))
}

/// Measures one recipe in a new process.
fn start(plan: &StepPlan, backend: &Backend, program: &Path, recipe: &ImageRecipe) -> Result<StepSample, String> {
    let config = StepConfig {
        recipe: recipe.clone(),
        images: plan.images,
        steps: plan.steps,
    };
    let config = serde_json::to_string(&config).expect("a configuration is plain data");
    let output = Command::new(program)
        .arg(SAMPLE_VERB)
        .args(DeviceArguments::of(backend.info()))
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
