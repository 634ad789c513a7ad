//! The data loader of graphs, which prepares batches.

use crate::training::plan::{EpochPlan, PlannedLoader};
use bcl_core::Estimator;
use bcl_data::{
    Seed,
    graphs::{GraphBatchLimits, GraphData},
};
use bcl_methods::{
    batches::{GraphBatches, Prefetch},
    step::Step,
};
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::Device,
};
use std::sync::{Arc, Mutex};

/// Number of batches that wait for the consumer. One more is in preparation, so memory is bounded.
const READY: usize = 1;

/// Number of anchors whose scores the diagnostics measure, if nodes are anchors.
const PROBE_ANCHORS: usize = 1024;

/// Number of epochs whose orders are divided to find the number of batches per epoch.
const MEASURED_EPOCHS: usize = 100;

/// Prepares batches of graphs in a thread of its own.
///
/// The order and the views are counter-based: step s of epoch e is the same after an interruption.
#[derive(Debug)]
pub struct GraphLoader<B> {
    source: Arc<Source<B>>,
    plan: Arc<Mutex<EpochPlan>>,
    device: Device,
}

impl<B> Clone for GraphLoader<B> {
    fn clone(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            plan: Arc::clone(&self.plan),
            device: self.device.clone(),
        }
    }
}

/// Graphs and options from which batches are made.
#[derive(Debug)]
struct Source<B> {
    batches: B,
    data: Arc<GraphData>,
    limits: GraphBatchLimits,
    steps_per_epoch: usize,
    gradient_cache: Option<usize>,
    with_truth: bool,
    seed: Seed,
}

/// Options of a loader.
#[derive(Debug)]
pub struct LoaderOptions {
    /// Graphs and nodes per step.
    pub limits: GraphBatchLimits,
    /// Number of batches per epoch; see [`batches_per_epoch`].
    pub steps_per_epoch: usize,
    /// Anchors that are compared at a time.
    pub gradient_cache: Option<usize>,
    /// Whether training batches carry classes. The probe always does.
    pub with_truth: bool,
    /// The run's seed.
    pub seed: Seed,
    /// The device of the batches.
    pub device: Device,
}

/// The number of batches per epoch. With a limit on nodes it depends on the order, so this is the maximum over the first epochs.
pub fn batches_per_epoch(limits: GraphBatchLimits, data: &GraphData, seed: Seed) -> usize {
    let measured = if limits.nodes().is_some() { MEASURED_EPOCHS } else { 1 };
    let counts = (0..measured).map(|epoch| limits.for_training(data, &epoch_order(data, seed, epoch)).len());
    counts.max().unwrap_or(0)
}

/// The order of the graphs in an epoch, from its seed.
fn epoch_order(data: &GraphData, seed: Seed, epoch: usize) -> Vec<u32> {
    data.shuffled(seed.named("order").index(epoch as u64))
}

impl<B: GraphBatches> GraphLoader<B> {
    /// Creates a loader of all graphs, with the batches of a method.
    pub fn new(batches: B, data: Arc<GraphData>, plan: EpochPlan, options: LoaderOptions) -> Self {
        let LoaderOptions {
            limits,
            steps_per_epoch,
            gradient_cache,
            with_truth,
            seed,
            device,
        } = options;
        Self {
            source: Arc::new(Source {
                batches,
                data,
                limits,
                steps_per_epoch,
                gradient_cache,
                with_truth,
                seed,
            }),
            plan: Arc::new(Mutex::new(plan)),
            device,
        }
    }

    /// Returns the batch for diagnostics: always the same graphs and anchors, in evaluation mode.
    pub fn probe(&self, estimator: Option<Arc<dyn Estimator>>, device: &Device) -> Step<B::Batch> {
        let source = &self.source;
        let seed = source.seed.named("probe");
        let order = source.data.shuffled(seed);
        let first = source.limits.for_training(&source.data, &order).swap_remove(0);
        let prepared = source.batches.prepare(&source.data, &order[first], seed.named("views"));
        let batch = B::probe(prepared, PROBE_ANCHORS, seed, device);
        let num_anchors = B::num_anchors(&batch);
        Step::new(batch, estimator, num_anchors, source.seed, u64::MAX, device)
    }
}

impl<B: GraphBatches> Source<B> {
    /// The batches of an epoch in its order, from a step on.
    fn prepared(self: Arc<Self>, epoch: usize, first_step: usize) -> impl Iterator<Item = B::Prepared> + Send + 'static {
        let order = epoch_order(&self.data, self.seed, epoch);
        let views = self.seed.named("views").index(epoch as u64);
        let ranges = self.limits.for_training_in(self.steps_per_epoch, &self.data, &order);
        let ranges = ranges.into_iter().skip(first_step);
        ranges.map(move |range| self.batches.prepare(&self.data, &order[range], views))
    }

    fn step(&self, prepared: B::Prepared, step: u64, estimator: Option<Arc<dyn Estimator>>, device: &Device) -> Step<B::Batch> {
        let batch = B::batch(prepared, self.with_truth, device);
        let num_anchors = B::num_anchors(&batch);
        Step::new(batch, estimator, num_anchors, self.seed, step, device).with_gradient_cache(self.gradient_cache)
    }
}

impl<B: GraphBatches> PlannedLoader<B::Batch> for GraphLoader<B> {
    fn set_plan(&self, plan: EpochPlan) {
        *self.plan.lock().expect("no thread panics while it holds the plan") = plan;
    }

    fn steps_per_epoch(&self) -> usize {
        self.source.steps_per_epoch
    }

    fn num_samples(&self) -> usize {
        self.source.data.num_graphs()
    }
}

impl<B: GraphBatches> DataLoader<Step<B::Batch>> for GraphLoader<B> {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Step<B::Batch>> + 'a> {
        let plan = self.plan.lock().expect("no thread panics while it holds the plan").clone();
        let prepared = Arc::clone(&self.source).prepared(plan.epoch, plan.first_step);
        Box::new(Epoch {
            step: plan.first_step,
            plan,
            prepared: Prefetch::new(READY, prepared),
            loader: self,
        })
    }

    /// Batches, as its progress counts.
    fn num_items(&self) -> usize {
        self.source.steps_per_epoch
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Step<B::Batch>>> {
        Arc::new(Self {
            device: device.clone(),
            ..self.clone()
        })
    }

    /// A loader of all graphs: batches of a part of them would have other negatives.
    fn slice(&self, _: usize, _: usize) -> Arc<dyn DataLoader<Step<B::Batch>>> {
        Arc::new(self.clone())
    }
}

/// One pass over the graphs.
struct Epoch<'a, B: GraphBatches> {
    loader: &'a GraphLoader<B>,
    plan: EpochPlan,
    prepared: Prefetch<B::Prepared>,
    step: usize,
}

impl<B: GraphBatches> Iterator for Epoch<'_, B> {
    type Item = Result<Step<B::Batch>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let prepared = match self.prepared.next()? {
            Ok(prepared) => prepared,
            Err(panicked) => return Some(Err(DatasetError::new(panicked))),
        };
        let source = &self.loader.source;
        let step = self.plan.epoch * source.steps_per_epoch + self.step;
        self.step += 1;
        Some(Ok(source.step(
            prepared,
            step as u64,
            self.plan.estimator.clone(),
            &self.loader.device,
        )))
    }
}

impl<B: GraphBatches> DataLoaderIterator<Step<B::Batch>> for Epoch<'_, B> {
    fn progress(&self) -> Progress {
        Progress::new(self.step, self.loader.source.steps_per_epoch, Some("batches".to_owned()))
    }
}

#[cfg(test)]
mod tests;
