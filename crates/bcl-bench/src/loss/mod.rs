//! Measures losses: time and memory of forward and backward, compared with `InfoNCE`, and their growth with the batch size.
//!
//! Every measurement runs in its own process, so that the peak memory is its own. The losses alternate, in several rounds per
//! batch size, so that other work on the machine affects all of them alike. A time is the median over all rounds. A ratio to
//! `InfoNCE` is the median of the ratios within each round.

mod all_pairs;
mod benchmark;
pub(crate) mod growth;
mod in_batch;
mod sample;
mod variant;

pub use benchmark::{Growth, LossBenchmark, LossMeasurement};
pub use in_batch::InBatchLoss;
pub use sample::Sample;
pub use variant::{LARGEST_ALL_PAIRS, LossVariant};

use crate::{DeviceArguments, environment::Environment, memory};
use bcl_backend::Backend;
use std::{path::Path, process::Command};

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct LossPlan {
    /// Batch sizes; in-batch scores have `2 B` anchors with `2 B - 2` negatives each.
    pub batch_sizes: Vec<usize>,
    /// The losses to measure.
    pub variants: Vec<LossVariant>,
    /// Number of rounds; every loss runs in each.
    pub rounds: usize,
    /// Embedding size.
    pub dim: usize,
    /// Number of threads of a measurement.
    pub threads: usize,
    /// Seconds per loss and batch size, over all rounds.
    pub seconds: f64,
}

/// Share of the available memory that a measurement may need.
const MEMORY_SHARE: f64 = 0.8;

/// Assumed number of tensors of the largest size in one step, until something has been measured.
const ASSUMED_TENSORS: f64 = 24.0;

/// The hidden verb with which this program measures one loss.
pub const SAMPLE_VERB: &str = "loss-sample";

/// Measures all losses on a backend. `program` is this program, which is started again for every measurement. `progress`
/// receives the next step, and `finished` all results after each batch size.
pub fn run(
    plan: &LossPlan,
    backend: &Backend,
    program: &Path,
    mut progress: impl FnMut(&str),
    mut finished: impl FnMut(&LossBenchmark),
) -> LossBenchmark {
    let mut benchmark = LossBenchmark::new(plan, Environment::read(plan.threads).on(backend.info()));
    for &batch_size in &plan.batch_sizes {
        let variants = plan.variants.iter().filter(|variant| variant.takes_part(batch_size));
        let mut samples: Vec<(LossVariant, Outcome)> = variants
            .map(|variant| {
                let outcome = match shortage(&benchmark, plan, backend, variant, batch_size) {
                    Some(shortage) => Outcome::Skipped(shortage),
                    None => Outcome::Measured(Vec::new()),
                };
                (variant.clone(), outcome)
            })
            .collect();
        for round in 1..=plan.rounds {
            progress(&format!("batch {batch_size}: round {round} of {}", plan.rounds));
            for (variant, outcome) in &mut samples {
                if let Outcome::Measured(rounds) = outcome {
                    match start(plan, backend, program, variant, batch_size) {
                        Ok(sample) => rounds.push(sample),
                        Err(error) => *outcome = Outcome::Failed(error),
                    }
                }
            }
        }
        benchmark.add(batch_size, samples);
        finished(&benchmark);
    }
    benchmark
}

/// The outcome of one loss at one batch size.
#[derive(Debug)]
enum Outcome {
    /// One sample per round.
    Measured(Vec<Sample>),
    Skipped(String),
    Failed(String),
}

/// Explains why a measurement would not fit into the device's memory, if so.
fn shortage(
    benchmark: &LossBenchmark,
    plan: &LossPlan,
    backend: &Backend,
    variant: &LossVariant,
    batch_size: usize,
) -> Option<String> {
    let available = memory::of(backend.info())?;
    // The size of the largest tensors: scores, or embeddings where there are no scores.
    let needs_scores = variant.needs_scores(batch_size, &backend.training_device());
    let entries = |batch_size: usize| {
        let row = if needs_scores { 2 * batch_size - 2 } else { plan.dim };
        (2 * batch_size) as f64 * row as f64
    };
    let expected = match benchmark.largest_memory(variant.name()) {
        Some((measured_at, extra)) => extra * entries(batch_size) / entries(measured_at),
        None => ASSUMED_TENSORS * 4.0 * entries(batch_size) / f64::from(1 << 20),
    };
    (expected > MEMORY_SHARE * available)
        .then(|| format!("skipped: needs about {expected:.0} MiB, but only {available:.0} MiB are available"))
}

/// Measures one loss in a new process.
fn start(plan: &LossPlan, backend: &Backend, program: &Path, variant: &LossVariant, batch_size: usize) -> Result<Sample, String> {
    let output = Command::new(program)
        .arg(SAMPLE_VERB)
        .args(DeviceArguments::of(backend.info()))
        .args(["--variant", variant.name()])
        .args(["--batch", &batch_size.to_string()])
        .args(["--dim", &plan.dim.to_string()])
        .args(["--seconds", &(plan.seconds / plan.rounds as f64).to_string()])
        .env("RAYON_NUM_THREADS", plan.threads.to_string())
        .output()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "failed ({}): {}",
            output.status,
            text.lines().last().unwrap_or("no message")
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("failed: its output is not a sample: {error}"))
}
