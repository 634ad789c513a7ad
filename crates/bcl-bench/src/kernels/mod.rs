//! What the kernels of [`bcl_kernels`] take, beside the same composed of tensor operations.
//!
//! Sizes are those of real work: in-batch scores of batches of 256 to 4,096, long rows as of a queue, the graphs of `MovieLens`-100K and
//! Gowalla, the stages of a `ResNet`. Kernel and portable body take turns round by round, so that whatever else the machine does hits both alike;
//! times are medians over all rounds, ratios are taken in each round. A run ends when a value of its result has been read back, because a
//! GPU computes in the background.

mod case;
mod graphs;
mod images;
mod random;
mod report;
mod scores;
mod tables;
mod timing;

pub use case::{Case, Contest, Pass};
pub use report::{KernelBenchmark, KernelMeasurement};
pub use timing::Timing;

use crate::{environment::Environment, memory};
use bcl_train::backend::Backend;

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelPlan {
    /// Names of kernels; all where there is none.
    pub kernels: Vec<String>,
    /// Threads that the processor's kernels use.
    pub threads: usize,
    /// Time to measure each kernel for at each size, over all rounds.
    pub seconds: f64,
}

/// Share of the available memory that a measurement may be expected to take.
const MEMORY_SHARE: f64 = 0.8;

/// Tensors of the size of its largest that a portable body is assumed to hold: forward, backward, and a sort on the way.
const ASSUMED_TENSORS: f64 = 16.0;

/// The kernels there are, each once, in the order in which they are measured.
pub fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for case in cases() {
        if !names.contains(&case.kernel) {
            names.push(case.kernel);
        }
    }
    names
}

/// Measures kernels on a backend; `progress` hears what comes next, and `finished` what there is after each measurement.
pub fn run(
    plan: &KernelPlan,
    backend: &Backend,
    mut progress: impl FnMut(&str),
    mut finished: impl FnMut(&KernelBenchmark),
) -> KernelBenchmark {
    let device = backend.training_device();
    let mut benchmark = KernelBenchmark {
        environment: Environment::read(plan.threads).on(backend.info()),
        measurements: Vec::new(),
    };
    let asked = |case: &Case| plan.kernels.is_empty() || plan.kernels.iter().any(|name| name == case.kernel);
    for case in cases().into_iter().filter(asked) {
        progress(&format!("{} {}", case.kernel, case.size));
        let mut measurement = KernelMeasurement {
            kernel: case.kernel.to_owned(),
            size: case.size.clone(),
            pass: case.pass,
            timing: None,
            note: shortage(&case, backend),
        };
        if measurement.note.is_none() {
            device.seed(0);
            measurement.timing = Some(Timing::of(&case.prepare(&device), plan.seconds));
        }
        benchmark.measurements.push(measurement);
        finished(&benchmark);
    }
    benchmark
}

/// Everything there is to measure. What is quick comes first, so that much is there when time is up.
pub fn cases() -> Vec<Case> {
    [images::cases(), tables::cases(), graphs::cases(), scores::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// Says so where a measurement would not fit into the memory of its device.
fn shortage(case: &Case, backend: &Backend) -> Option<String> {
    let available = memory::of(backend.info())?;
    let expected = ASSUMED_TENSORS * 4.0 * case.entries as f64 / f64::from(1 << 20);
    (expected > MEMORY_SHARE * available)
        .then(|| format!("skipped: may need {expected:.0} MiB, but only {available:.0} MiB are available"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_measurement_is_made_twice() {
        let mut seen = HashSet::new();
        for case in cases() {
            let key = (case.kernel, case.size.clone(), case.pass == Pass::Forward);
            assert!(seen.insert(key), "{} {} is there twice", case.kernel, case.size);
        }
    }
}
