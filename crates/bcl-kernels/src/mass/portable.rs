//! Row masses composed of tensor operations.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Scalar};

use crate::RankOps;

pub(crate) fn mass<B: Backend>(scores: FloatTensor<B>, offsets: FloatTensor<B>, rate: f64) -> (FloatTensor<B>, FloatTensor<B>) {
    let shifted = B::float_mul_scalar(B::float_sub(scores, offsets), Scalar::from(rate));
    let terms = B::float_exp(shifted);
    (B::float_sum_dim(terms.clone(), 1), terms)
}

pub(crate) fn ranked_mass<B: RankOps>(
    scores: FloatTensor<B>,
    offsets: FloatTensor<B>,
    table: FloatTensor<B>,
    rate: f64,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let weights = B::rank_weights(scores.clone(), table);
    let (_, terms) = mass::<B>(scores, offsets, rate);
    let terms = B::float_mul(weights, terms);
    (B::float_sum_dim(terms.clone(), 1), terms)
}
