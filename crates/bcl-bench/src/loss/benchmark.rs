//! Time and memory of losses as tables and as JSON.

use super::{LossPlan, LossVariant, Outcome, Sample, growth};
use crate::{environment::Environment, spread::median};
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct LossBenchmark {
    /// Machine and build.
    pub environment: Environment,
    /// Embedding size.
    pub dim: usize,
    /// One entry per batch size and loss.
    pub measurements: Vec<LossMeasurement>,
    /// One entry per loss.
    pub growth: Vec<Growth>,
}

/// Time and memory of one loss at one batch size.
#[derive(Debug, Serialize, Deserialize)]
pub struct LossMeasurement {
    /// Name of the loss.
    pub loss: String,
    /// Samples per batch, `B`.
    pub batch_size: usize,
    /// Negatives per anchor, `N = 2 B - 2`; there are `2 B` anchors.
    pub num_negatives: usize,
    /// Median time of forward and backward in milliseconds.
    pub median_ms: Option<f64>,
    /// Time of the first forward and backward of a process in seconds, which compiles kernels on a GPU; the longest of all rounds.
    #[serde(default)]
    pub first_seconds: Option<f64>,
    /// Number of repetitions.
    pub repetitions: usize,
    /// Time relative to `InfoNCE` at this batch size.
    pub to_info_nce: Option<f64>,
    /// Peak memory above that before the first step, in MiB.
    pub extra_mib: Option<f64>,
    /// Why there is no time.
    pub note: Option<String>,
    /// Whether the measurement was tried and failed.
    pub failed: bool,
}

/// How the cost of a loss grows: exponents of the number of negatives N, fitted by least squares over the measured batch sizes.
/// The scores alone are `N + 2` rows of N, so a loss that uses all of them has at least the exponent 2.
#[derive(Debug, Serialize, Deserialize)]
pub struct Growth {
    /// Name of the loss.
    pub loss: String,
    /// Number of measured batch sizes.
    pub sizes: usize,
    /// Exponent of the time over all batch sizes.
    pub time: Option<f64>,
    /// Exponent of the time over the two largest, where fixed costs matter least.
    pub time_at_the_end: Option<f64>,
    /// Exponent of the memory over the two largest.
    pub memory_at_the_end: Option<f64>,
}

impl LossBenchmark {
    pub(super) fn new(plan: &LossPlan, environment: Environment) -> Self {
        Self {
            environment,
            dim: plan.dim,
            measurements: Vec::new(),
            growth: Vec::new(),
        }
    }

    /// Whether any measurement was tried and failed.
    pub fn failed(&self) -> bool {
        self.measurements.iter().any(|measurement| measurement.failed)
    }

    /// Adds the measurements of one batch size and fits the growth again.
    pub(super) fn add(&mut self, batch_size: usize, outcomes: Vec<(LossVariant, Outcome)>) {
        let info_nce: Option<Vec<f64>> = outcomes.iter().find_map(|(variant, outcome)| match outcome {
            Outcome::Measured(rounds) if variant.name() == "info_nce" => Some(rounds.iter().map(Sample::median_ms).collect()),
            _ => None,
        });
        for (variant, outcome) in outcomes {
            let mut measurement = LossMeasurement {
                loss: variant.name().to_owned(),
                batch_size,
                num_negatives: 2 * batch_size - 2,
                median_ms: None,
                first_seconds: None,
                repetitions: 0,
                to_info_nce: None,
                extra_mib: None,
                note: None,
                failed: matches!(outcome, Outcome::Failed(_)),
            };
            match outcome {
                Outcome::Measured(rounds) => {
                    let times: Vec<f64> = rounds.iter().flat_map(|round| round.times_ms.clone()).collect();
                    measurement.repetitions = times.len();
                    measurement.median_ms = Some(median(times));
                    measurement.first_seconds = rounds.iter().map(|round| round.first_seconds).reduce(f64::max);
                    measurement.to_info_nce = info_nce.as_ref().map(|reference| ratio(&rounds, reference));
                    measurement.extra_mib = rounds.iter().filter_map(|round| round.extra_mib).reduce(f64::max);
                }
                Outcome::Skipped(note) | Outcome::Failed(note) => measurement.note = Some(note),
            }
            self.measurements.push(measurement);
        }
        self.fit();
    }

    fn fit(&mut self) {
        let mut names: Vec<String> = Vec::new();
        for measurement in &self.measurements {
            if !names.contains(&measurement.loss) {
                names.push(measurement.loss.clone());
            }
        }
        self.growth = names.into_iter().map(|loss| self.growth_of(loss)).collect();
    }

    fn growth_of(&self, loss: String) -> Growth {
        let mut measured: Vec<&LossMeasurement> = self
            .measurements
            .iter()
            .filter(|measurement| measurement.loss == loss && measurement.median_ms.is_some())
            .collect();
        measured.sort_by_key(|measurement| measurement.num_negatives);
        let points = |cost: fn(&LossMeasurement) -> Option<f64>| -> Vec<(f64, f64)> {
            let point = |m: &&LossMeasurement| Some((m.num_negatives as f64, cost(m).filter(|cost| *cost > 0.0)?));
            measured.iter().filter_map(point).collect()
        };
        let (times, memories) = (points(|m| m.median_ms), points(|m| m.extra_mib));
        let end = |points: &[(f64, f64)]| growth::exponent(&points[points.len().saturating_sub(2)..]);
        Growth {
            loss,
            sizes: times.len(),
            time: growth::exponent(&times),
            time_at_the_end: end(&times),
            memory_at_the_end: end(&memories),
        }
    }

    /// The batch size at which a loss took the most memory, and that memory in MiB.
    pub(super) fn largest_memory(&self, loss: &str) -> Option<(usize, f64)> {
        self.measurements
            .iter()
            .filter(|measurement| measurement.loss == loss)
            .filter_map(|measurement| Some((measurement.batch_size, measurement.extra_mib?)))
            .max_by(|left, right| left.1.total_cmp(&right.1))
    }
}

/// The median over rounds of the time relative to the reference in the same round.
fn ratio(rounds: &[Sample], reference: &[f64]) -> f64 {
    let ratios = rounds
        .iter()
        .zip(reference)
        .map(|(round, reference)| round.median_ms() / reference);
    median(ratios.collect())
}

impl fmt::Display for LossBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = |numbers: &[&str]| {
            let numbers = numbers.iter().copied().map(Column::number);
            [Column::text("loss")].into_iter().chain(numbers).collect::<Vec<_>>()
        };
        let costs = columns(&["batch", "negatives", "ms", "to InfoNCE", "extra MiB", "repetitions"]);
        Table::new(costs, self.measurements.iter().map(LossMeasurement::cells)).fmt(f)?;
        writeln!(f)?;
        let growth = columns(&["sizes", "time ~ N^", "at the end", "memory at the end"]);
        Table::new(growth, self.growth.iter().map(Growth::cells)).fmt(f)?;
        writeln!(f)?;
        for measurement in &self.measurements {
            if let Some(note) = &measurement.note {
                writeln!(f, "{} at batch {}: {note}", measurement.loss, measurement.batch_size)?;
            }
        }
        write!(
            f,
            "Forward + backward on in-batch scores, {} dimensions, {}, {}, {} threads.",
            self.dim, self.environment.backend, self.environment, self.environment.threads
        )
    }
}

impl LossMeasurement {
    fn cells(&self) -> Vec<String> {
        vec![
            self.loss.clone(),
            self.batch_size.to_string(),
            self.num_negatives.to_string(),
            or_dash(self.median_ms, 2),
            or_dash(self.to_info_nce, 2),
            or_dash(self.extra_mib, 1),
            self.repetitions.to_string(),
        ]
    }
}

impl Growth {
    fn cells(&self) -> Vec<String> {
        vec![
            self.loss.clone(),
            self.sizes.to_string(),
            or_dash(self.time, 2),
            or_dash(self.time_at_the_end, 2),
            or_dash(self.memory_at_the_end, 2),
        ]
    }
}

fn or_dash(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benchmark() -> LossBenchmark {
        let plan = LossPlan {
            batch_sizes: Vec::new(),
            variants: Vec::new(),
            rounds: 1,
            dim: 8,
            threads: 1,
            seconds: 1.0,
        };
        LossBenchmark::new(&plan, Environment::read(1))
    }

    fn rounds(name: &str, milliseconds: &[f64]) -> (LossVariant, Outcome) {
        let sample = |&milliseconds: &f64| Sample {
            first_seconds: 0.1 * milliseconds,
            times_ms: vec![milliseconds],
            extra_mib: Some(2.0 * milliseconds),
        };
        let samples = milliseconds.iter().map(sample).collect();
        (LossVariant::named(name).expect("a known name"), Outcome::Measured(samples))
    }

    fn measured(name: &str, milliseconds: f64) -> (LossVariant, Outcome) {
        rounds(name, &[milliseconds])
    }

    #[test]
    fn ratios_are_to_info_nce_of_the_same_batch_size() {
        let mut benchmark = benchmark();
        benchmark.add(8, vec![measured("info_nce", 2.0), measured("hard", 3.0)]);
        benchmark.add(16, vec![measured("info_nce", 8.0), measured("hard", 20.0)]);
        let ratios: Vec<_> = benchmark.measurements.iter().map(|m| m.to_info_nce).collect();
        assert_eq!(ratios, [Some(1.0), Some(1.5), Some(1.0), Some(2.5)]);
    }

    #[test]
    fn a_machine_that_slows_down_between_rounds_does_not_move_the_ratio() {
        let mut benchmark = benchmark();
        benchmark.add(
            8,
            vec![rounds("info_nce", &[2.0, 20.0, 3.0]), rounds("hard", &[3.0, 30.0, 4.5])],
        );
        let hard = &benchmark.measurements[1];
        assert_eq!(
            (hard.to_info_nce, hard.median_ms, hard.first_seconds, hard.extra_mib),
            (Some(1.5), Some(4.5), Some(3.0), Some(60.0))
        );
    }

    #[test]
    fn skipped_and_failed_losses_have_a_note_and_no_growth() {
        let mut benchmark = benchmark();
        let variant = || LossVariant::named("hard").expect("a known name");
        benchmark.add(9, vec![measured("hard", 1.0)]);
        benchmark.add(17, vec![(variant(), Outcome::Skipped("skipped: too large".to_owned()))]);
        assert!(!benchmark.failed());
        benchmark.add(33, vec![(variant(), Outcome::Failed("failed: killed".to_owned()))]);
        assert!(benchmark.failed());
        assert_eq!((benchmark.growth[0].sizes, benchmark.growth[0].time), (1, None));
        let text = benchmark.to_string();
        assert!(text.contains("hard at batch 17: skipped: too large"), "{text}");
        assert_eq!(benchmark.largest_memory("hard"), Some((9, 2.0)));
    }

    #[test]
    fn the_final_growth_is_that_of_the_two_largest_sizes() {
        let mut benchmark = benchmark();
        // 4, 8 and 16 negatives: constant at first, then quadrupling.
        for (batch_size, milliseconds) in [(9, 4.0), (3, 1.0), (5, 1.0)] {
            benchmark.add(batch_size, vec![measured("ring", milliseconds)]);
        }
        let end = benchmark.growth[0].time_at_the_end.expect("three sizes");
        assert!((end - 2.0).abs() < 1e-12, "{end}");
    }
}
