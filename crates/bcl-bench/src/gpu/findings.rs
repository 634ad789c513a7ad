//! Summarises the results of jobs in a few lines each. A result may be incomplete; missing entries are left out.

use super::{JobReport, ProfileReport, TrainingReport};
use crate::{
    Spread,
    kernels::KernelBenchmark,
    loss::{Growth, LossBenchmark},
    parity::{ParityResult, Precision},
    spread::median,
    step::StepBenchmark,
};
use bcl_report::result::Metrics;

impl JobReport {
    /// One line per finding. Times of PyTorch are compared with the report before.
    pub(super) fn findings(&self, before: Option<&Self>) -> Vec<String> {
        match self {
            Self::Parity(result) => parity(result),
            Self::Kernels(benchmark) => kernels(benchmark),
            Self::Loss(benchmark) => losses(benchmark),
            Self::Step(benchmark) => steps(benchmark),
            Self::Training(runs) => runs.iter().flat_map(training).collect(),
            Self::Profile(report) => profile(report),
            Self::Torch(measurements) => measurements.iter().map(|one| one.beside(before)).collect(),
        }
    }
}

/// How many comparisons exceed their tolerance, by precision.
fn parity(result: &ParityResult) -> Vec<String> {
    let line = |precision: Precision| {
        let cases: Vec<_> = result.estimators.iter().filter(|row| row.precision == precision).collect();
        let rows: Vec<_> = result.weights.iter().filter(|row| row.precision == precision).collect();
        if cases.is_empty() && rows.is_empty() {
            return None;
        }
        let failed = cases.iter().map(|row| row.failed).chain(rows.iter().map(|row| row.failed));
        let rounded: usize = cases.iter().map(|row| row.rounded).sum();
        Some(format!(
            "{}: {} cases and {} rows of weights, {} out of tolerance{}",
            precision.name(),
            cases.iter().map(|row| row.cases).sum::<usize>(),
            rows.iter().map(|row| row.rows).sum::<usize>(),
            failed.sum::<usize>(),
            if rounded > 0 {
                format!(", {rounded} because of rounding only")
            } else {
                String::new()
            }
        ))
    };
    [Precision::F64, Precision::F32].into_iter().filter_map(line).collect()
}

/// The time of each kernel at its slowest size, and how much slower Burn's own operations are.
fn kernels(benchmark: &KernelBenchmark) -> Vec<String> {
    let measured = || benchmark.measurements.iter().filter_map(|one| Some((one, one.timing?)));
    let mut names: Vec<&str> = Vec::new();
    for (measurement, _) in measured() {
        if !names.contains(&measurement.kernel.as_str()) {
            names.push(&measurement.kernel);
        }
    }
    let line = |name: &str| {
        let of = || measured().filter(|(measurement, _)| measurement.kernel == name);
        let ratios: Vec<f64> = of().map(|(_, timing)| timing.ratio.median).collect();
        let Spread { least, most, .. } = Spread::of(&ratios);
        let (slowest, timing) = of().max_by(|(_, one), (_, other)| one.kernel_ms.median.total_cmp(&other.kernel_ms.median))?;
        Some(format!(
            "{name}: {:.3} ms at {}; Burn's own operations take {least:.1} to {most:.1} times as long",
            timing.kernel_ms.median, slowest.size
        ))
    };
    names.into_iter().filter_map(line).collect()
}

/// The cost of each loss at the largest batch measured, and how it grows.
fn losses(benchmark: &LossBenchmark) -> Vec<String> {
    let line = |growth: &Growth| {
        let measured = benchmark.measurements.iter().filter(|one| one.loss == growth.loss);
        let largest = measured
            .filter(|one| one.median_ms.is_some())
            .max_by_key(|one| one.batch_size)?;
        let exponent =
            |power: Option<f64>, name: &str| power.map_or_else(String::new, |power| format!(", {name} ~ N^{power:.2}"));
        let relative = largest.to_info_nce.filter(|_| growth.loss != "info_nce");
        Some(format!(
            "{}: {:.1} ms at B = {}{}{}{}{}",
            growth.loss,
            largest.median_ms?,
            largest.batch_size,
            relative.map_or_else(String::new, |ratio| format!(", {ratio:.2} x InfoNCE")),
            exponent(growth.time_at_the_end, "time"),
            exponent(growth.memory_at_the_end, "memory"),
            first_call(largest.first_seconds)
        ))
    };
    benchmark.growth.iter().filter_map(line).collect()
}

/// The time of the first call, if it is known.
fn first_call(seconds: Option<f64>) -> String {
    seconds.map_or_else(String::new, |seconds| {
        format!(", first call {seconds:.1} s (compiles or loads kernels)")
    })
}

/// The time per step and the loss's share of it.
fn steps(benchmark: &StepBenchmark) -> Vec<String> {
    let lines = benchmark.measurements.iter().map(|measurement| {
        format!(
            "{} {:.1} ms per step, {:.2} % of it in the loss{}",
            measurement.name,
            1e3 * measurement.step.median,
            100.0 * measurement.loss_share,
            first_call(measurement.first_seconds)
        )
    });
    lines.collect()
}

/// The metrics that a short training reports, with their labels.
const SHOWN: [(&str, &str); 3] = [("probe_top1", "probe"), ("knn_top1", "neighbours"), ("ndcg@20", "NDCG@20")];

/// The epochs of a training run and its final metrics. Kernels are compiled in the first epoch.
fn training(report: &TrainingReport) -> Vec<String> {
    let mut epochs = report.epochs.iter().map(|epoch| epoch.train_seconds);
    let first = epochs.next().map(|first| {
        let others: Vec<f64> = epochs.collect();
        let median = match others.len() {
            0 => String::new(),
            count => format!(", median of the other {count}: {:.2} s", median(others)),
        };
        format!("first epoch {first:.1} s (compiles or loads kernels){median}")
    });
    let metrics = report.result.as_ref().map(|result| shown(&result.validation.metrics));
    let findings = first.into_iter().chain(metrics.filter(|text| !text.is_empty()));
    findings.map(|finding| format!("{}: {finding}", report.run)).collect()
}

/// The number of kernels that are shown.
const DEAREST: usize = 10;

/// The launches of a step, and the kernels that take the most time.
fn profile(report: &ProfileReport) -> Vec<String> {
    let (launches, ms) = (report.launches, report.ms);
    let all = if report.one_step {
        format!("{launches} launches per step, {ms:.1} ms in kernels")
    } else {
        format!("no step repeats at the end of the log; in all of it {launches} launches, {ms:.1} ms in kernels")
    };
    let kernels = report.kernels.iter().take(DEAREST).map(|kernel| {
        let share = 100.0 * kernel.share;
        format!(
            "{share:.1} %, {:.2} ms in {} launches: {}",
            kernel.ms, kernel.launches, kernel.name
        )
    });
    [all].into_iter().chain(kernels).collect()
}

fn shown(metrics: &Metrics) -> String {
    let metric = |(key, name): (&str, &str)| Some(format!("{name} {:.4}", metrics.get(key)?));
    SHOWN.into_iter().filter_map(metric).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn read<T: DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn environment() -> Value {
        serde_json::to_value(crate::Environment::read(1)).unwrap()
    }

    #[test]
    fn parity_is_summarised_by_precision() {
        let case = |precision: &str, failed: u32, rounded: u32| {
            json!({
                "precision": precision, "estimator": "hard", "tolerance": 1.0, "cases": 10, "rounded": rounded, "failed": failed,
                "loss": 0.0, "gradient": 0.0, "negative_mass": null,
            })
        };
        let row = json!({ "precision": "f64", "column": "ecdf", "tolerance": 1.0, "rows": 4, "failed": 1, "worst": 0.0 });
        let result = read(json!({
            "file": "a", "backend": "flex", "device": "d", "passed": false, "failures": [], "rounded": [],
            "estimators": [case("f64", 0, 0), case("f64", 2, 0), case("f32", 0, 3)], "weights": [row],
        }));
        assert_eq!(
            parity(&result),
            [
                "f64: 20 cases and 4 rows of weights, 3 out of tolerance",
                "f32: 10 cases and 0 rows of weights, 0 out of tolerance, 3 because of rounding only",
            ]
        );
    }

    #[test]
    fn a_kernel_is_summarised_by_its_slowest_size() {
        let entry = |size: &str, ms: f64, ratio: f64| {
            let spread = |value: f64| json!({ "median": value, "least": value, "most": value });
            json!({
                "kernel": "mass", "size": size, "pass": "forward", "kernel_ms": spread(ms), "portable_ms": spread(ms), "ratio": spread(ratio),
                "rounds": 5, "repetitions": 5, "note": null,
            })
        };
        let skipped = json!({ "kernel": "mass", "size": "huge", "pass": "forward", "note": "skipped" });
        let measurements = json!([entry("small", 1.0, 9.0), entry("large", 5.0, 2.0), skipped]);
        assert_eq!(
            kernels(&read(json!({ "environment": environment(), "measurements": measurements }))),
            ["mass: 5.000 ms at large; Burn's own operations take 2.0 to 9.0 times as long"]
        );
    }

    #[test]
    fn a_loss_is_summarised_by_the_largest_batch_measured() {
        let entry = |batch: u32, ms: Option<f64>| {
            json!({
                "loss": "bayesian", "batch_size": batch, "num_negatives": 2 * batch - 2, "median_ms": ms, "first_seconds": 4.25,
                "repetitions": 3, "to_info_nce": 1.25, "extra_mib": null, "note": null, "failed": false,
            })
        };
        let growth = json!([{ "loss": "bayesian", "sizes": 2, "time": 2.0, "time_at_the_end": 2.0, "memory_at_the_end": null }]);
        let measurements = json!([entry(256, Some(1.0)), entry(4096, Some(30.0)), entry(16384, None)]);
        let benchmark = json!({ "environment": environment(), "dim": 8, "measurements": measurements, "growth": growth });
        assert_eq!(
            losses(&read(benchmark)),
            ["bayesian: 30.0 ms at B = 4096, 1.25 x InfoNCE, time ~ N^2.00, first call 4.2 s (compiles or loads kernels)"]
        );
    }

    #[test]
    fn a_training_run_is_summarised_by_its_epochs_and_metrics() {
        let epoch = |phase: &str, seconds: f64| {
            read(json!({
                "phase": phase, "epoch": 1, "loss": 1.0, "omega_quantiles": [], "train_seconds": seconds, "evaluation_seconds": 0.0,
            }))
        };
        let run = |run: &str, seconds: &[f64]| TrainingReport {
            run: run.to_owned(),
            epochs: seconds.iter().map(|&seconds| epoch("selection", seconds)).collect(),
            result: None,
        };
        let runs = vec![run("bayesian-0", &[9.0, 0.5, 4.0, 0.25]), run("infonce-0", &[2.0])];
        assert_eq!(
            JobReport::Training(runs).findings(None),
            [
                "bayesian-0: first epoch 9.0 s (compiles or loads kernels), median of the other 3: 0.50 s",
                "infonce-0: first epoch 2.0 s (compiles or loads kernels)",
            ]
        );
        let metrics = [("probe_top1", 0.5), ("knn_top1", 0.25), ("uniformity", -2.0)];
        let metrics: Metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(shown(&metrics), "probe 0.5000, neighbours 0.2500");
        assert!(training(&TrainingReport::default()).is_empty());
    }

    #[test]
    fn a_profile_is_summarised_by_its_dearest_kernels() {
        let names: Vec<String> = (0..12).map(|name| format!("k{name}")).collect();
        let launches: Vec<_> = names.iter().map(|name| (&**name, 2.5)).collect();
        let lines = profile(&ProfileReport::new(true, &launches));
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[0], "12 launches per step, 30.0 ms in kernels");
        assert_eq!(lines[1], "8.3 %, 2.50 ms in 1 launches: k0");
    }
}
