//! The times of a step as tables and as JSON.

use super::{Phases, StepPlan, StepSample};
use crate::{
    environment::Environment,
    spread::{Spread, median},
};
use bcl_models::vision::{ImageEncoderConfig, Stem};
use bcl_report::{Column, Table};
use bcl_train::recipe::{ImageRecipe, Precision};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct StepBenchmark {
    /// Machine and build.
    pub environment: Environment,
    /// Number of rounds.
    pub rounds: usize,
    /// One entry per recipe.
    pub measurements: Vec<StepMeasurement>,
}

/// The time of a step of one recipe.
#[derive(Debug, Serialize, Deserialize)]
pub struct StepMeasurement {
    /// Name of the recipe.
    pub name: String,
    /// The recipe.
    pub recipe: ImageRecipe,
    /// Times of the parts of a step in seconds, each the median over all steps.
    pub seconds: Phases,
    /// Time of the whole step in seconds.
    pub step: Spread,
    /// Time of objective, loss and backward alone, in seconds.
    pub loss_alone: Spread,
    /// The time of the loss alone relative to the same step: the median over all steps.
    pub loss_share: f64,
    /// Peak memory of a process in MiB.
    pub peak_mib: Option<f64>,
    /// Number of steps measured.
    pub repetitions: usize,
}

impl StepBenchmark {
    /// Combines the rounds of each recipe.
    pub(super) fn new(plan: &StepPlan, environment: Environment, samples: &[Vec<StepSample>]) -> Self {
        let measurements = plan.recipes.iter().zip(samples);
        Self {
            environment,
            rounds: plan.rounds,
            measurements: measurements
                .map(|(recipe, rounds)| StepMeasurement::new(recipe, rounds))
                .collect(),
        }
    }
}

impl StepMeasurement {
    fn new(recipe: &ImageRecipe, rounds: &[StepSample]) -> Self {
        let steps: Vec<Phases> = rounds.iter().flat_map(|round| round.steps.clone()).collect();
        let alone: Vec<f64> = rounds.iter().flat_map(|round| round.loss_alone.clone()).collect();
        let totals: Vec<f64> = steps.iter().map(Phases::total).collect();
        let shares = alone.iter().zip(&totals).map(|(alone, total)| alone / total).collect();
        Self {
            name: recipe.name.clone(),
            recipe: recipe.clone(),
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
        [self.name.clone()]
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
        let columns = [Column::text("step")].into_iter().chain(numbers);
        Table::new(columns, self.measurements.iter().map(StepMeasurement::cells)).fmt(f)?;
        writeln!(f)?;
        let environment = &self.environment;
        write!(
            f,
            "Milliseconds per step, {} rounds, {}, {environment}, {} threads.",
            self.rounds, environment.backend, environment.threads
        )?;
        let sizes: Vec<String> = self
            .measurements
            .iter()
            .map(|measurement| size(&measurement.recipe))
            .collect();
        match sizes.first() {
            Some(first) if sizes.iter().all(|size| size == first) => write!(f, "\n{first}."),
            _ => {
                let names = self.measurements.iter().map(|measurement| &measurement.name);
                names.zip(sizes).try_for_each(|(name, size)| write!(f, "\n{name}: {size}."))
            }
        }
    }
}

/// The encoder of a step, and what it encodes.
fn size(recipe: &ImageRecipe) -> String {
    let ImageEncoderConfig { trunk, .. } = recipe.encoder.config();
    let stem = match trunk.stem {
        Stem::Cifar => "CIFAR",
        Stem::Imagenet => "ImageNet",
    };
    let bits = match recipe.training.precision {
        Precision::F32 => String::new(),
        fewer => format!(" in {fewer:?}").to_lowercase(),
    };
    let cache = recipe.training.gradient_cache;
    let at_a_time = cache.map_or_else(String::new, |images| format!(", encoded {images} at a time"));
    let sides = recipe.views.layout();
    let views = if sides.len() == 1 { "view" } else { "views" };
    format!(
        "ResNet-{} of width {}, {stem} stem{bits}, {side} x {side} pixels, {} images with {} {views} each{at_a_time}",
        u64::from(trunk.depth),
        trunk.width,
        recipe.training.batch_size,
        sides.len(),
        side = recipe.views.side,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_train::recipe::from_toml;

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
        let text = "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'ring'";
        let recipe: ImageRecipe = from_toml(text, "test", &[]).expect("it is whole");
        let measured = StepMeasurement::new(&recipe, &[sample(1.0), sample(10.0), sample(3.0)]);
        assert!((measured.loss_share - 0.05).abs() < 1e-12);
        assert_eq!((measured.step.median, measured.seconds.backward), (30.0, 15.0));
        assert_eq!((measured.peak_mib, measured.repetitions), (Some(10.0), 3));
    }
}
