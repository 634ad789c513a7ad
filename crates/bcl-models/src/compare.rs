//! Similarities of anchors with items, from embeddings whose dot product is the similarity.

use bcl_kernels::{gather_rows, matmul, sampled_dot};
use burn::tensor::{Int, Tensor};

/// Similarities of anchors with their positives and with each anchor's own negatives.
///
/// # Shapes
/// - anchors:   `[num_anchors, dim]`
/// - items:     `[num_items, dim]`
/// - positives: `[num_anchors]`, rows of `items`
/// - negatives: `[num_anchors, num_negatives]`, rows of `items`
/// - output:    `[num_anchors]`, `[num_anchors, num_negatives]`
pub fn compare_sampled(
    anchors: Tensor<2>,
    items: Tensor<2>,
    positives: Tensor<1, Int>,
    negatives: Tensor<2, Int>,
) -> (Tensor<1>, Tensor<2>) {
    let [num_anchors, num_negatives] = negatives.dims();
    // Positives and negatives together, so that the gradient of the item table is built only once.
    let candidates = Tensor::cat(vec![positives.unsqueeze_dim(1), negatives], 1);
    let scores = sampled_dot(anchors, items, candidates);
    let positives = scores.clone().slice([0..num_anchors, 0..1]).squeeze_dim(1);
    (positives, scores.slice([0..num_anchors, 1..num_negatives + 1]))
}

/// Similarities of anchors with their positives and with negatives that all anchors share.
///
/// # Shapes
/// - anchors:   `[num_anchors, dim]`
/// - items:     `[num_items, dim]`
/// - positives: `[num_anchors]`, rows of `items`
/// - negatives: `[num_negatives]`, rows of `items`
/// - output:    `[num_anchors]`, `[num_anchors, num_negatives]`
pub fn compare_shared(
    anchors: Tensor<2>,
    items: Tensor<2>,
    positives: Tensor<1, Int>,
    negatives: Tensor<1, Int>,
) -> (Tensor<1>, Tensor<2>) {
    let positives = sampled_dot(anchors.clone(), items.clone(), positives.unsqueeze_dim(1)).squeeze_dim(1);
    let negatives = gather_rows(items, negatives);
    (positives, matmul(anchors, negatives.transpose()))
}
