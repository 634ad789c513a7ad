//! Times the kernels of [`bcl_kernels`], compared with the same functions composed of tensor operations.
//!
//! Sizes come from real work: in-batch scores of batches of 256 to 4,096, long rows as from a queue, the graphs of
//! `MovieLens`-100K and Gowalla, the stages of a `ResNet`. The kernel and its portable implementation alternate in rounds, so
//! that other work on the machine affects both alike. Times are medians over all rounds; a ratio is computed within each round.
//! A GPU computes in the background, so a run ends only when a value of its result has been read back.

mod benchmark;
mod case;
mod graphs;
mod images;
mod random;
mod scores;
mod tables;
mod timing;

pub use benchmark::{KernelBenchmark, KernelMeasurement};
pub use case::{Case, Implementations, Pass};
pub use timing::Timing;

use crate::{environment::Environment, matrix_product, memory};
use bcl_backend::Backend;

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelPlan {
    /// Names of kernels; empty for all.
    pub kernels: Vec<String>,
    /// Number of threads for kernels on the CPU.
    pub threads: usize,
    /// Seconds per kernel and size, over all rounds.
    pub seconds: f64,
}

/// Share of the available memory that a measurement may need.
const MEMORY_SHARE: f64 = 0.8;

/// Assumed number of tensors in a portable implementation that are as large as its largest: forward, backward, and a sort.
const ASSUMED_TENSORS: f64 = 16.0;

/// The names of all kernels, in the order in which they are measured.
pub fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for case in cases() {
        if !names.contains(&case.kernel) {
            names.push(case.kernel);
        }
    }
    names
}

/// Measures kernels on a backend. `progress` receives the name of the next measurement, and `finished` all results after each
/// one.
pub fn run(
    plan: &KernelPlan,
    backend: &Backend,
    mut progress: impl FnMut(&str),
    mut finished: impl FnMut(&KernelBenchmark),
) -> KernelBenchmark {
    let device = backend.training_device();
    let mut cases = cases();
    cases.retain(|case| plan.kernels.is_empty() || plan.kernels.iter().any(|name| name == case.kernel));
    let has_rates = cases.iter().any(|case| case.operations.is_some());
    let mut benchmark = KernelBenchmark {
        environment: Environment::read(plan.threads).on(backend.info()),
        product_gflops: has_rates.then(|| matrix_product::gflops(matrix_product::seconds(&device))),
        measurements: Vec::new(),
    };
    for case in cases {
        progress(&format!("{} {}", case.kernel, case.size));
        let mut measurement = KernelMeasurement {
            kernel: case.kernel.to_owned(),
            size: case.size.clone(),
            pass: case.pass,
            timing: None,
            gflops: None,
            note: shortage(&case, backend),
        };
        if measurement.note.is_none() {
            device.seed(0);
            let operations = case.operations;
            let timing = Timing::of(&case.prepare(&device), plan.seconds);
            measurement.gflops = operations.map(|operations| 1e-6 * operations / timing.kernel_ms.median);
            measurement.timing = Some(timing);
        }
        benchmark.measurements.push(measurement);
        finished(&benchmark);
    }
    benchmark
}

/// All cases. Quick ones come first, so that most results exist if time runs out.
pub fn cases() -> Vec<Case> {
    [images::cases(), tables::cases(), graphs::cases(), scores::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// Explains why a measurement would not fit into the device's memory, if so.
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
