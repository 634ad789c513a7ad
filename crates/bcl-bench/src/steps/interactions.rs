//! The step of a recommender and its evaluation, on planted interactions of any size.

use super::{Timing, Training};
use crate::timing::{Case, Turn};
use bcl_core::Estimator;
use bcl_data::{InteractionData, PlantedConfig, Seed, negatives::NegativeSampler};
use bcl_eval::ranking::{EmbeddingScorer, RankingEvaluator};
use bcl_methods::step::Step;
use bcl_methods::{Recommendation, batches::InteractionBatch};
use bcl_models::{Embeddings, Graph};
use bcl_recipe::{DataFacts, RecommenderRecipe};
use bcl_train::{
    kinds::interactions::loader::{InteractionLoader, LoaderOptions},
    training::{
        learned::Learned,
        plan::{EpochPlan, PlannedLoader},
    },
};
use burn::{data::dataloader::DataLoader, module::Module, tensor::Device};
use std::{hint::black_box, sync::Arc};

/// Share of the interactions that is held out for evaluation.
const TEST_RATIO: f64 = 0.2;

/// Users per matrix product: their scores fit into the caches.
const USERS_PER_PRODUCT: usize = 64;

/// Ranking cutoff.
const CUTOFF: usize = 20;

/// The generator of about so many training interactions.
pub fn planted(users: usize, items: usize, interactions: usize) -> PlantedConfig {
    let per_user = interactions as f64 / users as f64 / (1.0 - TEST_RATIO);
    // With fewer, some users have no test item.
    let per_user = (per_user.round() as usize).max(5);
    PlantedConfig {
        num_users: users,
        num_items: items,
        // A user takes at most a third of the items of a community.
        num_communities: (items / per_user / 4).min(items / 12).clamp(2, 100),
        interactions_per_user: per_user,
        test_ratio: TEST_RATIO,
        ..PlantedConfig::default()
    }
}

/// A recommender in training.
pub struct Interactions {
    loader: InteractionLoader,
    training: Training<Recommendation>,
}

impl Interactions {
    /// Prepares training on a device that tracks gradients. The steps use the loader, method, estimator and optimizer of training.
    ///
    /// # Errors
    /// Returns an error if the loss or a negative sampler cannot work on the data.
    pub fn new(recipe: &RecommenderRecipe, data: &InteractionData, device: &Device) -> Result<Self, String> {
        let (train, seed) = (&data.train, Seed(0));
        let estimator = recipe.loss.estimator(DataFacts::of_density(train.density()));
        let estimator = estimator.map_err(|error| error.to_string())?;
        let estimator: Arc<dyn Estimator> = Arc::from(estimator.init());
        let sampler = NegativeSampler::new(&recipe.negatives, train, seed).map_err(|error| error.to_string())?;
        let options = LoaderOptions {
            batch_size: recipe.training.batch_size,
            gradient_cache: recipe.training.gradient_cache,
            seed,
            device: device.clone(),
        };
        let epoch = EpochPlan {
            epoch: 0,
            first_step: 0,
            estimator: Some(estimator),
            detected: None,
        };
        let graph = Graph {
            num_users: train.num_users(),
            num_items: train.num_items(),
            edges: train.pairs().collect(),
        };
        let method = Recommendation {
            encoder: recipe.encoder.init(&graph, seed.named("init").0, device),
            l2: recipe.optimizer.l2,
        };
        Ok(Self {
            loader: InteractionLoader::new(train, Arc::new(sampler), None, epoch, options),
            training: Training {
                learned: Some(Learned::new(method, recipe.optimizer.largest_global_norm())),
                optimizer: recipe.optimizer.init(),
                rate: recipe.optimizer.learning_rate,
                device: device.clone(),
                timing: Timing::Parts,
            },
        })
    }

    /// Number of training interactions.
    pub fn num_interactions(&self) -> usize {
        self.loader.num_samples()
    }

    /// The training step. Starts over after an epoch.
    pub fn step(&mut self) -> Case<'_> {
        let Self { loader, training } = self;
        let loader = &*loader;
        // Shuffling the interactions is part of an epoch, not of a step.
        let mut batches = loader.iter();
        Case::in_parts("step", move || -> Turn {
            training.turn(|_| -> Step<InteractionBatch> {
                let step = batches.next().unwrap_or_else(|| {
                    batches = loader.iter();
                    batches.next().expect("there are interactions")
                });
                step.expect("batches are made in memory")
            })
        })
    }

    /// Ranking all items for the first users with test interactions, and the matrix products of as many users with all items.
    ///
    /// # Panics
    /// Panics on its first turn if weights have become infinite.
    pub fn evaluation(&self, data: InteractionData, most: usize) -> [Case<'static>; 2] {
        let test = data.test.pairs().filter(|&(user, _)| (user as usize) < most);
        let test = bcl_data::Interactions::from_pairs(data.test.num_users(), data.test.num_items(), test);
        let embeddings = self.training.learned().method.encoder.valid().embeddings();
        let evaluator = RankingEvaluator::new(&[CUTOFF], &data.train, &test);
        let scorer = EmbeddingScorer::new(embeddings.clone());
        let num_users = evaluator.num_evaluated_users();
        let Embeddings { users, items } = embeddings;
        let items = items.transpose();
        [
            Case::new(format!("ranking all items for {num_users} users"), move || {
                black_box(evaluator.evaluate(&scorer).expect("weights are finite"));
            }),
            Case::new("their matrix products", move || {
                for start in (0..num_users).step_by(USERS_PER_PRODUCT) {
                    let block = users.clone().slice_dim(0, start..(start + USERS_PER_PRODUCT).min(num_users));
                    black_box(block.matmul(items.clone()));
                }
            }),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_makes_about_as_many_interactions_as_asked_for() {
        for (users, items, interactions) in [(943, 1682, 80_000), (200_000, 100_000, 5_000_000), (100, 30, 400)] {
            let config = planted(users, items, interactions);
            assert!(config.check().is_ok(), "{:?}", config.check());
            let train = users as f64 * config.interactions_per_user as f64 * (1.0 - TEST_RATIO);
            assert!(
                (train / interactions as f64 - 1.0).abs() < 0.1,
                "{train} are not {interactions}"
            );
        }
    }
}
