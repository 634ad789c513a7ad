//! Measures a recommender's training step, part by part, and its evaluation, on planted interactions of any size.
//!
//! The steps use the loader, method, estimator and optimizer of training. As in training, the weights from before a step stay in memory until its loss
//! has been read. Beside the times stands what the system reports: page faults, the share of processor time in the kernel, and peak memory. The
//! evaluation's time is compared with the matrix product of the same users and items.

mod evaluation;
mod processor;
mod table;
mod training;

pub use evaluation::EvaluationTime;
pub use processor::ProcessorUse;
pub use table::ScaleBenchmark;
pub use training::{RecommenderPhases, StepTimes};

use crate::{environment::Environment, memory};
use bcl_data::{InteractionData, PlantedConfig};
use bcl_recipe::RecommenderRecipe;
use burn::tensor::Device;

/// Share of the interactions that is held out for evaluation.
const TEST_RATIO: f64 = 0.2;

/// What is measured.
#[derive(Debug, Clone)]
pub struct ScalePlan {
    /// The recipe, whose data are replaced.
    pub recipe: RecommenderRecipe,
    /// Number of users.
    pub users: usize,
    /// Number of items.
    pub items: usize,
    /// Number of training interactions, about.
    pub interactions: usize,
    /// Steps to measure, after three warm-up steps.
    pub steps: usize,
    /// Number of users to rank all items for, at most; 0 for no evaluation.
    pub evaluated_users: usize,
    /// Number of threads.
    pub threads: usize,
}

impl ScalePlan {
    /// The generator of interactions of this size.
    pub fn planted(&self) -> PlantedConfig {
        let per_user = self.interactions as f64 / self.users as f64 / (1.0 - TEST_RATIO);
        // With fewer, some users have no test item.
        let per_user = (per_user.round() as usize).max(5);
        PlantedConfig {
            num_users: self.users,
            num_items: self.items,
            // A user takes at most a third of the items of a community.
            num_communities: (self.items / per_user / 4).min(self.items / 12).clamp(2, 100),
            interactions_per_user: per_user,
            test_ratio: TEST_RATIO,
            ..PlantedConfig::default()
        }
    }
}

/// Generates the interactions, trains on them and evaluates. `progress` receives what comes next.
///
/// # Errors
/// Returns an error if a negative sampler cannot work on the data, or weights become infinite.
///
/// # Panics
/// Panics if the plan's [`planted`](ScalePlan::planted) data are out of range, or its recipe is.
pub fn run(plan: &ScalePlan, device: &Device, progress: impl Fn(&str)) -> Result<ScaleBenchmark, String> {
    progress("generating interactions");
    let data = plan.planted().generate();
    memory::forget_peak();
    let mut training = training::Training::new(plan, &data, device)?;
    progress("training");
    let steps = training.measure(plan.steps);
    let peak_training_mib = memory::peak();
    progress("evaluating");
    let evaluation = match plan.evaluated_users {
        0 => None,
        most => Some(evaluation::measure(&training.encoder(), &some_users(data, most))?),
    };
    Ok(ScaleBenchmark {
        environment: Environment::read(plan.threads),
        recipe: plan.recipe.clone(),
        users: plan.users,
        items: plan.items,
        interactions: training.num_interactions(),
        steps,
        peak_training_mib,
        evaluation,
        peak_mib: memory::peak(),
    })
}

/// The same data with the test interactions of the first users alone.
fn some_users(data: InteractionData, most: usize) -> InteractionData {
    let test = data.test.pairs().filter(|&(user, _)| (user as usize) < most);
    let test = bcl_data::Interactions::from_pairs(data.test.num_users(), data.test.num_items(), test);
    InteractionData { test, ..data }
}

#[cfg(test)]
mod tests;
