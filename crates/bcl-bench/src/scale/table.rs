//! The measurements as a table and as JSON.

use super::{EvaluationTime, ProcessorUse, StepTimes};
use crate::environment::Environment;
use bcl_recipe::RecommenderRecipe;
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct ScaleBenchmark {
    /// Machine and build.
    pub environment: Environment,
    /// The recipe, without its data.
    pub recipe: RecommenderRecipe,
    /// Number of users.
    pub users: usize,
    /// Number of items.
    pub items: usize,
    /// Number of training interactions.
    pub interactions: usize,
    /// The steps.
    pub steps: StepTimes,
    /// Peak memory in training, if the system reports it, in MiB.
    pub peak_training_mib: Option<f64>,
    /// The evaluation, if asked for.
    pub evaluation: Option<EvaluationTime>,
    /// Peak memory in MiB.
    pub peak_mib: Option<f64>,
}

impl ScaleBenchmark {
    /// Microseconds of training per interaction.
    pub fn per_interaction(&self) -> f64 {
        1e6 * self.steps.step.median / self.steps.batch_size as f64
    }

    /// Nanoseconds of training per interaction and negative.
    pub fn per_negative(&self) -> f64 {
        1e3 * self.per_interaction() / self.steps.negatives as f64
    }
}

impl fmt::Display for ScaleBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = &self.steps.step;
        let row = |name: &str, seconds: f64| {
            [
                name.to_owned(),
                format!("{:.2}", 1e3 * seconds),
                format!("{:.1} %", 100.0 * seconds / step.median),
            ]
        };
        let parts = self.steps.parts.named().map(|(name, seconds)| row(name, seconds));
        let rows = parts.into_iter().chain([row("step", step.median)]);
        let columns = [Column::text("part"), Column::number("ms"), Column::number("share")];
        Table::new(columns, rows).fmt(f)?;
        writeln!(
            f,
            "\nMedians of {} steps ({:.2} to {:.2} ms), {} interactions with {} negatives each, {:.2} us per interaction, {:.1} ns per negative.",
            self.steps.steps,
            1e3 * step.least,
            1e3 * step.most,
            self.steps.batch_size,
            self.steps.negatives,
            self.per_interaction(),
            self.per_negative()
        )?;
        if let Some(used) = &self.steps.used {
            writeln!(f, "{}", of_steps(used, self.steps.steps))?;
        }
        if let Some(EvaluationTime {
            users,
            seconds,
            product_seconds,
        }) = self.evaluation
        {
            writeln!(
                f,
                "Ranking all items for {users} users takes {seconds:.2} s, {:.2} times the {product_seconds:.2} s of the matrix product.",
                seconds / product_seconds
            )?;
        }
        let mib = |peak: Option<f64>| peak.map_or_else(|| "unknown".to_owned(), |peak| format!("{peak:.0} MiB"));
        writeln!(
            f,
            "Peak memory: {} in training, {} in all.",
            mib(self.peak_training_mib),
            mib(self.peak_mib)
        )?;
        write!(
            f,
            "{}, {} users, {} items, {} interactions. {}, {} threads.",
            self.recipe.encoder.name(),
            self.users,
            self.items,
            self.interactions,
            self.environment,
            self.environment.threads
        )
    }
}

fn of_steps(used: &ProcessorUse, steps: usize) -> String {
    format!(
        "{:.1} % of the processor time in the kernel, {:.0} page faults per step.",
        100.0 * used.kernel_share(),
        used.page_faults / steps as f64
    )
}
