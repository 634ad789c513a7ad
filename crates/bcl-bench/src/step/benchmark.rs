//! The times of a step as tables and as JSON.

use super::{Phases, StepConfig, StepPlan, StepSample};
use crate::{
    environment::Environment,
    spread::{Spread, median},
};
use bcl_models::vision::Stem;
use bcl_report::{Column, Table};
use bcl_train::recipe::Precision;
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct StepBenchmark {
    /// Machine and build.
    pub environment: Environment,
    /// The measured step.
    pub config: StepConfig,
    /// Number of rounds.
    pub rounds: usize,
    /// One entry per loss.
    pub measurements: Vec<StepMeasurement>,
}

/// The time of a step with one loss.
#[derive(Debug, Serialize, Deserialize)]
pub struct StepMeasurement {
    /// Name of the loss.
    pub loss: String,
    /// Times of the parts of a step in seconds, each the median over all steps.
    pub seconds: Phases,
    /// Time of the whole step in seconds.
    pub step: Spread,
    /// Time of scores, loss and backward alone, in seconds.
    pub loss_alone: Spread,
    /// The time of the loss alone relative to the same step: the median over all steps.
    pub loss_share: f64,
    /// Peak memory of a process in MiB.
    pub peak_mib: Option<f64>,
    /// Number of steps measured.
    pub repetitions: usize,
}

impl StepBenchmark {
    /// Combines the rounds of each loss.
    pub(super) fn new(plan: &StepPlan, environment: Environment, samples: &[Vec<StepSample>]) -> Self {
        let measurements = plan.losses.iter().zip(samples);
        Self {
            environment,
            config: plan.config.clone(),
            rounds: plan.rounds,
            measurements: measurements
                .map(|(loss, rounds)| StepMeasurement::new(loss.name(), rounds))
                .collect(),
        }
    }
}

impl StepMeasurement {
    fn new(loss: &str, rounds: &[StepSample]) -> Self {
        let steps: Vec<Phases> = rounds.iter().flat_map(|round| round.steps.clone()).collect();
        let alone: Vec<f64> = rounds.iter().flat_map(|round| round.loss_alone.clone()).collect();
        let totals: Vec<f64> = steps.iter().map(Phases::total).collect();
        let shares = alone.iter().zip(&totals).map(|(alone, total)| alone / total).collect();
        Self {
            loss: loss.to_owned(),
            seconds: Phases::combine(&steps, median),
            step: Spread::of(&totals),
            loss_alone: Spread::of(&alone),
            loss_share: median(shares),
            peak_mib: rounds.iter().filter_map(|round| round.peak_mib).reduce(f64::max),
            repetitions: steps.len(),
        }
    }

    fn cells(&self) -> Vec<String> {
        let parts = self.seconds.named().map(|(_, seconds)| milliseconds(seconds));
        let step = [self.step.median, self.step.least, self.step.most, self.loss_alone.median].map(milliseconds);
        let share = format!("{:.2} %", 100.0 * self.loss_share);
        let peak = self.peak_mib.map_or_else(|| "-".to_owned(), |peak| format!("{peak:.0}"));
        [self.loss.clone()]
            .into_iter()
            .chain(parts)
            .chain(step)
            .chain([share, peak])
            .collect()
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1}", 1e3 * seconds)
}

impl fmt::Display for StepBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = Phases::default().named().map(|(name, _)| name);
        let whole = ["step", "least", "most", "loss alone", "loss / step", "peak MiB"];
        let numbers = parts.into_iter().chain(whole).map(Column::number);
        let columns = [Column::text("loss")].into_iter().chain(numbers);
        Table::new(columns, self.measurements.iter().map(StepMeasurement::cells)).fmt(f)?;
        writeln!(f)?;
        let StepConfig {
            trunk,
            batch_size,
            gradient_cache,
            precision,
            side,
            ..
        } = &self.config;
        let at_a_time = gradient_cache.map_or_else(String::new, |images| format!(", encoded {images} at a time"));
        let bits = match precision {
            Precision::F32 => String::new(),
            fewer => format!(" in {fewer:?}").to_lowercase(),
        };
        let stem = match trunk.stem {
            Stem::Cifar => "CIFAR",
            Stem::Imagenet => "ImageNet",
        };
        write!(
            f,
            "Milliseconds per step, ResNet-{} of width {}, {stem} stem{bits}, {side} x {side} pixels, {batch_size} images with 2 views \
             each{at_a_time}, {} rounds, {}, {}, {} threads.",
            u64::from(trunk.depth),
            trunk.width,
            self.rounds,
            self.environment.backend,
            self.environment,
            self.environment.threads
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_each_step_even_where_the_machine_slows_down() {
        let step = |slower: f64| Phases {
            data: slower,
            forward: 2.0 * slower,
            loss: slower,
            backward: 5.0 * slower,
            optimizer: slower,
        };
        let sample = |slower: f64| StepSample {
            steps: vec![step(slower)],
            loss_alone: vec![0.5 * slower],
            peak_mib: Some(slower),
        };
        let measured = StepMeasurement::new("ring", &[sample(1.0), sample(10.0), sample(3.0)]);
        assert!((measured.loss_share - 0.05).abs() < 1e-12);
        assert_eq!((measured.step.median, measured.seconds.backward), (30.0, 15.0));
        assert_eq!((measured.peak_mib, measured.repetitions), (Some(10.0), 3));
    }
}
