//! What a loss costs: time and memory of forward and backward, beside `InfoNCE`, and how they grow with the batch.
//!
//! Every measurement runs in a process of its own, which makes its peak memory its own. The contenders take turns, several rounds a
//! batch size, so that whatever else the machine does hits all of them alike. A time is the median over all rounds; a ratio to `InfoNCE` is
//! taken in each round, and its median is shown.

mod all_pairs;
pub(crate) mod growth;
mod in_batch;
mod report;
mod sample;
mod variant;

pub use in_batch::InBatchLoss;
pub use report::{Benchmark, Growth, Measurement};
pub use sample::Sample;
pub use variant::{Contender, LARGEST_ALL_PAIRS};

use crate::{Place, environment::Environment, memory};
use bcl_train::backend::Backend;
use std::{path::Path, process::Command};

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Samples a batch; in-batch scores have `2 B` anchors with `2 B - 2` negatives each.
    pub batch_sizes: Vec<usize>,
    /// What to measure there.
    pub contenders: Vec<Contender>,
    /// Rounds in which they take turns.
    pub rounds: usize,
    /// Length of an embedding.
    pub dim: usize,
    /// Threads a measurement may use.
    pub threads: usize,
    /// Time to measure each contender for at each batch size, over all rounds.
    pub seconds: f64,
}

/// Share of the available memory that a measurement may be expected to take.
const MEMORY_SHARE: f64 = 0.8;

/// Tensors of the size of the negatives that a step is assumed to hold, as long as nothing has been measured.
const ASSUMED_TENSORS: f64 = 24.0;

/// The name of the hidden verb with which this program measures one contender.
pub const SAMPLE_VERB: &str = "loss-sample";

/// Measures everything on a backend; `program` is this program, started again for each measurement; `progress` hears what comes next,
/// and `finished` what there is after each batch size.
pub fn run(
    plan: &Plan,
    backend: &Backend,
    program: &Path,
    mut progress: impl FnMut(&str),
    mut finished: impl FnMut(&Benchmark),
) -> Benchmark {
    let mut benchmark = Benchmark::new(plan, Environment::read(plan.threads).on(backend.info()));
    for &batch_size in &plan.batch_sizes {
        let contenders = plan.contenders.iter().filter(|contender| contender.takes_part(batch_size));
        let mut samples: Vec<(Contender, Outcome)> = contenders
            .map(|contender| {
                let outcome = match shortage(&benchmark, backend, contender, batch_size) {
                    Some(shortage) => Outcome::Skipped(shortage),
                    None => Outcome::Measured(Vec::new()),
                };
                (contender.clone(), outcome)
            })
            .collect();
        for round in 1..=plan.rounds {
            progress(&format!("batch {batch_size}: round {round} of {}", plan.rounds));
            for (contender, outcome) in &mut samples {
                if let Outcome::Measured(rounds) = outcome {
                    match start(plan, backend, program, contender, batch_size) {
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

/// What became of a contender at a batch size.
#[derive(Debug)]
enum Outcome {
    /// A sample a round.
    Measured(Vec<Sample>),
    Skipped(String),
    Failed(String),
}

/// Says so where a measurement would not fit into the memory of its device.
fn shortage(benchmark: &Benchmark, backend: &Backend, contender: &Contender, batch_size: usize) -> Option<String> {
    let available = memory::of(backend.info())?;
    let entries = |batch_size: usize| (2 * batch_size) as f64 * (2 * batch_size - 2) as f64;
    let expected = match benchmark.largest_memory(contender.name()) {
        Some((measured_at, extra)) => extra * entries(batch_size) / entries(measured_at),
        None => ASSUMED_TENSORS * 4.0 * entries(batch_size) / f64::from(1 << 20),
    };
    (expected > MEMORY_SHARE * available)
        .then(|| format!("skipped: needs about {expected:.0} MiB, but only {available:.0} MiB are available"))
}

/// Measures one contender in a new process.
fn start(plan: &Plan, backend: &Backend, program: &Path, contender: &Contender, batch_size: usize) -> Result<Sample, String> {
    let output = Command::new(program)
        .arg(SAMPLE_VERB)
        .args(Place::arguments(backend))
        .args(["--contender", contender.name()])
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
    serde_json::from_slice(&output.stdout).map_err(|error| format!("failed: its answer is no sample: {error}"))
}
