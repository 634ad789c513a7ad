//! The data loader of interactions, which prepares batches with negatives.

use crate::training::plan::{EpochPlan, PlannedLoader};
use bcl_core::{Estimator, Excluded};
use bcl_data::{Interactions, Seed, dataset::Truth, negatives::NegativeSampler};
use bcl_methods::batches::{InteractionBatch, LogQ, Negatives};
use bcl_methods::step::Step;
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::{Device, Int, Tensor, TensorData},
};
use rand::seq::SliceRandom;
use std::sync::{Arc, Mutex};

/// Prepares batches of interactions with their negatives.
///
/// Order and negatives are counter-based: step s of epoch e is the same after an interruption.
#[derive(Debug, Clone)]
pub struct InteractionLoader {
    pairs: Arc<Vec<(u32, u32)>>,
    sampler: Arc<NegativeSampler>,
    truth: Option<Arc<Truth>>,
    /// Log probability with which each item is drawn as a negative, `[num_items]`, for the log-Q correction.
    log_q: Option<Arc<Vec<f32>>>,
    batch_size: usize,
    gradient_cache: Option<usize>,
    seed: Seed,
    plan: Arc<Mutex<EpochPlan>>,
    device: Device,
}

/// Options of a loader.
#[derive(Debug)]
pub struct LoaderOptions {
    /// Interactions per step.
    pub batch_size: usize,
    /// Anchors that are compared at a time with gradient caching.
    pub gradient_cache: Option<usize>,
    /// The run's seed.
    pub seed: Seed,
    /// The device of the batches.
    pub device: Device,
}

impl InteractionLoader {
    /// Creates a loader of all interactions of `train`.
    pub fn new(
        train: &Interactions,
        sampler: Arc<NegativeSampler>,
        truth: Option<Arc<Truth>>,
        plan: EpochPlan,
        options: LoaderOptions,
    ) -> Self {
        Self {
            pairs: Arc::new(train.pairs().collect()),
            log_q: sampler.log_q().map(Arc::new),
            sampler,
            truth,
            batch_size: options.batch_size,
            gradient_cache: options.gradient_cache,
            seed: options.seed,
            plan: Arc::new(Mutex::new(plan)),
            device: options.device,
        }
    }

    /// The order of the interactions in an epoch.
    fn order(&self, epoch: usize) -> Vec<(u32, u32)> {
        let mut pairs = self.pairs.to_vec();
        pairs.shuffle(&mut self.seed.named("order").index(epoch as u64).rng());
        pairs
    }

    /// Returns the batch for diagnostics: always the same interactions and negatives.
    pub fn probe(&self, estimator: Option<Arc<dyn Estimator>>, num_anchors: usize) -> Step<InteractionBatch> {
        let mut pairs = self.pairs.to_vec();
        let (chosen, _) = pairs.partial_shuffle(&mut self.seed.named("probe").rng(), num_anchors);
        self.step(chosen, u64::MAX, estimator, true)
    }

    fn step(
        &self,
        pairs: &[(u32, u32)],
        step: u64,
        estimator: Option<Arc<dyn Estimator>>,
        with_classes: bool,
    ) -> Step<InteractionBatch> {
        let batch = self.batch(pairs, step, with_classes);
        Step::new(batch, estimator, pairs.len(), self.seed, step, &self.device).with_gradient_cache(self.gradient_cache)
    }

    /// Makes a batch, with the true classes of its negatives if they are known and wanted: that takes longer than drawing them.
    fn batch(&self, pairs: &[(u32, u32)], step: u64, with_classes: bool) -> InteractionBatch {
        let (users, positives): (Vec<u32>, Vec<i32>) = pairs.iter().map(|&(user, item)| (user, item as i32)).unzip();
        let mut items = Vec::new();
        self.sampler.sample(step, &users, &mut items);
        let in_batch = self.sampler.config().count().is_none();
        let items = if in_batch { positives.clone() } else { items };

        let shared = self.sampler.config().shared();
        let width = if shared { items.len() } else { items.len() / users.len() };
        let shape = [users.len(), width];
        let negatives = if shared {
            let hits = self.sampler.hits(&users, &items);
            Negatives::Shared {
                items: indices(items.clone(), &self.device),
                // An anchor's own positive is never its negative, even with `mask_hits = false`.
                excluded: if in_batch && hits.is_empty() {
                    Excluded::Own { first: 0 }
                } else {
                    Excluded::listed(hits)
                },
            }
        } else {
            let mut keep = Vec::new();
            self.sampler.mask(&users, &items, &mut keep);
            Negatives::PerAnchor {
                items: Tensor::from_data(TensorData::new(items.clone(), shape), &self.device),
                mask: (!keep.is_empty()).then(|| Tensor::from_data(TensorData::new(keep, shape), &self.device)),
            }
        };
        InteractionBatch {
            same_class: self.truth.as_ref().filter(|_| with_classes).map(|truth| {
                let of = |row: usize, column: usize| items[if shared { column } else { row * width + column }] as u32;
                let likes = (0..users.len() * width).map(|i| truth.same_class(users[i / width], of(i / width, i % width)));
                Tensor::from_data(TensorData::new(likes.collect::<Vec<bool>>(), shape), &self.device)
            }),
            log_q: self.log_q.as_ref().map(|log_q| LogQ {
                positives: floats(positives.iter().map(|&item| log_q[item as usize]).collect(), &self.device),
                negatives: floats(items.iter().map(|&item| log_q[item as usize]).collect(), &self.device)
                    .reshape([items.len() / width, width]),
            }),
            users: indices(users.iter().map(|&user| user as i32).collect(), &self.device),
            positives: indices(positives, &self.device),
            negatives,
        }
    }
}

fn floats(values: Vec<f32>, device: &Device) -> Tensor<1> {
    let length = values.len();
    Tensor::from_data(TensorData::new(values, [length]), device)
}

fn indices(values: Vec<i32>, device: &Device) -> Tensor<1, Int> {
    let length = values.len();
    Tensor::from_data(TensorData::new(values, [length]), device)
}

impl PlannedLoader<InteractionBatch> for InteractionLoader {
    fn set_plan(&self, plan: EpochPlan) {
        *self.plan.lock().expect("no thread panics while it holds the plan") = plan;
    }

    fn steps_per_epoch(&self) -> usize {
        self.pairs.len().div_ceil(self.batch_size)
    }

    fn num_samples(&self) -> usize {
        self.pairs.len()
    }
}

impl DataLoader<Step<InteractionBatch>> for InteractionLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Step<InteractionBatch>> + 'a> {
        let plan = self.plan.lock().expect("no thread panics while it holds the plan").clone();
        Box::new(Epoch {
            order: self.order(plan.epoch),
            step: plan.first_step,
            plan,
            loader: self,
        })
    }

    fn num_items(&self) -> usize {
        self.pairs.len()
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Step<InteractionBatch>>> {
        Arc::new(Self {
            device: device.clone(),
            ..self.clone()
        })
    }

    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<Step<InteractionBatch>>> {
        Arc::new(Self {
            pairs: Arc::new(self.pairs[start..end].to_vec()),
            ..self.clone()
        })
    }
}

/// One pass over the interactions.
struct Epoch<'a> {
    loader: &'a InteractionLoader,
    plan: EpochPlan,
    order: Vec<(u32, u32)>,
    step: usize,
}

impl Iterator for Epoch<'_> {
    type Item = Result<Step<InteractionBatch>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let pairs = self.order.chunks(self.loader.batch_size).nth(self.step)?;
        let global_step = self.plan.epoch * self.loader.steps_per_epoch() + self.step;
        self.step += 1;
        let estimator = self.plan.estimator.clone();
        let with_classes = estimator.as_ref().is_some_and(|estimator| estimator.requirements().truth);
        Some(Ok(self.loader.step(pairs, global_step as u64, estimator, with_classes)))
    }
}

impl DataLoaderIterator<Step<InteractionBatch>> for Epoch<'_> {
    fn progress(&self) -> Progress {
        let done = (self.step * self.loader.batch_size).min(self.order.len());
        Progress::new(done, self.order.len(), Some("interactions".to_owned()))
    }
}
