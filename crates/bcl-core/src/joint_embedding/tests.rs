//! Properties of the losses without negatives; `bcl-bench parity` compares them with reference values.

use super::*;
use burn::tensor::{DType, Device, TensorData};

/// A deterministic table in (-1, 1), without a random source.
fn table(rows: usize, columns: usize, phase: f64) -> Tensor<2> {
    let values: Vec<f64> = (0..rows * columns).map(|i| (1.7 * i as f64 + phase).sin()).collect();
    Tensor::from_data(TensorData::new(values, [rows, columns]), (&Device::flex(), DType::F64))
}

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn assert_close(left: &[f64], right: &[f64], tolerance: f64) {
    assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        assert!((l - r).abs() <= tolerance * (1.0 + r.abs()), "{l} is not {r}");
    }
}

/// Compares the gradient of a loss with finite differences of its value.
fn assert_gradient_is_slope(inputs: [Tensor<2>; 2], loss: impl Fn([Tensor<2>; 2]) -> Tensor<1>) {
    let leaves = inputs.clone().map(|input| input.autodiff().require_grad());
    let gradients = loss(leaves.clone()).backward();
    let step = 1e-6;
    for which in 0..2 {
        let analytic = host(leaves[which].grad(&gradients).expect("a gradient"));
        for (i, analytic) in analytic.into_iter().enumerate() {
            let value = |by: f64| {
                let mut changed = inputs.clone();
                let mut values = host(changed[which].clone());
                values[i] += by;
                let data = TensorData::new(values, changed[which].dims());
                changed[which] = Tensor::from_data(data, (&Device::flex(), DType::F64));
                host(loss(changed))[0]
            };
            let numeric = (value(step) - value(-step)) / (2.0 * step);
            assert!(
                (analytic - numeric).abs() < 1e-6 * (1.0 + numeric.abs()),
                "input {which}, entry {i}: {analytic} against {numeric}"
            );
        }
    }
}

#[test]
fn gradients_are_slopes() {
    let views = || [table(5, 3, 0.2), table(5, 3, 1.1)];
    let barlow_twins = BarlowTwinsLossConfig::new().init();
    assert_gradient_is_slope(views(), |[first, second]| barlow_twins.forward(first, second));
    let vicreg = VicRegLossConfig::new().init();
    assert_gradient_is_slope(views(), |[first, second]| vicreg.forward(first, second));
    let swav = SwavLossConfig::new().init();
    let codes = views().map(|scores| swav.codes(scores));
    assert_gradient_is_slope(views(), |scores| swav.forward_no_reduction(&codes, &scores).mean());
    let dino = DinoLossConfig::new().init();
    let center = Tensor::zeros([3], (&Device::flex(), DType::F64));
    assert_gradient_is_slope(views(), |students| {
        dino.forward_no_reduction(&views(), &students, center.clone()).mean()
    });
}

#[test]
fn the_target_of_a_prediction_has_no_gradient() {
    let [predictions, targets] = [0.2, 1.1].map(|phase| table(4, 3, phase).autodiff().require_grad());
    let gradients = negative_cosine(predictions.clone(), targets.clone()).mean().backward();
    assert!(predictions.grad(&gradients).is_some());
    assert!(targets.grad(&gradients).is_none());
}

#[test]
fn the_length_of_a_row_does_not_matter_to_a_cosine() {
    let [predictions, targets] = [0.2, 1.1].map(|phase| table(4, 3, phase));
    let losses = host(negative_cosine(predictions.clone(), targets.clone()));
    assert_close(&host(negative_cosine(predictions * 1e-3, targets * 50.0)), &losses, 1e-12);
}

/// The sum over entries of what the crate computes by matrix products.
#[test]
fn correlations_are_those_of_the_definition() {
    let [first, second] = [0.2, 1.1].map(|phase| table(6, 4, phase));
    let standardised = |view: &Tensor<2>| {
        let (values, mut columns) = (host(view.clone()), vec![vec![0.0; 6]; 4]);
        for (column, numbers) in columns.iter_mut().enumerate() {
            let raw: Vec<f64> = (0..6).map(|row| values[row * 4 + column]).collect();
            let mean = raw.iter().sum::<f64>() / 6.0;
            let variance = raw.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 6.0;
            *numbers = raw.iter().map(|x| (x - mean) / (variance + 1e-5).sqrt()).collect();
        }
        columns
    };
    let (left, right) = (standardised(&first), standardised(&second));
    let mut expected = [0.0, 0.0];
    for i in 0..4 {
        for j in 0..4 {
            let correlation = left[i].iter().zip(&right[j]).map(|(x, y)| x * y).sum::<f64>() / 6.0;
            expected[usize::from(i != j)] += if i == j {
                (correlation - 1.0).powi(2)
            } else {
                correlation.powi(2)
            };
        }
    }
    let terms = BarlowTwinsLossConfig::new().init().terms(first, second);
    assert_close(
        &[host(terms.on_diagonal), host(terms.off_diagonal)].concat(),
        &expected,
        1e-12,
    );
}

#[test]
fn a_constant_dimension_is_nan_without_epsilon_only() {
    let view = Tensor::cat(vec![table(5, 2, 0.2), Tensor::ones([5, 1], (&Device::flex(), DType::F64))], 1);
    let loss = |config: BarlowTwinsLossConfig| host(config.init().forward(view.clone(), view.clone()))[0];
    assert!(loss(BarlowTwinsLossConfig::new()).is_finite());
    let sample = BarlowTwinsLossConfig::new().with_deviation(StandardDeviation::Sample);
    assert!(loss(sample.clone()).is_finite());
    assert!(loss(sample.with_epsilon(0.0)).is_nan());
}

#[test]
fn collapsed_views_cost_the_hinge_alone() {
    let collapsed = Tensor::<2>::ones([4, 3], (&Device::flex(), DType::F64));
    let terms = VicRegLossConfig::new().init().terms(collapsed.clone(), collapsed);
    let terms = [terms.invariance, terms.variance, terms.covariance].map(host).concat();
    assert_close(&terms, &[0.0, 0.99, 0.0], 1e-12);
}

#[test]
fn columns_of_codes_are_equal_after_many_iterations() {
    let codes = sinkhorn(table(6, 4, 0.2), 0.1, 500);
    assert_close(&host(codes.clone().sum_dim(1)), &[1.0; 6], 1e-12);
    assert_close(&host(codes.sum_dim(0)), &[1.5; 4], 1e-9);
}

#[test]
fn codes_stay_finite_where_exponentials_do_not() {
    // e^(1 / 1e-4) overflows f64, and the scores of the second row vanish beside it.
    let scores = Tensor::<2>::from_data([[1.0, 0.9], [-1.0, -0.9]], &Device::flex());
    let codes = host(sinkhorn(scores, 1e-4, 3));
    // Three iterations by hand, with 0 for what vanishes.
    assert_close(&codes, &[5.0 / 6.0, 1.0 / 6.0, 0.0, 1.0], 1e-6);
}

#[test]
fn a_queue_shares_the_prototypes_with_the_batch() {
    let swav = SwavLossConfig::new().with_epsilon(0.5).with_iterations(200).init();
    let (scores, queue) = (table(2, 4, 0.2), table(6, 4, 1.1));
    let together = swav.codes(Tensor::cat(vec![scores.clone(), queue.clone()], 0));
    let codes = swav.codes_with_queue(scores.clone(), queue);
    assert_close(&host(codes.clone()), &host(together.slice_dim(0, 0..2)), 0.0);
    // Alone, two samples would have to share all four prototypes.
    let difference = host((codes - swav.codes(scores)).abs().max())[0];
    assert!(difference > 0.01, "{difference}");
}

#[test]
fn more_crops_are_averaged_over_pairs_of_different_views() {
    let swav = SwavLossConfig::new().init();
    let scores: Vec<_> = (0..4).map(|view| table(3, 5, f64::from(view))).collect();
    let codes = [0, 1].map(|view: usize| swav.codes(scores[view].clone()));
    let pair = |code: usize, prediction: usize| {
        let prediction = log_softmax(scores[prediction].clone() * 10.0, 1);
        host(-(codes[code].clone() * prediction).sum_dim(1))
    };
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 2), (1, 3)].map(|(code, prediction)| pair(code, prediction));
    let expected: Vec<f64> = (0..3)
        .map(|row| pairs.iter().map(|pair| pair[row]).sum::<f64>() / 6.0)
        .collect();
    assert_close(&host(swav.forward_no_reduction(&codes, &scores)), &expected, 1e-12);
}

#[test]
fn the_centre_is_subtracted_before_the_temperature() {
    let dino = DinoLossConfig::new().init();
    let views = [table(3, 5, 0.2), table(3, 5, 1.1)];
    let moved = views.clone().map(|view| view + 0.3);
    let center = |value: f64| Tensor::full([5], value, (&Device::flex(), DType::F64));
    // A centre of all logits moves the teacher's distribution as little as the logits themselves do.
    let expected = host(dino.forward_no_reduction(&views, &views, center(0.0)));
    assert_close(
        &host(dino.forward_no_reduction(&moved, &views, center(0.3))),
        &expected,
        1e-12,
    );
    let one_higher = Tensor::from_data([0.3, 0.0, 0.0, 0.0, 0.0], (&Device::flex(), DType::F64));
    let changed = host(dino.forward_no_reduction(&views, &views, one_higher));
    assert!(
        changed
            .iter()
            .zip(&expected)
            .any(|(changed, same)| (changed - same).abs() > 1e-2)
    );
}

#[test]
fn huge_logits_stay_finite_in_f32() {
    let logits = Tensor::<2>::from_data([[1e4, -1e4, 0.0], [-1e4, 1e4, 0.0]], &Device::flex())
        .autodiff()
        .require_grad();
    let views = [logits.clone(), -logits.clone()];
    let center = Tensor::zeros([3], &logits.device());
    let loss = DinoLossConfig::new()
        .init()
        .forward_no_reduction(&views, &views, center)
        .mean();
    let gradients = loss.clone().backward();
    assert!(host(loss)[0].is_finite());
    assert!(
        host(logits.grad(&gradients).expect("a gradient"))
            .iter()
            .all(|slope| slope.is_finite())
    );
}

#[test]
fn errors_name_parameter_value_and_range() {
    let error = |checked: Result<(), crate::ParameterError>| checked.expect_err("out of range").to_string();
    assert_eq!(
        error(DinoLossConfig::new().with_teacher_temperature(0.0).check()),
        "teacher_temperature is 0, but must be in [1e-6, 1000000]"
    );
    assert_eq!(
        error(SwavLossConfig::new().with_iterations(0).check()),
        "iterations is 0, but must be in [1, 1000]"
    );
    assert_eq!(
        error(BarlowTwinsLossConfig::new().with_lambda(f64::NAN).check()),
        "lambda is NaN, but must be in [0, 1000000]"
    );
    assert_eq!(
        error(VicRegLossConfig::new().with_epsilon(0.0).check()),
        "epsilon is 0, but must be in [1e-12, 1]"
    );
}

#[test]
#[should_panic(expected = "2 views with targets and 1 views with predictions")]
fn a_target_without_another_view_is_refused() {
    let codes = [table(3, 4, 0.0), table(3, 4, 1.0)];
    SwavLossConfig::new().init().forward_no_reduction(&codes, &codes[..1]);
}

#[test]
#[should_panic(expected = "but the views are [1, 4]")]
fn one_sample_has_no_correlation() {
    BarlowTwinsLossConfig::new()
        .init()
        .forward(table(1, 4, 0.0), table(1, 4, 1.0));
}
