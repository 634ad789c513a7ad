//! Losses from embeddings are those from their scores.

use bcl_core::{
    Estimator, EstimatorConfig, Excluded, InfoNceLossConfig, Losses, Pairs, RingLossConfig, SideInformation, Similarity,
};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use std::ops::Range;

/// Embeddings of 70 samples, so that there are several blocks of anchors.
const SAMPLES: usize = 70;

fn table(rows: usize, phase: f64, dtype: DType) -> Tensor<2> {
    let device = Device::flex().autodiff();
    let values: Vec<f64> = (0..rows * 5).map(|i| (1.7 * i as f64 + phase).sin()).collect();
    Tensor::from_data(TensorData::new(values, [rows, 5]), (&device, dtype))
}

/// Numbers to add to similarities, on the device and in the precision of a table.
fn offsets(shape: [usize; 2], like: &Tensor<2>) -> Tensor<2> {
    let numbers = (0..shape[0] * shape[1]).map(|i| (2.3 * i as f64).cos());
    Tensor::from_data(
        TensorData::new(numbers.collect::<Vec<f64>>(), shape),
        (&like.device(), like.dtype()),
    )
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
            Box::new(|[first, second, _]| {
                Pairs::from_cross_views_of(first.clone(), second.clone(), Similarity::Cosine, 3..SAMPLES)
            }),
        ),
        (
            "a queue",
            Box::new(|[first, second, queue]| {
                Pairs::with_negatives(first.clone(), second.clone(), queue.clone(), Similarity::Dot, Excluded::None)
                    .with_least_similarity(-5.0)
            }),
        ),
        (
            "a table of which each anchor leaves out rows",
            Box::new(|[first, second, table]| {
                // Anchor 6 has no negatives.
                let lists = (0..SAMPLES as u32).map(|anchor| {
                    if anchor == 6 {
                        (0..40).collect()
                    } else {
                        (anchor % 13..anchor % 17).collect()
                    }
                });
                let excluded = Excluded::listed(lists);
                Pairs::with_negatives(first.clone(), second.clone(), table.clone(), Similarity::Cosine, excluded)
            }),
        ),
        (
            "the positives of a batch with offsets",
            Box::new(|[first, second, _]| {
                let (excluded, offsets) = (Excluded::Own { first: 0 }, offsets([1, SAMPLES], first));
                let pairs = Pairs::with_negatives(first.clone(), second.clone(), second.clone(), Similarity::Cosine, excluded);
                pairs.with_offsets(offsets.clone().squeeze_dim(0), offsets)
            }),
        ),
        (
            "a table with offsets for each anchor",
            Box::new(|[first, second, table]| {
                let pairs = Pairs::with_negatives(first.clone(), second.clone(), table.clone(), Similarity::Dot, Excluded::None);
                let positives = offsets([1, SAMPLES], first).squeeze_dim(0);
                pairs.with_offsets(positives, offsets([SAMPLES, 40], first))
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
                if estimator.requirements().gamma_shape.is_some() {
                    side = side.with_noise(Tensor::ones([num_anchors], (&scores.negatives.device(), dtype)));
                }
                if estimator.requirements().truth {
                    let none = Tensor::<2>::zeros([num_anchors, num_negatives], &scores.negatives.device());
                    side = side.with_same_class(none.bool());
                }
                let ours = measured(&tables, |tables| estimator.losses(pairs(tables), &side));
                let expected = measured(&tables, |tables| estimator.losses(pairs(tables).into_scores().into(), &side));
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
fn a_ring_needs_scores_if_some_may_be_too_far_below_the_highest() {
    let [first, second] = [0.0, 0.9].map(|phase| table(SAMPLES, phase, DType::F32));
    let need_scores = |temperature: f64, lower: f64, similarity| {
        let ring = RingLossConfig::new().with_temperature(temperature).with_lower(lower);
        Pairs::from_views(first.clone(), second.clone(), similarity).needs_scores(&ring.init())
    };
    assert!(!need_scores(0.05, 0.0, Similarity::Cosine));
    assert!(need_scores(0.02, 0.0, Similarity::Cosine));
    assert!(need_scores(0.05, 0.0, Similarity::Dot));
    // No rank is in this ring, so no anchor has a loss.
    assert!(need_scores(0.05, 0.8999, Similarity::Cosine));
}

#[test]
fn a_queue_without_a_gradient_gets_none() {
    let [anchors, positives] = [0.0, 0.9].map(|phase| table(6, phase, DType::F32).require_grad());
    let queue = table(9, 0.3, DType::F32);
    let pairs = Pairs::with_negatives(anchors.clone(), positives, queue.clone(), Similarity::Cosine, Excluded::None);
    let losses = InfoNceLossConfig::new().init().losses(pairs, &SideInformation::none());
    let gradients = losses.values().sum().backward();
    assert!(anchors.grad(&gradients).is_some());
    assert!(queue.grad(&gradients).is_none());
}

#[test]
fn rows_that_are_left_out_and_offsets_need_no_scores() {
    let [anchors, positives] = [0.0, 0.9].map(|phase| table(SAMPLES, phase, DType::F32));
    let of_batch = |excluded| {
        Pairs::with_negatives(
            anchors.clone(),
            positives.clone(),
            positives.clone(),
            Similarity::Cosine,
            excluded,
        )
    };
    let own = || of_batch(Excluded::Own { first: 0 });
    let listed = of_batch(Excluded::listed((0..SAMPLES as u32).map(|anchor| vec![anchor])));
    let with_offsets = |pairs: Pairs, rows| {
        let of_positives = offsets([1, SAMPLES], &anchors).squeeze_dim(0);
        pairs.with_offsets(of_positives, offsets([rows, SAMPLES], &anchors))
    };
    let need_scores = |pairs: Pairs| {
        ["info_nce", "hard", "bayesian"].map(|kind| {
            let config: EstimatorConfig = serde_json::from_value(serde_json::json!({ "kind": kind })).unwrap();
            pairs.needs_scores(config.init().as_ref())
        })
    };
    assert_eq!(need_scores(own()), [false, false, false]);
    assert_eq!(need_scores(with_offsets(own(), 1)), [false, false, false]);
    assert_eq!(need_scores(with_offsets(listed, 1)), [false, false, false]);
    assert_eq!(need_scores(with_offsets(own(), SAMPLES)), [true, true, true]);
}
