//! Losses from embeddings are those from their scores.

use bcl_core::{Estimator, EstimatorConfig, InfoNceConfig, Losses, Pairs, SideInformation, Similarity};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use std::ops::Range;

/// Embeddings of 70 samples, so that there are several blocks of anchors.
const SAMPLES: usize = 70;

fn table(rows: usize, phase: f64, dtype: DType) -> Tensor<2> {
    let device = Device::flex().autodiff();
    let values: Vec<f64> = (0..rows * 5).map(|i| (1.7 * i as f64 + phase).sin()).collect();
    Tensor::from_data(TensorData::new(values, [rows, 5]), (&device, dtype))
}

/// Pairs the rows of three tables.
type Way = Box<dyn Fn(&[Tensor<2>; 3]) -> Pairs>;

/// Ways to pair, by name.
fn ways() -> Vec<(&'static str, Way)> {
    fn of_views(similarity: Similarity, anchors: Range<usize>) -> Way {
        Box::new(move |[first, second, _]| Pairs::from_views_of(first.clone(), second.clone(), similarity, anchors.clone()))
    }
    vec![
        ("views", of_views(Similarity::Cosine, 0..2 * SAMPLES)),
        ("some anchors of both views", of_views(Similarity::Cosine, 30..101)),
        ("dot products", of_views(Similarity::Dot, 0..2 * SAMPLES)),
        (
            "crossed views",
            Box::new(|[first, second, _]| Pairs::from_cross_views(first.clone(), second.clone(), Similarity::Cosine, 3..SAMPLES)),
        ),
        (
            "a queue",
            Box::new(|[first, second, queue]| {
                Pairs::with_negatives(first.clone(), second.clone(), queue.clone(), Similarity::Dot).with_least_similarity(-5.0)
            }),
        ),
        (
            "sampled rows",
            Box::new(|[first, _, table]| {
                let device = first.device();
                let rows = |count: usize, step: usize| (0..count).map(|i| (i * step % 40) as i64).collect::<Vec<_>>();
                let positives = Tensor::<1, Int>::from_data(TensorData::from(&*rows(SAMPLES, 3)), &device);
                // Rows are drawn several times, also the positive and within one anchor.
                let negatives = Tensor::from_data(TensorData::new(rows(SAMPLES * 27, 7), [SAMPLES, 27]), &device);
                Pairs::sampled(first.clone(), table.clone(), positives, negatives).with_least_similarity(-5.0)
            }),
        ),
    ]
}

/// The losses, and the gradients of a sum of them with weights of both signs; 0 for tables without any.
fn measured(tables: &[Tensor<2>; 3], losses: impl FnOnce(&[Tensor<2>; 3]) -> Losses) -> Vec<Tensor<2>> {
    let tables = tables.clone().map(Tensor::require_grad);
    let losses = losses(&tables).values();
    let [num_anchors] = losses.dims();
    let weights: Vec<f64> = (0..num_anchors).map(|anchor| (anchor as f64).cos()).collect();
    let weights = Tensor::<1>::from_data(TensorData::from(&*weights), (&losses.device(), losses.dtype()));
    let gradients = (losses.clone() * weights).sum().backward();
    let of_tables = tables
        .iter()
        .map(|table| table.grad(&gradients).unwrap_or_else(|| table.clone().inner().zeros_like()));
    [losses.inner().unsqueeze()].into_iter().chain(of_tables).collect()
}

#[test]
fn every_estimator_gives_the_losses_and_gradients_of_the_scores() {
    for (dtype, tolerance) in [(DType::F64, 1e-11), (DType::F32, 2e-5)] {
        let tables = [(SAMPLES, 0.0), (SAMPLES, 0.9), (40, 0.3)].map(|(rows, phase)| table(rows, phase, dtype));
        for (way, pairs) in ways() {
            let scores = pairs(&tables).into_scores();
            let (num_anchors, num_negatives) = (scores.num_anchors(), scores.num_negatives());
            for config in EstimatorConfig::all() {
                let estimator = config.init();
                let mut side = SideInformation::none();
                if estimator.noise_shape().is_some() {
                    side = side.with_noise(Tensor::ones([num_anchors], (&scores.negatives.device(), dtype)));
                }
                if estimator.needs_truth() {
                    let none = Tensor::<2>::zeros([num_anchors, num_negatives], &scores.negatives.device());
                    side = side.with_same_class(none.bool());
                }
                let ours = measured(&tables, |tables| estimator.losses_of(pairs(tables), &side));
                let expected = measured(&tables, |tables| estimator.losses(pairs(tables).into_scores(), &side));
                for (ours, expected) in ours.into_iter().zip(expected) {
                    let difference = (ours - expected.clone()).abs() / (expected.abs() + 1.0);
                    let difference = difference.max().into_scalar::<f64>();
                    assert!(difference < tolerance, "{way}, {}: {difference:e}", config.name());
                }
            }
        }
    }
}

#[test]
fn a_queue_without_a_gradient_gets_none() {
    let [anchors, positives] = [0.0, 0.9].map(|phase| table(6, phase, DType::F32).require_grad());
    let queue = table(9, 0.3, DType::F32);
    let pairs = Pairs::with_negatives(anchors.clone(), positives, queue.clone(), Similarity::Cosine);
    let losses = InfoNceConfig::new().init().losses_of(pairs, &SideInformation::none());
    let gradients = losses.values().sum().backward();
    assert!(anchors.grad(&gradients).is_some());
    assert!(queue.grad(&gradients).is_none());
}
