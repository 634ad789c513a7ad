//! Blocks of anchors add up to the whole batch, for every estimator, with masks and side information.

use bcl_core::{
    EstimatorConfig, Pairs, Reduction, Scores, SideInformation, Similarity,
    gradient_cache::{EmbeddingGradients, Table, surrogate},
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

/// Scores of some anchors, and their truth and noise.
fn compare(views: &[Tensor<2>], anchors: Range<usize>, mask: Masked) -> (Scores, SideInformation) {
    let device = views[0].device();
    let noise: Vec<f64> = (0..ANCHORS).map(|i| 0.2 + (2.3 * i as f64).sin().abs()).collect();
    let side = SideInformation::none()
        .with_noise(Tensor::from_data(TensorData::from(noise.as_slice()), (&device, DType::F64)))
        .with_same_class(marks(&device, |i| i % 4 == 0))
        .of_anchors(anchors.clone());
    let scores = Pairs::from_views_of(views[0].clone(), views[1].clone(), Similarity::Cosine, anchors.clone()).into_scores();
    let rows = |marks: Tensor<2, Bool>| marks.slice([anchors]);
    let scores = match mask {
        Masked::Nothing => scores,
        Masked::Entries => scores.with_mask(rows(marks(&device, |i| i % NEGATIVES < 4 || (i * i) % 7 < 4))),
        Masked::Anchors => scores.with_mask(rows(marks(&device, |i| !(i / NEGATIVES).is_multiple_of(3)))),
    };
    (scores, side)
}

/// Entries that a mask leaves out.
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
        .filter(|config| !config.init().requirements().whole_batch)
        .flat_map(|config| [Masked::Nothing, Masked::Entries, Masked::Anchors].map(|mask| (config, mask)))
    {
        let estimator = config.init();
        let leaves = embeddings(&device).map(Tensor::require_grad);
        let (scores, side) = compare(&leaves, 0..ANCHORS, mask);
        let whole = estimator.forward_with(scores, &side, Reduction::Mean);
        let gradients = whole.backward();
        for at_most in [1, 4, 7, 9, 11, 17, 18, 40] {
            let what = format!("{}, {at_most} anchors at a time, masked: {mask:?}", config.name());
            let tables = leaves.clone().map(Table::Trained);
            let cache = EmbeddingGradients::compute(tables, ANCHORS, at_most, |views, anchors| {
                assert!(anchors.len() <= at_most);
                let (scores, side) = compare(views, anchors, mask);
                estimator.losses(scores.into(), &side)
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
                    &values(gradient.expect("both views are trained")),
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
    let three = [first.clone(), second, first].map(Table::Trained);
    let cache = EmbeddingGradients::compute(three, ANCHORS, 5, |views, anchors| {
        let scores = Pairs::from_views_of(views[0].clone(), views[1].clone(), Similarity::Cosine, anchors).into_scores();
        estimator.losses(scores.into(), &SideInformation::none())
    });
    let gradient = |table: usize| values(cache.gradients[table].clone().expect("it is trained"));
    assert_eq!(gradient(2), [0.0; SAMPLES * DIM]);
    assert!(gradient(1).iter().all(|&value| value != 0.0));
}

#[test]
fn constant_embeddings_have_no_gradient_and_change_none_of_the_others() {
    let [first, second] = embeddings(&Device::flex());
    let estimator = EstimatorConfig::all()[0].init();
    let compute = |tables: Vec<Table>| {
        EmbeddingGradients::compute(tables, ANCHORS, 5, |views, anchors| {
            let scores = Pairs::from_views_of(views[0].clone(), views[1].clone(), Similarity::Cosine, anchors).into_scores();
            estimator.losses(scores.into(), &SideInformation::none())
        })
    };
    let both = compute(vec![Table::Trained(first.clone()), Table::Trained(second.clone())]);
    let one = compute(vec![Table::Trained(first.clone()), Table::Constant(second.clone())]);
    assert_eq!(values(one.loss.clone()), values(both.loss.clone()));
    assert_eq!(
        values(one.gradients[0].clone().expect("it is trained")),
        values(both.gradients[0].clone().expect("it is trained"))
    );
    assert!(one.gradients[1].is_none());

    let leaves = [first, second].map(|table| table.autodiff().require_grad());
    let gradients = surrogate(leaves.clone(), one.gradients).backward();
    assert!(leaves[0].grad(&gradients).is_some() && leaves[1].grad(&gradients).is_none());
}

#[test]
fn the_gradient_of_a_surrogate_is_bit_by_bit_the_given_one() {
    let leaves = embeddings(&Device::flex().autodiff()).map(Tensor::require_grad);
    let [second, first] = embeddings(&Device::flex());
    let given = vec![Some(first.clone()), Some(second.clone())];
    let mut gradients = surrogate(leaves.clone(), given).backward();
    for (leaf, given) in leaves.into_iter().zip([first, second]) {
        assert_eq!(
            values(leaf.grad_remove(&mut gradients).expect("it takes part")),
            values(given)
        );
    }
}
