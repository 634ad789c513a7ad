//! The data loader of graphs, which prepares batches.

use crate::training::plan::{EpochPlan, PlannedLoader};
use bcl_core::Estimator;
use bcl_data::{
    Seed,
    graphs::{GraphBatchLimits, GraphData},
};
use bcl_methods::batches::{GraphBatch, Prefetch};
use bcl_methods::step::Step;
use bcl_models::graphs::{GraphInput, Mode};
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::{Device, Int, Tensor, TensorData},
};
use rand::seq::index;
use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

/// Number of batches that wait for the consumer. One more is in preparation, so memory is bounded.
const READY: usize = 1;

/// Number of nodes whose scores the diagnostics measure.
const PROBE_ANCHORS: usize = 1024;

/// Number of epochs whose orders are divided to find the number of batches per epoch.
const MEASURED_EPOCHS: usize = 100;

/// Prepares batches of graphs in a thread of its own.
///
/// The order is counter-based: step s of epoch e is the same after an interruption.
#[derive(Debug, Clone)]
pub struct GraphLoader {
    source: Arc<Source>,
    plan: Arc<Mutex<EpochPlan>>,
    device: Device,
}

/// Graphs and options from which batches are made.
#[derive(Debug)]
struct Source {
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
    /// Nodes that are compared at a time.
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

impl GraphLoader {
    /// Creates a loader of all graphs.
    pub fn new(data: Arc<GraphData>, plan: EpochPlan, options: LoaderOptions) -> Self {
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

    /// Returns the batch for diagnostics: always the same graphs, of which some nodes are anchors, in evaluation mode.
    pub fn probe(&self, estimator: Option<Arc<dyn Estimator>>, device: &Device) -> Step<GraphBatch> {
        let source = &self.source;
        let seed = source.seed.named("probe");
        let order = source.data.shuffled(seed);
        let first = source.limits.for_training(&source.data, &order).swap_remove(0);
        let prepared = source.prepare(&order[first]);
        let num_nodes = prepared.anchor_graphs.len();
        let mut anchors = index::sample(&mut seed.named("anchors").rng(), num_nodes, num_nodes.min(PROBE_ANCHORS)).into_vec();
        anchors.sort_unstable();
        let mut batch = source.batch(prepared, device);
        batch.mode = Mode::Eval;
        batch.classes = source.classes(&batch.graphs);
        batch.anchor_graphs = anchors.iter().map(|&node| batch.anchor_graphs[node]).collect();
        let nodes: Vec<i32> = anchors.into_iter().map(|node| node as i32).collect();
        let shape = [nodes.len()];
        batch.anchors = Some(Tensor::<1, Int>::from_data(TensorData::new(nodes, shape), device));
        Step::new(batch, estimator, shape[0], source.seed, u64::MAX, device)
    }
}

impl Source {
    /// The class of each graph; `None` without labels.
    fn classes(&self, graphs: &[u32]) -> Option<Arc<[u32]>> {
        let labels = self.data.labels();
        let classes = || graphs.iter().map(|&graph| labels[graph as usize]).collect();
        self.data.is_labelled().then(classes)
    }

    fn batches(&self, order: &[u32]) -> Vec<Range<usize>> {
        self.limits.for_training_in(self.steps_per_epoch, &self.data, order)
    }

    fn prepare(&self, graphs: &[u32]) -> Prepared {
        let batch = self.data.batch(graphs);
        let shape = [batch.num_nodes(), batch.num_features];
        Prepared {
            features: TensorData::new(batch.features, shape),
            node_offsets: batch.node_offsets,
            edge_offsets: batch.edge_offsets,
            neighbours: batch.neighbours,
            anchor_graphs: batch.node_graph.into(),
            graphs: graphs.into(),
        }
    }

    fn batch(&self, prepared: Prepared, device: &Device) -> GraphBatch {
        let Prepared {
            features,
            node_offsets,
            edge_offsets,
            neighbours,
            anchor_graphs,
            graphs,
        } = prepared;
        let features = Tensor::from_data(features, device);
        GraphBatch {
            input: GraphInput::new(features, &node_offsets, edge_offsets, neighbours),
            anchors: None,
            anchor_graphs,
            classes: self.with_truth.then(|| self.classes(&graphs)).flatten(),
            graphs,
            mode: Mode::Train,
        }
    }

    fn step(&self, prepared: Prepared, step: u64, estimator: Option<Arc<dyn Estimator>>, device: &Device) -> Step<GraphBatch> {
        let batch = self.batch(prepared, device);
        let num_anchors = batch.num_anchors();
        Step::new(batch, estimator, num_anchors, self.seed, step, device).with_gradient_cache(self.gradient_cache)
    }
}

/// A batch before it is on the device.
struct Prepared {
    features: TensorData,
    node_offsets: Vec<usize>,
    edge_offsets: Vec<usize>,
    neighbours: Vec<u32>,
    anchor_graphs: Arc<[u32]>,
    graphs: Arc<[u32]>,
}

impl PlannedLoader<GraphBatch> for GraphLoader {
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

impl DataLoader<Step<GraphBatch>> for GraphLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Step<GraphBatch>> + 'a> {
        let plan = self.plan.lock().expect("no thread panics while it holds the plan").clone();
        let source = self.source.clone();
        let order = epoch_order(&source.data, source.seed, plan.epoch);
        let batches = source.batches(&order).into_iter().skip(plan.first_step);
        let prepared = Prefetch::new(
            READY,
            batches
                .collect::<Vec<_>>()
                .into_iter()
                .map(move |range| source.prepare(&order[range])),
        );
        Box::new(Epoch {
            step: plan.first_step,
            plan,
            prepared,
            loader: self,
        })
    }

    fn num_items(&self) -> usize {
        self.source.data.num_graphs()
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Step<GraphBatch>>> {
        Arc::new(Self {
            device: device.clone(),
            ..self.clone()
        })
    }

    /// A loader of all graphs: batches of a part of them would have other negatives.
    fn slice(&self, _: usize, _: usize) -> Arc<dyn DataLoader<Step<GraphBatch>>> {
        Arc::new(self.clone())
    }
}

/// One pass over the graphs.
struct Epoch<'a> {
    loader: &'a GraphLoader,
    plan: EpochPlan,
    prepared: Prefetch<Prepared>,
    step: usize,
}

impl Iterator for Epoch<'_> {
    type Item = Result<Step<GraphBatch>, DatasetError>;

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

impl DataLoaderIterator<Step<GraphBatch>> for Epoch<'_> {
    fn progress(&self) -> Progress {
        Progress::new(self.step, self.loader.source.steps_per_epoch, Some("batches".to_owned()))
    }
}

#[cfg(test)]
mod tests;
