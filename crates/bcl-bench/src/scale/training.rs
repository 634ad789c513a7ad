//! The steps of training, timed part by part.

use super::{ProcessorUse, ScalePlan};
use crate::{
    clock::Clock,
    spread::{Spread, median},
};
use bcl_core::{Estimator, Reduction};
use bcl_data::{InteractionData, Seed, negatives::NegativeSampler};
use bcl_methods::batches::InteractionBatch;
use bcl_methods::{Method, Recommendation};
use bcl_models::{Graph, Recommender};
use bcl_train::{
    kinds::interactions::loader::{InteractionLoader, LoaderOptions},
    training::{
        learned::Learned,
        step::{EpochPlan, PlannedLoader, Step, gradients},
    },
};
use burn::{
    data::dataloader::DataLoader,
    module::Module,
    optim::ModuleOptimizer,
    tensor::{Device, Tensor},
    train::TrainStep,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Steps before those that are measured: they allocate, start threads and fill caches.
const WARM_UP: usize = 3;

/// Times of the parts of a step in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RecommenderPhases {
    /// Drawing the negatives, and making tensors of the batch.
    pub sampler: f64,
    /// Propagation, if any, normalisation of rows, and gathering the users' rows.
    pub embeddings: f64,
    /// Dot products with positives and negatives, and the loss; fused, also the gradients of scores and anchors.
    pub scores_and_loss: f64,
    /// All other gradients: scattered into the tables, through normalisation and propagation.
    pub backward: f64,
    /// Updating the tables.
    pub optimizer: f64,
}

impl RecommenderPhases {
    /// Names and values, in the order of a step.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("sampler", self.sampler),
            ("embeddings", self.embeddings),
            ("scores and loss", self.scores_and_loss),
            ("backward", self.backward),
            ("optimizer", self.optimizer),
        ]
    }

    fn total(&self) -> f64 {
        self.named().iter().map(|(_, seconds)| seconds).sum()
    }

    /// The median of each part.
    fn medians(steps: &[Self]) -> Self {
        let of = |part: fn(&Self) -> f64| median(steps.iter().map(part).collect());
        Self {
            sampler: of(|step| step.sampler),
            embeddings: of(|step| step.embeddings),
            scores_and_loss: of(|step| step.scores_and_loss),
            backward: of(|step| step.backward),
            optimizer: of(|step| step.optimizer),
        }
    }
}

/// The measured steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepTimes {
    /// The median of each part in seconds.
    pub parts: RecommenderPhases,
    /// The whole step in seconds.
    pub step: Spread,
    /// Number of steps.
    pub steps: usize,
    /// Interactions per step.
    pub batch_size: usize,
    /// Negatives per interaction.
    pub negatives: usize,
    /// What all measured steps used, if the system reports it.
    pub used: Option<ProcessorUse>,
}

/// A training under way.
pub(super) struct Training {
    loader: InteractionLoader,
    /// `None` while the optimizer has it.
    learned: Option<Learned<Recommendation>>,
    optimizer: ModuleOptimizer,
    rate: f64,
    negatives: usize,
    device: Device,
}

impl Training {
    pub(super) fn new(plan: &ScalePlan, data: &InteractionData, device: &Device) -> Result<Self, String> {
        let (recipe, train, seed) = (&plan.recipe, &data.train, Seed(0));
        let density = train.density();
        let estimator = recipe.loss.estimator(density).map_err(|error| error.to_string())?;
        let estimator: Arc<dyn Estimator> = Arc::from(estimator.init());
        let sampler = NegativeSampler::new(&recipe.negatives, train, seed).map_err(|error| error.to_string())?;
        let options = LoaderOptions {
            batch_size: recipe.training.batch_size,
            gradient_cache: None,
            seed,
            device: device.clone(),
        };
        let epoch = EpochPlan {
            epoch: 0,
            first_step: 0,
            estimator: Some(estimator),
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
            learned: Some(Learned::new(method, recipe.optimizer.largest_global_norm())),
            optimizer: recipe.optimizer.init(),
            rate: recipe.optimizer.learning_rate,
            negatives: recipe.negatives.count().unwrap_or(recipe.training.batch_size - 1),
            device: device.clone(),
        })
    }

    pub(super) fn num_interactions(&self) -> usize {
        self.loader.num_samples()
    }

    /// The encoder without gradients.
    pub(super) fn encoder(&self) -> Recommender {
        let learned = self.learned.as_ref().expect("no step is under way");
        learned.method.encoder.valid()
    }

    /// Trains, and measures the steps after the first ones. Starts over after an epoch.
    pub(super) fn measure(&mut self, steps: usize) -> StepTimes {
        let loader = self.loader.clone();
        // Shuffling the interactions is part of an epoch, not of a step.
        let mut batches = loader.iter();
        let (mut times, mut before, mut batch_size) = (Vec::new(), None, 0);
        for number in 0..WARM_UP + steps {
            if number == WARM_UP {
                before = ProcessorUse::so_far();
            }
            let mut clock = Clock::new(&self.device);
            let step = batches.next().unwrap_or_else(|| {
                batches = loader.iter();
                batches.next().expect("there are interactions")
            });
            let step = step.expect("batches are made in memory");
            let sampler = clock.lap();
            batch_size = batch_size.max(step.batch.users.dims()[0]);
            let phases = self.step(step, &mut clock);
            if number >= WARM_UP {
                times.push(RecommenderPhases { sampler, ..phases });
            }
        }
        let totals: Vec<f64> = times.iter().map(RecommenderPhases::total).collect();
        StepTimes {
            parts: RecommenderPhases::medians(&times),
            step: Spread::of(&totals),
            steps,
            batch_size,
            negatives: self.negatives,
            used: ProcessorUse::since(before),
        }
    }

    fn step(&mut self, step: Step<InteractionBatch>, clock: &mut Clock) -> RecommenderPhases {
        let learned = self.learned.take().expect("the last step put it back");
        let mut phases = RecommenderPhases::default();
        let embeddings = learned.embed_batch(&step.batch, usize::MAX);
        phases.embeddings = clock.lap();
        let losses = step.losses(&learned, &embeddings, 0..learned.num_anchors(&step.batch));
        let loss = losses.reduce(Reduction::Mean);
        phases.scores_and_loss = clock.lap();
        let objective: Tensor<1> = match learned.penalty(&step.batch) {
            Some(penalty) => loss + penalty,
            None => loss,
        };
        let of_parameters = gradients(&learned, objective);
        phases.backward = clock.lap();
        let embeddings = embeddings.detached();
        learned.finish(step, embeddings);
        // As in training, where the loop keeps the weights until it has read the loss, so the optimizer cannot write into them.
        let kept = learned.clone();
        self.learned = Some(learned.optimize(&mut self.optimizer, self.rate.into(), of_parameters));
        phases.optimizer = clock.lap();
        drop(kept);
        phases
    }
}
