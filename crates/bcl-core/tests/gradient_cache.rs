//! Blocks of anchors add up to the whole batch, for every estimator and with everything that scores carry.

use bcl_core::{
    EstimatorConfig, Reduction, Scores, Similarity,
    gradient_cache::{EmbeddingGradients, surrogate},
};
use burn::tensor::{Bool, DType, Device, Tensor, TensorData};
use std::ops::Range;

const SAMPLES: usize = 9;
const ANCHORS: usize = 2 * SAMPLES;
const NEGATIVES: usize = 2 * SAMPLES - 2;
const DIM: usize = 5;

fn embeddings(device: &Device) -> [Tensor<2>; 2] {
    [0.0, 0.9].map(|phase| {
        let values: Vec<f64> = (0..SAMPLES * DIM).map(|i| (1.7 * i as f64 + phase).sin()).collect();
        Tensor::from_data(TensorData::new(values, [SAMPLES, DIM]), (device, DType::F64))
    })
}

fn marks(device: &Device, is: impl Fn(usize) -> bool) -> Tensor<2, Bool> {
    let marks: Vec<bool> = (0..ANCHORS * NEGATIVES).map(is).collect();
    Tensor::from_data(TensorData::new(marks, [ANCHORS, NEGATIVES]), device)
}

/// Scores of some anchors with truth and noise.
fn compare([first, second]: [Tensor<2>; 2], anchors: Range<usize>, mask: Masked) -> Scores {
    let device = first.device();
    let noise: Vec<f64> = (0..ANCHORS).map(|i| 0.2 + (2.3 * i as f64).sin().abs()).collect();
    let noise = Tensor::<1>::from_data(TensorData::from(noise.as_slice()), (&device, DType::F64));
    let rows = |marks: Tensor<2, Bool>| marks.slice([anchors.clone()]);
    let scores = Scores::from_views_of(first, second, Similarity::Cosine, anchors.clone())
        .with_same_class(rows(marks(&device, |i| i % 4 == 0)))
        .with_noise(noise.slice([anchors.clone()]));
    match mask {
        Masked::Nothing => scores,
        Masked::Entries => scores.with_mask(rows(marks(&device, |i| i % NEGATIVES < 4 || (i * i) % 7 < 4))),
        Masked::Anchors => scores.with_mask(rows(marks(&device, |i| !(i / NEGATIVES).is_multiple_of(3)))),
    }
}

/// What a mask hides.
#[derive(Debug, Clone, Copy)]
enum Masked {
    Nothing,
    /// Some negatives, so that rows are ragged.
    Entries,
    /// All negatives of every third anchor.
    Anchors,
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let difference = norm(&mut found.iter().zip(expected).map(|(found, expected)| found - expected));
    let relative = difference / norm(&mut expected.iter().copied());
    assert!(found.len() == expected.len() && relative < 1e-12, "{what}: {relative}");
}

#[test]
fn loss_and_gradients_are_those_of_all_anchors_at_once() {
    let device = Device::flex().autodiff();
    for (config, mask) in EstimatorConfig::all()
        .iter()
        .flat_map(|config| [Masked::Nothing, Masked::Entries, Masked::Anchors].map(|mask| (config, mask)))
    {
        let estimator = config.init();
        let leaves = embeddings(&device).map(Tensor::require_grad);
        let whole = estimator.forward(compare(leaves.clone(), 0..ANCHORS, mask), Reduction::Mean);
        let gradients = whole.backward();
        for at_most in [1, 4, 7, 9, 11, 17, 18, 40] {
            let what = format!("{}, {at_most} anchors at a time, masked: {mask:?}", config.name());
            let cache = EmbeddingGradients::compute(&*estimator, leaves.clone(), ANCHORS, at_most, |embeddings, anchors| {
                assert!(anchors.len() <= at_most);
                compare(embeddings, anchors, mask)
            });
            assert_close(&values(cache.loss), &values(whole.clone()), &what);
            if matches!(mask, Masked::Anchors) {
                assert_eq!(
                    values(cache.num_counted.expect("a mask")),
                    [ANCHORS as f64 * 2.0 / 3.0],
                    "{what}"
                );
            }
            for (leaf, gradient) in leaves.iter().zip(cache.gradients) {
                assert_close(
                    &values(gradient),
                    &values(leaf.grad(&gradients).expect("it takes part")),
                    &what,
                );
            }
        }
    }
}

#[test]
fn embeddings_that_no_anchor_meets_have_a_gradient_of_zeros() {
    let [first, second] = embeddings(&Device::flex());
    let estimator = EstimatorConfig::all()[0].init();
    let three = [first.clone(), second, first];
    let cache = EmbeddingGradients::compute(&*estimator, three, ANCHORS, 5, |[first, second, _], anchors| {
        Scores::from_views_of(first, second, Similarity::Cosine, anchors)
    });
    assert_eq!(values(cache.gradients[2].clone()), [0.0; SAMPLES * DIM]);
    assert!(values(cache.gradients[1].clone()).iter().all(|&value| value != 0.0));
}

#[test]
fn the_gradient_of_a_surrogate_is_what_it_was_made_of_bit_for_bit() {
    let leaves = embeddings(&Device::flex().autodiff()).map(Tensor::require_grad);
    let [second, first] = embeddings(&Device::flex());
    let mut gradients = surrogate(leaves.clone(), [first.clone(), second.clone()]).backward();
    for (leaf, given) in leaves.into_iter().zip([first, second]) {
        assert_eq!(
            values(leaf.grad_remove(&mut gradients).expect("it takes part")),
            values(given)
        );
    }
}
