//! Losses of joint-embedding methods, which compare the views of an image with each other and have no negatives.
//!
//! Instead of negatives, each of them has another means against collapse, the state in which all embeddings are the same:
//!
//! | loss | method | against collapse |
//! | --- | --- | --- |
//! | [`negative_cosine`] | BYOL, SimSiam | a predictor, and targets without a gradient |
//! | [`BarlowTwinsLoss`] | Barlow Twins | the correlations of different dimensions are pushed to 0 |
//! | [`VicRegLoss`] | VICReg | a hinge on the standard deviation of each dimension |
//! | [`SwavLoss`] | SwAV | codes that use all prototypes equally, [`sinkhorn`] |
//! | [`DinoLoss`] | DINO | the teacher's outputs are centred and sharpened |
//!
//! Losses that are means over samples have a `forward_no_reduction`, whose rows can be computed in blocks:
//! [gradient caching](crate::gradient_cache) works with them. Barlow Twins and VICReg compare dimensions over the whole batch.

mod barlow_twins;
mod dino;
mod negative_cosine;
mod swav;
mod vicreg;

pub use barlow_twins::{BarlowTwinsLoss, BarlowTwinsLossConfig, BarlowTwinsTerms, StandardDeviation};
pub use dino::{DinoLoss, DinoLossConfig};
pub use negative_cosine::negative_cosine;
pub use swav::{SwavLoss, SwavLossConfig, sinkhorn};
pub use vicreg::{VicRegLoss, VicRegLossConfig, VicRegTerms};

use burn::tensor::{Tensor, activation::log_softmax};

/// Computes the cross-entropy of predicted logits with target distributions, averaged over the pairs of a target's view and another view.
///
/// # Shapes
/// - targets: `[num_samples, num_classes]` for the first views, rows that sum to 1
/// - logits:  `[num_samples, num_classes]` for all views
/// - output:  `[num_samples]`, nats
///
/// # Panics
/// Panics if there is no such pair, or if the shapes differ.
fn cross_entropy_with_other_views(targets: &[Tensor<2>], logits: &[Tensor<2>]) -> Tensor<1> {
    assert!(
        !targets.is_empty() && logits.len() >= targets.len().max(2),
        "{} views with targets and {} views with predictions: each target needs the prediction of another view",
        targets.len(),
        logits.len()
    );
    let log_predictions: Vec<_> = logits.iter().map(|logits| log_softmax(logits.clone(), 1)).collect();
    let others = |view: usize| log_predictions.iter().enumerate().filter(move |(other, _)| *other != view);
    let mut pairs = targets.iter().enumerate().flat_map(|(view, target)| {
        others(view).map(move |(_, log_prediction)| {
            assert_eq!(
                target.dims(),
                log_prediction.dims(),
                "targets and predictions must have one shape"
            );
            (target.clone() * log_prediction.clone()).sum_dim(1)
        })
    });
    let first = pairs.next().expect("there are at least two views");
    let sum = pairs.fold(first, |sum, next| sum + next);
    let num_pairs = targets.len() * (logits.len() - 1);
    (sum * -(num_pairs as f64).recip()).squeeze_dim(1)
}

/// Centres the columns of a table, and computes their sums of squares after that.
///
/// # Shapes
/// - table, first output: `[num_samples, dim]`
/// - second output:       `[1, dim]`
fn centred(table: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let [num_samples, _] = table.dims();
    let mean = table.clone().sum_dim(0) * (num_samples as f64).recip();
    let centred = table - mean;
    (centred.clone(), (centred.clone() * centred).sum_dim(0))
}

/// The shape of two views of a batch.
///
/// # Panics
/// Panics if the shapes differ, or if there are fewer than two samples or two dimensions.
fn shape_of_views(first: &Tensor<2>, second: &Tensor<2>) -> [usize; 2] {
    let [num_samples, dim] = first.dims();
    assert_eq!(second.dims(), [num_samples, dim], "the two views must have one shape");
    assert!(
        num_samples > 1 && dim > 1,
        "correlations need at least 2 samples of 2 dimensions, but the views are [{num_samples}, {dim}]"
    );
    [num_samples, dim]
}

#[cfg(test)]
mod tests;
