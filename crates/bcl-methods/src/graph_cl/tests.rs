//! The scores of GraphCL, its views, and its steps in blocks.

use super::*;
use crate::{
    InfoGraphConfig,
    batches::{GraphBatches, ViewBatches},
    step::Step,
};
use bcl_core::{ContrastiveObjective, Estimator, EstimatorConfig, InfoNceLossConfig, Reduction, SideInformation};
use bcl_data::graphs::PlantedGraphsConfig;
use bcl_models::graphs::{GraphInput, Mode};
use burn::{module::Param, tensor::Int};
use std::sync::Arc;

const GRAPHS: [u32; 4] = [4, 0, 2, 1];

fn batch(device: &Device) -> GraphViewsBatch {
    let config = PlantedGraphsConfig {
        graphs: 6,
        rings: 1,
        background: 3,
        ..PlantedGraphsConfig::default()
    };
    let batches = ViewBatches(GraphViewsConfig::default());
    ViewBatches::batch(batches.prepare(&config.generate(), &GRAPHS, Seed(7)), true, device)
}

fn encoder() -> GinConfig {
    GinConfig {
        layers: 2,
        hidden: 4,
        ..GinConfig::default()
    }
}

fn method(device: &Device) -> GraphCl {
    GraphClConfig::default().init(&encoder(), 3, Seed(1), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter().collect()
}

/// The rows of both views, one view after the other.
fn rows(embeddings: &Embeddings) -> Vec<Vec<f64>> {
    let tables = GraphCl::TABLES.map(|name| embeddings.rows(name));
    let rows = tables.into_iter().flat_map(|table| {
        let [_, dim] = table.dims();
        let values = table.into_data().iter::<f64>().collect::<Vec<_>>();
        values.chunks(dim).map(<[f64]>::to_vec).collect::<Vec<_>>()
    });
    rows.collect()
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

#[test]
fn its_loss_is_the_normalised_cross_entropy_over_both_views_of_all_other_graphs() {
    let device = Device::flex();
    let (batch, method) = (batch(&device), method(&device));
    let embeddings = method.embed(&batch);
    let rows = rows(&embeddings);
    let loss = InfoNceLossConfig::new().with_temperature(0.2).init();
    let cosine = |i: usize, j: usize| dot(&rows[i], &rows[j]) / (dot(&rows[i], &rows[i]) * dot(&rows[j], &rows[j])).sqrt();
    for anchors in [0..8, 3..6] {
        let mut expected = 0.0;
        for anchor in anchors.clone() {
            let positive = (anchor + 4) % 8;
            let mut sum = 0.0;
            for other in 0..8 {
                if other != anchor {
                    sum += (cosine(anchor, other) / 0.2).exp();
                }
            }
            expected += sum.ln() - cosine(anchor, positive) / 0.2;
        }
        let objective = method.objective(&batch, &embeddings, anchors.clone());
        let found = objective.losses(&loss, &SideInformation::none()).reduce(Reduction::Sum);
        let found = found.into_scalar::<f64>();
        assert!((found - expected).abs() < 1e-5 * expected, "{found} is not {expected}");
    }
    let scores = method.objective(&batch, &embeddings, 0..8).into_scores().unwrap();
    assert_eq!(scores.least_similarity, Some(-1.0));
    assert_eq!(scores.negatives.dims(), [8, GraphClConfig::default().num_negatives(4)]);
}

#[test]
fn negatives_of_the_anchors_class_are_told_apart() {
    let device = Device::flex();
    let (batch, method) = (batch(&device), method(&device));
    // The planted graphs have the classes 0, 1, 2, 0, 1, 2.
    let classes = batch.classes.clone().unwrap();
    assert_eq!(*classes, [1, 0, 2, 1]);
    // With the class of each graph as its projection, scores tell whether classes are equal.
    let labels = Tensor::<1, Int>::from_data([1, 0, 2, 1], &device);
    let table: Tensor<2> = labels.one_hot(3).float();
    let embeddings = Embeddings::new()
        .with(GraphCl::TABLES[0], table.clone())
        .with(GraphCl::TABLES[1], table);
    for anchors in [0..8, 2..7] {
        let scores = method.objective(&batch, &embeddings, anchors.clone()).into_scores().unwrap();
        let same = method.same_class(&batch, anchors, &device).unwrap();
        assert_eq!(values(scores.negatives), values(same.float()));
    }
}

#[test]
fn batch_statistics_cover_one_view() {
    let device = Device::flex();
    let (batch, method) = (batch(&device), method(&device));
    let both = method.embed(&batch);
    let [first, second] = batch.views.clone();
    let twice = |view: &GraphInput| {
        let views = [view.clone(), view.clone()];
        method.embed(&GraphViewsBatch { views, ..batch.clone() })
    };
    for (name, view) in GraphCl::TABLES.into_iter().zip([first, second]) {
        assert_eq!(values(twice(&view).rows(name)), values(both.rows(name)));
    }
    let [first, second] = GraphCl::TABLES.map(|name| values(both.rows(name)));
    assert_ne!(first, second);
    let by_running_statistics = method.embed(&GraphViewsBatch {
        mode: Mode::Eval,
        ..batch
    });
    assert_ne!(values(by_running_statistics.rows(GraphCl::TABLES[0])), first);
}

#[test]
fn the_encoder_starts_as_in_info_graph() {
    let device = Device::flex();
    let ours = method(&device).encoder;
    let theirs = InfoGraphConfig::default().init(&encoder(), 3, Seed(1), &device).encoder;
    for (ours, theirs) in ours.layers.iter().zip(&theirs.layers) {
        let weights = |weight: &Param<Tensor<2>>| values(weight.val());
        assert_eq!(weights(&ours.first.weight), weights(&theirs.first.weight));
        assert_eq!(weights(&ours.second.weight), weights(&theirs.second.weight));
    }
}

#[test]
fn blocks_of_views_have_the_gradients_of_the_whole_batch() {
    let device = Device::flex().autodiff();
    let batch = batch(&device);
    for objective in [ContrastiveObjective::Nce, ContrastiveObjective::Jsd] {
        for config in EstimatorConfig::all().iter().filter(|config| objective.supports(config)) {
            let estimator: Arc<dyn Estimator> = Arc::from(objective.init(config));
            if estimator.requirements().whole_batch {
                continue;
            }
            let gradient = |at_most| {
                let method = method(&device);
                let step = Step::new(
                    batch.clone(),
                    Some(estimator.clone()),
                    batch.num_anchors(),
                    Seed(2),
                    0,
                    &device,
                );
                let output = step.with_gradient_cache(at_most).train(&method);
                let first = &method.encoder.layers[0];
                let of = |weight: &Param<Tensor<2>>| values(output.gradients.get::<2>(weight.id).expect("it takes part"));
                let statistics = values(first.norm.running_var.value());
                [
                    of(&method.head.hidden.weight),
                    of(&first.first.weight),
                    values(output.loss),
                    statistics,
                ]
            };
            let whole = gradient(None);
            assert!(whole[1].iter().any(|gradient| gradient.abs() > 1e-6), "{}", config.name());
            for at_most in [1, 3, 1000] {
                for (whole, blocks) in whole.iter().zip(gradient(Some(at_most))) {
                    let largest = whole.iter().fold(1e-3f32, |largest, value| largest.max(value.abs()));
                    let close = whole.iter().zip(&blocks).all(|(l, r)| (l - r).abs() <= 2e-5 * largest);
                    assert!(close, "{} in blocks of {at_most}: {whole:?}, {blocks:?}", config.name());
                }
            }
        }
    }
}
