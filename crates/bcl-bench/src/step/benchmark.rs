//! The times of a step as tables and as JSON.

use super::{Phases, StepPlan, StepSample};
use crate::{
    environment::Environment,
    matrix_product,
    spread::{Spread, median},
};
use bcl_models::vision::{ImageEncoderConfig, Stem};
use bcl_recipe::{ImageRecipe, Precision};
use bcl_report::{Column, Table};
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
    /// Time of the first step of a process in seconds, which compiles kernels on a GPU; the longest of all rounds.
    #[serde(default)]
    pub first_seconds: Option<f64>,
    /// Time of objective, loss and backward alone, in seconds.
    pub loss_alone: Spread,
    /// The time of the loss alone relative to the same step: the median over all steps.
    pub loss_share: f64,
    /// Peak memory of a process in MiB.
    pub peak_mib: Option<f64>,
    /// How fast the encoder computes, if every view is encoded once per step.
    #[serde(default)]
    pub rates: Option<Rates>,
    /// Number of steps measured.
    pub repetitions: usize,
}

/// Rates of an encoder, in billions of floating point operations per second. Only convolutions and linear layers count as operations, two for
/// each multiplication with its addition, and twice as many backward as forward; the time includes all layers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Encoding all views.
    pub forward: f64,
    /// The backward passes of encoder and loss.
    pub backward: f64,
    /// The product of two matrices with 1,024 rows and columns, on the same device.
    pub product: f64,
}

impl Rates {
    fn new(recipe: &ImageRecipe, seconds: &Phases, product: f64) -> Option<Self> {
        // Other methods encode views with a second network, too, or with heads of their own; caching encodes them twice.
        if recipe.method.name() != "simclr" || recipe.training.gradient_cache.is_some() {
            return None;
        }
        let encoder = recipe.encoder.config();
        let sides = recipe.views.layout();
        let per_image: u64 = sides.iter().map(|&side| encoder.size(side).multiply_adds).sum();
        let forward = 2.0 * per_image as f64 * recipe.training.batch_size as f64;
        Some(Self {
            forward: 1e-9 * forward / seconds.forward,
            backward: 1e-9 * 2.0 * forward / seconds.backward,
            product: matrix_product::gflops(product),
        })
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |rate: f64| 100.0 * rate / self.product;
        write!(
            f,
            "forward {:.0} and backward {:.0} GFLOP/s, {:.0} % and {:.0} % of a matrix product of size {} ({:.0})",
            self.forward,
            self.backward,
            share(self.forward),
            share(self.backward),
            matrix_product::SIZE,
            self.product
        )
    }
}

impl StepBenchmark {
    /// Combines the rounds of each recipe that has any.
    pub(super) fn new(plan: &StepPlan, environment: Environment, samples: &[Vec<StepSample>]) -> Self {
        let measured = plan.recipes.iter().zip(samples).filter(|(_, rounds)| !rounds.is_empty());
        Self {
            environment,
            rounds: plan.rounds,
            measurements: measured
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
        let seconds = Phases::combine(&steps, median);
        let product = median(rounds.iter().map(|round| round.product).collect());
        Self {
            name: recipe.name.clone(),
            recipe: recipe.clone(),
            seconds,
            rates: Rates::new(recipe, &seconds, product),
            step: Spread::of(&totals),
            first_seconds: rounds.iter().map(|round| round.first_seconds).reduce(f64::max),
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
        for StepMeasurement { name, rates, .. } in &self.measurements {
            if let Some(rates) = rates {
                write!(f, "\n{name}: {rates}.")?;
            }
        }
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
    use bcl_recipe::from_toml;

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
            first_seconds: 100.0 * slower,
            steps: vec![step(slower)],
            loss_alone: vec![0.5 * slower],
            peak_mib: Some(slower),
            product: 1e-3 * slower,
        };
        let text = "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'ring'";
        let recipe: ImageRecipe = from_toml(text, "test", &[]).expect("it is whole");
        let measured = StepMeasurement::new(&recipe, &[sample(1.0), sample(10.0), sample(3.0)]);
        assert!((measured.loss_share - 0.05).abs() < 1e-12);
        assert_eq!((measured.step.median, measured.seconds.backward), (30.0, 15.0));
        assert_eq!((measured.peak_mib, measured.repetitions), (Some(10.0), 3));
        assert_eq!(measured.first_seconds, Some(1000.0));
    }

    #[test]
    fn rates_are_those_of_both_views_and_only_where_each_is_encoded_once() {
        let with = |more: &str| -> ImageRecipe {
            let text = format!(
                "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'info_nce'\ntraining.batch_size = 16\n{more}"
            );
            from_toml(&text, "test", &[]).expect("it is whole")
        };
        let seconds = Phases {
            forward: 2.0,
            backward: 8.0,
            ..Phases::default()
        };
        let recipe = with("");
        let per_view = 2e-9 * recipe.encoder.config().size(recipe.views.side).multiply_adds as f64;
        let rates = Rates::new(&recipe, &seconds, 0.5).expect("SimCLR encodes every view once");
        assert!((rates.forward - 16.0 * per_view).abs() < 1e-9 * rates.forward, "{rates:?}");
        assert!(
            (rates.backward - 0.5 * rates.forward).abs() < 1e-9 * rates.forward,
            "{rates:?}"
        );
        assert!((rates.product - 4.294_967_296).abs() < 1e-9, "{rates:?}");
        assert_eq!(Rates::new(&with("training.gradient_cache = 8"), &seconds, 0.5), None);
        assert_eq!(Rates::new(&with("method.kind = 'moco'"), &seconds, 0.5), None);
    }
}
