//! Losses against sampled rows composed of tensor operations.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};

use crate::contrast::{Plan, portable::slopes_of_scores};
use crate::{RankOps, SampledOps};

pub(crate) fn sampled_contrast<B: RankOps + SampledOps>(
    anchors: FloatTensor<B>,
    table: FloatTensor<B>,
    positives: IntTensor<B>,
    negatives: IntTensor<B>,
    weights: FloatTensor<B>,
    plan: Plan,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>, IntTensor<B>) {
    debug_assert_eq!(positives.shape()[1], 1);
    let positive = B::sampled_dot(anchors.clone(), table.clone(), positives.clone());
    let scores = B::sampled_dot(anchors, table.clone(), negatives.clone());
    let (losses, positive_slopes, slopes) = slopes_of_scores::<B>(scores, positive, weights, &plan);
    let of_scores = B::float_cat(vec![positive_slopes, slopes], 1);
    let candidates = B::int_cat(vec![positives, negatives], 1);
    let of_anchors = B::sampled_sum(of_scores.clone(), table, candidates.clone());
    (losses, of_anchors, of_scores, candidates)
}
