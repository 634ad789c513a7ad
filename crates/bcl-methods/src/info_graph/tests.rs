//! The scores of InfoGraph, and its steps in blocks.

use super::*;
use crate::step::Step;
use bcl_core::{ContrastiveObjective, EstimatorConfig, Similarity};
use bcl_data::{Seed, graphs::PlantedGraphsConfig};
use bcl_models::graphs::{GinConfig, GraphInput, Mode};
use burn::tensor::{Device, Tensor, TensorData};
use std::sync::Arc;

fn batch(device: &Device) -> GraphBatch {
    let config = PlantedGraphsConfig {
        graphs: 6,
        rings: 1,
        background: 3,
        ..PlantedGraphsConfig::default()
    };
    let batch = config.generate().batch(&[4, 0, 2, 5]);
    let shape = [batch.num_nodes(), batch.num_features];
    let features = Tensor::from_data(TensorData::new(batch.features, shape), device);
    GraphBatch {
        input: GraphInput::new(features, &batch.node_offsets, batch.edge_offsets, batch.neighbours),
        anchors: None,
        anchor_graphs: batch.node_graph.into(),
        classes: Some(batch.labels.into()),
        graphs: batch.graphs.into(),
        mode: Mode::Train,
    }
}

fn method(similarity: Similarity, device: &Device) -> InfoGraph {
    let encoder = GinConfig {
        layers: 2,
        hidden: 4,
        ..GinConfig::default()
    };
    InfoGraphConfig { similarity }.init(&encoder, 3, Seed(1), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter().collect()
}

#[test]
fn negatives_are_all_other_graphs_of_the_batch() {
    let device = Device::flex();
    let (batch, method) = (batch(&device), method(Similarity::Dot, &device));
    let embeddings = method.embed(&batch);
    let [nodes, graphs] = InfoGraph::TABLES.map(|name| embeddings.rows(name));
    let all = values(nodes.matmul(graphs.transpose()));
    for anchors in [0..batch.num_anchors(), 3..batch.num_anchors() - 2] {
        let scores = method.objective(&batch, &embeddings, anchors.clone()).into_scores().unwrap();
        assert_eq!(scores.least_similarity, None);
        let (positives, negatives) = (values(scores.positives), values(scores.negatives));
        let same = values(batch.same_class(anchors.clone(), &device).unwrap().float());
        for (row, anchor) in anchors.enumerate() {
            let own = batch.anchor_graphs[anchor] as usize;
            assert_eq!(positives[row], all[4 * anchor + own]);
            let mut expected: Vec<f32> = (0..4)
                .filter(|&graph| graph != own)
                .map(|graph| all[4 * anchor + graph])
                .collect();
            let mut found = negatives[3 * row..3 * row + 3].to_vec();
            for column in 0..3 {
                let graph = batch.negative(own, column);
                assert_eq!(found[column], all[4 * anchor + graph]);
                let classes = batch.classes.as_ref().unwrap();
                assert_eq!(same[3 * row + column] == 1.0, classes[graph] == classes[own]);
            }
            expected.sort_by(f32::total_cmp);
            found.sort_by(f32::total_cmp);
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn blocks_of_nodes_have_the_gradients_of_the_whole_batch() {
    let device = Device::flex().autodiff();
    let batch = batch(&device);
    for (similarity, objective) in [
        (Similarity::Cosine, ContrastiveObjective::Nce),
        (Similarity::Dot, ContrastiveObjective::Jsd),
    ] {
        for config in EstimatorConfig::all().iter().filter(|config| objective.supports(config)) {
            let estimator: Arc<dyn bcl_core::Estimator> = Arc::from(objective.init(config));
            if estimator.requirements().whole_batch {
                continue;
            }
            let gradient = |at_most| {
                let method = method(similarity, &device);
                let num_anchors = batch.num_anchors();
                let step = Step::new(batch.clone(), Some(estimator.clone()), num_anchors, Seed(2), 0, &device);
                let output = step.with_gradient_cache(at_most).train(&method);
                let first = &method.encoder.layers[0];
                let of_head = output
                    .gradients
                    .get::<2>(method.node_head.hidden[0].weight.id)
                    .expect("the head takes part");
                let of_encoder = output
                    .gradients
                    .get::<2>(first.first.weight.id)
                    .expect("the encoder takes part");
                let statistics = values(first.norm.running_var.value());
                let loss = values(output.loss);
                [loss, values(of_head), values(of_encoder), statistics]
            };
            let whole = gradient(None);
            for at_most in [1, 7, 1000] {
                for (whole, blocks) in whole.iter().zip(gradient(Some(at_most))) {
                    let largest = whole.iter().fold(1e-3f32, |largest, value| largest.max(value.abs()));
                    let close = whole.iter().zip(&blocks).all(|(l, r)| (l - r).abs() <= 2e-5 * largest);
                    assert!(close, "{} in blocks of {at_most}: {whole:?}, {blocks:?}", config.name());
                }
            }
        }
    }
}

#[test]
fn some_nodes_may_be_anchors() {
    let device = Device::flex();
    let whole = batch(&device);
    let method = method(Similarity::Cosine, &device);
    let chosen = [1usize, 5, 6];
    let some = GraphBatch {
        anchors: Some(Tensor::from_data([1, 5, 6], &device)),
        anchor_graphs: chosen.iter().map(|&node| whole.anchor_graphs[node]).collect(),
        mode: Mode::Eval,
        ..whole.clone()
    };
    let whole = GraphBatch {
        mode: Mode::Eval,
        ..whole
    };
    let scores = |batch: &GraphBatch| {
        let scores = method
            .objective(batch, &method.embed(batch), 0..batch.num_anchors())
            .into_scores()
            .unwrap();
        assert_eq!(scores.least_similarity, Some(-1.0));
        (values(scores.positives), values(scores.negatives))
    };
    let (all, of_some) = (scores(&whole), scores(&some));
    for (row, node) in chosen.into_iter().enumerate() {
        assert!((of_some.0[row] - all.0[node]).abs() < 1e-6);
        for column in 0..3 {
            assert!((of_some.1[3 * row + column] - all.1[3 * node + column]).abs() < 1e-6);
        }
    }
}
