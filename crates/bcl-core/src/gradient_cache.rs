//! Gradient caching: the gradients of a large batch in the memory of a small one.
//!
//! The loss depends on the parameters of an encoder through the embeddings alone, so the chain rule can be cut there. (1) Encode the
//! batch part by part without a graph and keep the embeddings. (2) Find the gradients of the loss with respect to them,
//! [`EmbeddingGradients`]: block by block of anchors, because every loss is a mean over anchors. (3) Encode each part again, with
//! a graph, and go backward from its [`surrogate`]; the gradients of the parts add up to those of the whole batch.
//!
//! What exists at a time is the graph of one part or the scores of one block, never those of all. Batch normalisation by the batch
//! sees a part at a time: then the sum is the gradient of the batch encoded in these parts.
//!
//! Source: Gao, Zhang, Han, Callan, [Scaling Deep Contrastive Learning Batch Size under Memory Limited
//! Setup](https://arxiv.org/abs/2101.06983). Blocks of anchors are an addition: there, the scores of the batch exist as a whole.
//!
//! ```
//! use bcl_core::{
//!     BayesianConfig, Estimator, Reduction, Scores, Similarity,
//!     gradient_cache::{EmbeddingGradients, blocks, surrogate},
//! };
//! use burn::tensor::{Device, Int, Tensor};
//!
//! // Encodes a part of the images; here an encoder is a matrix.
//! fn encode(encoder: &Tensor<2>, images: &[Tensor<2>; 2], part: std::ops::Range<usize>) -> [Tensor<2>; 2] {
//!     images.clone().map(|view| view.slice([part.clone()]).matmul(encoder.clone()))
//! }
//!
//! let device = Device::flex().autodiff();
//! let numbers = |count| Tensor::<1, Int>::arange(0..count, &device).float();
//! let encoder = numbers(12 * 4).cos().reshape([12, 4]).require_grad();
//! let images = [numbers(6 * 12).sin(), (numbers(6 * 12) * 1.1).sin()].map(|view| view.reshape([6, 12]));
//! let estimator = BayesianConfig::new().init();
//!
//! let parts = || blocks(6, 2);
//! let frozen = encoder.clone().detach();
//! let encoded: Vec<_> = parts().map(|part| encode(&frozen, &images, part)).collect();
//! let embeddings = [0, 1].map(|view| Tensor::cat(encoded.iter().map(|part| part[view].clone()).collect(), 0));
//!
//! let cache = EmbeddingGradients::compute(&estimator, embeddings, 12, 5, |[first, second], anchors| {
//!     Scores::from_views_of(first, second, Similarity::Cosine, anchors)
//! });
//!
//! let mut gradient = Tensor::zeros([12, 4], &Device::flex());
//! for part in parts() {
//!     let surrogate = surrogate(encode(&encoder, &images, part.clone()), cache.rows(part));
//!     gradient = gradient + encoder.grad(&surrogate.backward()).expect("the encoder takes part");
//! }
//!
//! let [first, second] = encode(&encoder, &images, 0..6);
//! let whole = estimator.forward(Scores::from_views(first, second, Similarity::Cosine), Reduction::Mean);
//! let difference = gradient - encoder.grad(&whole.backward()).expect("the encoder takes part");
//! assert!(difference.abs().max().into_scalar::<f32>() < 1e-5);
//! ```

use crate::{Estimator, Reduction, Scores, estimator::share_correction};
use burn::tensor::Tensor;
use std::ops::Range;

/// The loss of a batch, and its gradients with respect to embeddings: what a gradient cache holds.
///
/// # Shapes
/// - loss:        `[1]`, nats, the mean over all anchors that have negatives
/// - gradients:   those of the tensors of embeddings
/// - `num_counted`: `[1]`
///
/// None of them is part of a graph.
#[derive(Debug, Clone)]
pub struct EmbeddingGradients<const N: usize> {
    /// Mean loss of the batch.
    pub loss: Tensor<1>,
    /// Gradients of that loss, a tensor for each tensor of embeddings.
    pub gradients: [Tensor<2>; N],
    /// How many anchors have negatives; `None` where all have.
    pub num_counted: Option<Tensor<1>>,
}

impl<const N: usize> EmbeddingGradients<N> {
    /// Compares the embeddings of a batch, at most `at_most` anchors at a time.
    ///
    /// `compare` turns embeddings into the scores of a range of anchors, with the mask, truth and noise of those anchors where there are
    /// any: [`Scores::from_views_of`] for two views, or any other source. It is called once for each of [`blocks`].
    ///
    /// # Shapes
    /// - embeddings: `[num_embeddings, dim]` each, with or without autodiff
    ///
    /// # Panics
    /// When there is no anchor, `at_most` is 0, or the estimator finds the scores lacking.
    pub fn compute(
        estimator: &dyn Estimator,
        embeddings: [Tensor<2>; N],
        num_anchors: usize,
        at_most: usize,
        compare: impl Fn([Tensor<2>; N], Range<usize>) -> Scores,
    ) -> Self {
        let embeddings = embeddings.map(Tensor::without_autodiff);
        let mut cache: Option<Self> = None;
        let mut num_left_out: Option<Tensor<1>> = None;
        for anchors in blocks(num_anchors, at_most) {
            let leaves = embeddings.clone().map(|embeddings| embeddings.autodiff().require_grad());
            let num_compared = anchors.len() as f64;
            let scores = compare(leaves.clone(), anchors);
            // A product, because Burn's division of an f64 tensor by a number goes backward in f32.
            let losses = estimator.losses(scores);
            if let Some(num_counted) = losses.num_counted() {
                let left_out = -num_counted.without_autodiff() + num_compared;
                num_left_out = Some(match num_left_out {
                    Some(before) => before + left_out,
                    None => left_out,
                });
            }
            let share = losses.reduce(Reduction::Sum) * (num_anchors as f64).recip();
            let mut gradients = share.backward();
            let of_block = Self {
                loss: share.without_autodiff(),
                gradients: leaves.map(|leaf| {
                    let gradient = leaf.grad_remove(&mut gradients);
                    gradient.unwrap_or_else(|| leaf.without_autodiff().zeros_like())
                }),
                num_counted: None,
            };
            cache = Some(match cache {
                Some(cache) => cache.plus(of_block),
                None => of_block,
            });
        }
        let cache = cache.expect("a batch has at least one anchor");
        match num_left_out {
            Some(left_out) => cache.over_counted(num_anchors, -left_out + num_anchors as f64),
            None => cache,
        }
    }

    /// The gradients of some rows: of the embeddings of a part, where all tensors have a row a sample.
    ///
    /// # Panics
    /// When a tensor has no such rows.
    pub fn rows(&self, part: Range<usize>) -> [Tensor<2>; N] {
        self.gradients.clone().map(|gradient| gradient.slice([part.clone()]))
    }

    fn plus(self, other: Self) -> Self {
        let mut others = other.gradients.into_iter();
        Self {
            loss: self.loss + other.loss,
            gradients: self
                .gradients
                .map(|gradient| gradient + others.next().expect("as many as these")),
            num_counted: None,
        }
    }

    /// Turns the mean over all anchors into one over those that have negatives: how many these are is known after the last block.
    fn over_counted(self, num_anchors: usize, num_counted: Tensor<1>) -> Self {
        let correction = share_correction(num_anchors, num_counted.clone());
        let corrected = |gradient: Tensor<2>| {
            let correction = correction.clone().cast(gradient.dtype());
            gradient * correction.unsqueeze::<2>()
        };
        Self {
            loss: self.loss * correction.clone(),
            gradients: self.gradients.map(corrected),
            num_counted: Some(num_counted),
        }
    }
}

/// A sum whose gradient with respect to the embeddings is the given one, so that going backward from it continues the chain rule:
/// `Σ embedding · gradient`.
///
/// # Shapes
/// - gradients: those of the embeddings
/// - output:    `[1]`; its value means nothing
///
/// # Panics
/// When the shapes differ, or there is nothing to sum.
pub fn surrogate<const N: usize>(embeddings: [Tensor<2>; N], gradients: [Tensor<2>; N]) -> Tensor<1> {
    let pairs = embeddings.into_iter().zip(gradients);
    let products = pairs.map(|(embeddings, gradients)| {
        assert_eq!(
            embeddings.dims(),
            gradients.dims(),
            "embeddings and their gradients must have one shape"
        );
        (embeddings * gradients).sum()
    });
    products
        .reduce(|sum, product| sum + product)
        .expect("at least one tensor of embeddings")
}

/// Ranges of at most `at_most` that follow each other from 0 to `total`, as few and as equal in length as can be: 10 at most 4 at a time
/// are 4, 3 and 3. So none is a small rest, which batch normalisation could not do with.
///
/// # Panics
/// When `at_most` is 0.
pub fn blocks(total: usize, at_most: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone + Send + use<> {
    assert!(at_most > 0, "a block has at least one element");
    let count = total.div_ceil(at_most);
    (0..count).map(move |block| {
        let (each, longer) = (total / count, total % count);
        let start = |block: usize| block * each + block.min(longer);
        start(block)..start(block + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_each_other_without_a_small_rest() {
        let lengths = |total, at_most| blocks(total, at_most).map(|block| block.len()).collect::<Vec<_>>();
        assert_eq!(lengths(10, 4), [4, 3, 3]);
        assert_eq!(lengths(257, 256), [129, 128]);
        assert_eq!(lengths(4, 9), [4]);
        assert_eq!(lengths(0, 9), [0; 0]);
        for (total, at_most) in (3..60).flat_map(|total| (3..=total).map(move |at_most| (total, at_most))) {
            let ends: Vec<_> = blocks(total, at_most).map(|block| block.end).collect();
            let starts: Vec<_> = blocks(total, at_most).map(|block| block.start).collect();
            assert_eq!((starts[0], ends.last()), (0, Some(&total)));
            assert_eq!(starts[1..], ends[..ends.len() - 1]);
            let lengths = lengths(total, at_most);
            assert!(
                lengths.iter().all(|length| (2..=at_most).contains(length)),
                "{total} {at_most}: {lengths:?}"
            );
        }
    }
}
