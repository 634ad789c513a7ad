//! Computes a case with our estimators.

use super::{golden::Case, precision::Arithmetic};
use bcl_core::{EstimatorConfig, Pairs, Reduction, Scores, SideInformation, Similarity};
use bcl_golden::Views;
use burn::tensor::{Tensor, TensorData};

/// Loss and gradients of a case.
#[derive(Debug)]
pub(crate) struct Computed {
    /// Mean over anchors, in nats.
    pub(crate) loss: f64,
    /// Gradients with respect to the first and the second view, row-major.
    pub(crate) gradients: [Vec<f64>; 2],
}

/// Computes loss and gradients.
pub(crate) fn compute(case: &Case, views: &Views, arithmetic: &Arithmetic) -> Computed {
    compute_at(case, views, arithmetic, |scores| scores)
}

/// Computes loss and gradients in f64, but from the rounded similarities of another arithmetic: the best result that it could
/// reach.
pub(crate) fn compute_at_rounded(case: &Case, views: &Views, arithmetic: &Arithmetic) -> Computed {
    let rounded = scores_of(views, arithmetic);
    // The difference is a constant, so gradients flow to the views as they do without it.
    compute_at(case, views, &Arithmetic::reference(), |mut scores| {
        let (positives, negatives) = (scores.positives.clone(), scores.negatives.clone());
        scores.positives = positives.clone() + (at(rounded.positives, &positives) - positives.detach());
        scores.negatives = negatives.clone() + (at(rounded.negatives, &negatives) - negatives.detach());
        scores
    })
}

/// The largest error of any similarity.
pub(crate) fn rounding_of_similarities(views: &Views, arithmetic: &Arithmetic) -> f64 {
    let (rounded, exact) = (scores_of(views, arithmetic), scores_of(views, &Arithmetic::reference()));
    let largest = |rounded: Vec<f64>, exact: Vec<f64>| {
        let differences = rounded.into_iter().zip(exact).map(|(r, e)| (r - e).abs());
        differences.fold(0.0, f64::max)
    };
    let of_positives = largest(values(rounded.positives), values(exact.positives));
    of_positives.max(largest(values(rounded.negatives), values(exact.negatives)))
}

fn compute_at(case: &Case, views: &Views, arithmetic: &Arithmetic, change: impl FnOnce(Scores) -> Scores) -> Computed {
    let arithmetic = arithmetic.with_gradients();
    let [first, second] = tensors(views, &arithmetic).map(Tensor::require_grad);
    let scores = change(cosines(first.clone(), second.clone()));
    let mut side = SideInformation::none();
    if let Some(draws) = &case.reference.draws {
        let noise = TensorData::from(standard_draws(case, views, draws).as_slice());
        side = side.with_noise(Tensor::from_data(noise, arithmetic.options()));
    }
    let loss = case.config.init().forward_with(scores, &side, Reduction::Mean);
    let gradients = loss.backward();
    Computed {
        loss: values(loss)[0],
        gradients: [first, second].map(|view| values(view.grad(&gradients).expect("both views take part in the loss"))),
    }
}

/// `Ng` of every anchor in f64, computed from its loss: `Ng = x+ · (e^L - 1)`.
///
/// This loses no precision, although an exponential follows a logarithm: if `Ng / x+` is small, `L` carries its digits;
/// otherwise an absolute rounding error of `L` is a relative one of `e^L`.
pub(crate) fn negative_masses(case: &Case, views: &Views) -> Vec<f64> {
    let scores = scores_of(views, &Arithmetic::reference());
    let t = case.config.temperature();
    let positives = values(scores.positives.clone());
    let losses = values(case.config.init().forward_no_reduction(scores));
    let relative_mass = |loss: f64| match case.config {
        EstimatorConfig::Decoupled(_) => loss.exp(),
        _ => loss.exp_m1(),
    };
    losses
        .into_iter()
        .zip(positives)
        .map(|(loss, positive)| (positive / t).exp() * relative_mass(loss))
        .collect()
}

/// Converts draws of the file, which have rate 1, to the rate of each anchor: `g = u · rate`, with the rate `x+ + Σ x_i` for
/// the augmented loss and `Σ x_i` for the geometric one.
fn standard_draws(case: &Case, views: &Views, draws: &[f64]) -> Vec<f64> {
    let scores = scores_of(views, &Arithmetic::reference());
    let t = case.config.temperature();
    let x = |tensor: Tensor<2>| (tensor / t).exp();
    let mut rates = x(scores.negatives).sum_dim(1);
    if matches!(case.config, EstimatorConfig::Augmented(_)) {
        rates = rates + x(scores.positives);
    }
    draws.iter().zip(values(rates)).map(|(u, rate)| u * rate).collect()
}

fn scores_of(views: &Views, arithmetic: &Arithmetic) -> Scores {
    let [first, second] = tensors(views, arithmetic);
    cosines(first, second)
}

/// The rows in the file have unit length, and its gradients are with respect to these rows.
fn cosines(first: Tensor<2>, second: Tensor<2>) -> Scores {
    Pairs::from_views(first, second, Similarity::Dot)
        .into_scores()
        .with_least_similarity(-1.0)
}

fn tensors(views: &Views, arithmetic: &Arithmetic) -> [Tensor<2>; 2] {
    [&views.first, &views.second].map(|view| {
        let data = TensorData::new(view.clone(), [views.batch_size, views.dim]);
        Tensor::from_data(data, arithmetic.options())
    })
}

/// Copies a tensor to the device and the precision of another.
fn at<const D: usize>(tensor: Tensor<D>, like: &Tensor<D>) -> Tensor<D> {
    Tensor::from_data(tensor.into_data(), (&like.device(), like.dtype()))
}

/// The values of a tensor, row-major.
pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}
