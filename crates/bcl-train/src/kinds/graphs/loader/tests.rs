//! The order of batches, their limits, and the probe.

use super::*;
use bcl_core::InfoNceLossConfig;
use bcl_data::graphs::{GraphViewsConfig, PlantedGraphsConfig};
use bcl_methods::batches::{GraphBatch, GraphViewsBatch, NodeBatches, ViewBatches};
use bcl_models::graphs::Mode;

fn data() -> Arc<GraphData> {
    let config = PlantedGraphsConfig {
        graphs: 31,
        ..PlantedGraphsConfig::default()
    };
    Arc::new(config.generate())
}

fn loader(limits: GraphBatchLimits) -> GraphLoader<NodeBatches> {
    loader_of(NodeBatches, limits)
}

fn loader_of<B: GraphBatches>(batches: B, limits: GraphBatchLimits) -> GraphLoader<B> {
    let data = data();
    let plan = EpochPlan {
        epoch: 0,
        first_step: 0,
        estimator: Some(Arc::new(InfoNceLossConfig::new().init())),
        detected: None,
    };
    let options = LoaderOptions {
        limits,
        steps_per_epoch: batches_per_epoch(limits, &data, Seed(3)),
        gradient_cache: Some(7),
        with_truth: true,
        seed: Seed(3),
        device: Device::flex(),
    };
    GraphLoader::new(batches, data, plan, options)
}

/// The graphs of each step of an epoch from a step on.
fn epoch(loader: &GraphLoader<NodeBatches>, epoch: usize, first_step: usize) -> Vec<Vec<u32>> {
    loader.set_plan(EpochPlan {
        epoch,
        first_step,
        estimator: None,
        detected: None,
    });
    let steps = loader.iter().map(|step| step.expect("graphs need no reading"));
    steps.map(|step| step.batch.graphs.to_vec()).collect()
}

#[test]
fn an_epoch_continued_at_a_step_equals_the_rest_of_the_whole_epoch() {
    let loader = loader(GraphBatchLimits::new(8, None));
    let whole = epoch(&loader, 3, 0);
    assert_eq!(whole.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 8, 7]);
    assert_eq!(epoch(&loader, 3, 2), whole[2..]);
    assert_ne!(epoch(&loader, 4, 0), whole);
}

#[test]
fn every_epoch_has_the_same_number_of_batches_under_a_limit_on_nodes() {
    let limits = GraphBatchLimits::new(8, Some(150));
    let loader = loader(limits);
    let counts = (0..40).map(|number| limits.for_training(&data(), &epoch_order(&data(), Seed(3), number)).len());
    let counts: Vec<usize> = counts.collect();
    assert!(counts.iter().min() < counts.iter().max(), "{counts:?}");
    for number in 0..40 {
        let batches = epoch(&loader, number, 0);
        assert_eq!(batches.len(), loader.steps_per_epoch(), "epoch {number}");
        assert!(batches.iter().all(|batch| batch.len() >= 2), "{batches:?}");
        let nodes = |batch: &Vec<u32>| batch.iter().map(|&graph| data().nodes_of(graph)).sum::<usize>();
        assert!(batches.iter().all(|batch| batch.len() == 2 || nodes(batch) <= 150));
    }
}

#[test]
fn steps_carry_what_the_method_needs() {
    let loader = loader(GraphBatchLimits::new(8, None));
    let step = loader.iter().next().expect("a step").expect("graphs need no reading");
    let batch = &step.batch;
    assert_eq!((step.gradient_cache, batch.num_graphs()), (Some(7), 8));
    assert_eq!(batch.num_anchors(), batch.input.num_nodes());
    let labels = data().labels().to_vec();
    let classes: Vec<u32> = batch.graphs.iter().map(|&graph| labels[graph as usize]).collect();
    assert_eq!(**batch.classes.as_ref().unwrap(), *classes);
}

#[test]
fn the_probe_is_always_the_same_and_bounded() {
    let loader = loader(GraphBatchLimits::new(31, None));
    let probe = || loader.probe(None, &Device::flex());
    let anchors = |step: &Step<GraphBatch>| {
        step.batch
            .anchors
            .clone()
            .unwrap()
            .into_data()
            .iter::<i64>()
            .collect::<Vec<_>>()
    };
    let first = probe();
    assert_eq!(anchors(&first), anchors(&probe()));
    assert!(first.batch.num_anchors() <= PROBE_ANCHORS);
    assert_eq!((first.batch.mode, first.gradient_cache), (Mode::Eval, None));
    // Each anchor keeps its graph.
    let batch = data().batch(&first.batch.graphs);
    let expected: Vec<u32> = anchors(&first).iter().map(|&node| batch.node_graph[node as usize]).collect();
    assert_eq!(*first.batch.anchor_graphs, *expected);
}

/// The features of both views of each step of an epoch from a step on.
fn views_of_epoch(loader: &GraphLoader<ViewBatches>, epoch: usize, first_step: usize) -> Vec<[Vec<f32>; 2]> {
    loader.set_plan(EpochPlan {
        epoch,
        first_step,
        estimator: None,
        detected: None,
    });
    let steps = loader.iter().map(|step| step.expect("graphs need no reading"));
    steps.map(|step| features(&step)).collect()
}

fn features(step: &Step<GraphViewsBatch>) -> [Vec<f32>; 2] {
    let views = step.batch.views.clone();
    views.map(|view| view.features.into_data().iter().collect())
}

#[test]
fn views_are_new_in_every_epoch_and_the_same_after_an_interruption() {
    let loader = loader_of(ViewBatches(GraphViewsConfig::default()), GraphBatchLimits::new(8, None));
    let whole = views_of_epoch(&loader, 3, 0);
    assert_eq!(whole.len(), 4);
    assert_eq!(views_of_epoch(&loader, 3, 2), whole[2..]);
    assert_ne!(views_of_epoch(&loader, 4, 0), whole);
    assert!(whole.iter().all(|[first, second]| first != second));
    let probe = || loader.probe(None, &Device::flex());
    assert_eq!(features(&probe()), features(&probe()));
    assert_eq!((probe().batch.mode, probe().batch.num_anchors()), (Mode::Eval, 16));
}
