//! Gradient caching: the gradients of a large batch in the memory of a small one.
//!
//! The loss depends on the parameters of an encoder only through the embeddings, so the chain rule can be cut there:
//!
//! 1. Encode the batch part by part without a graph and keep the embeddings.
//! 2. Compute the gradients of the loss with respect to the embeddings, [`EmbeddingGradients`], in blocks of anchors: every loss is a
//!    mean over anchors.
//! 3. Encode each part again, with a graph, and call `backward` on its [`surrogate`]; the gradients of the parts add up to the gradients
//!    of the whole batch.
//!
//! At any time, memory holds the graph of one part or the scores of one block, never more. Batch normalisation computes its statistics
//! over one part: the sum is then the gradient of the batch encoded in these parts.
//!
//! Source: Gao, Zhang, Han, Callan, [Scaling Deep Contrastive Learning Batch Size under Memory Limited
//! Setup](https://arxiv.org/abs/2101.06983). Blocks of anchors are an addition: there, the scores of the batch exist as a whole.
//!
//! ```
//! use bcl_core::{
//!     BayesianLossConfig, Estimator, Pairs, Reduction, SideInformation, Similarity,
//!     gradient_cache::{EmbeddingGradients, Table, blocks, surrogate},
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
//! let estimator = BayesianLossConfig::new().init();
//!
//! let parts = || blocks(6, 2);
//! let frozen = encoder.clone().detach();
//! let encoded: Vec<_> = parts().map(|part| encode(&frozen, &images, part)).collect();
//! let views = [0, 1].map(|view| Tensor::cat(encoded.iter().map(|part| part[view].clone()).collect(), 0));
//!
//! let cache = EmbeddingGradients::compute(views.map(Table::Trained), 12, 5, |views, anchors| {
//!     let pairs = Pairs::from_views_of(views[0].clone(), views[1].clone(), Similarity::Cosine, anchors);
//!     estimator.losses(pairs, &SideInformation::none())
//! });
//!
//! let mut gradient = Tensor::zeros([12, 4], &Device::flex());
//! for part in parts() {
//!     let surrogate = surrogate(encode(&encoder, &images, part.clone()), cache.rows(part));
//!     gradient = gradient + encoder.grad(&surrogate.backward()).expect("the encoder takes part");
//! }
//!
//! let [first, second] = encode(&encoder, &images, 0..6);
//! let whole = estimator.forward([first, second], Reduction::Mean);
//! let difference = gradient - encoder.grad(&whole.backward()).expect("the encoder takes part");
//! assert!(difference.abs().max().into_scalar::<f32>() < 1e-5);
//! ```

mod share;

pub use share::GradientShare;

use crate::Losses;
use burn::tensor::Tensor;
use std::ops::Range;

/// A table of embeddings, `[num_embeddings, dim]`.
#[derive(Debug, Clone)]
pub enum Table {
    /// Embeddings that the encoder learns from: their gradients are computed.
    Trained(Tensor<2>),
    /// Embeddings without gradients, such as a momentum encoder's or a queue's.
    Constant(Tensor<2>),
}

/// The loss of a batch and its gradients with respect to embeddings. None of the tensors is part of a graph.
///
/// # Shapes
/// - loss:          `[1]`, nats, the mean over all anchors that have a loss
/// - gradients:     the shapes of the tables
/// - `num_counted`: `[1]`
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EmbeddingGradients {
    /// Mean loss of the batch.
    pub loss: Tensor<1>,
    /// Gradients of that loss, one per table; `None` for constant tables.
    pub gradients: Vec<Option<Tensor<2>>>,
    /// How many anchors have a loss; `None` if all have.
    pub num_counted: Option<Tensor<1>>,
}

impl EmbeddingGradients {
    /// Computes the loss of a batch from its embeddings, at most `at_most` anchors at a time.
    ///
    /// `losses` computes the losses of a range of anchors from the embeddings of the whole batch, which it is given in the order of
    /// `tables`. It is called once for each of [`blocks`]. Usually it makes the [`Pairs`](crate::Pairs) of those anchors
    /// ([`Pairs::from_views_of`](crate::Pairs::from_views_of) for two views) and passes them to an
    /// [`Estimator`](crate::Estimator).
    ///
    /// # Panics
    /// Panics if there is no anchor or `at_most` is 0.
    pub fn compute(
        tables: impl IntoIterator<Item = Table>,
        num_anchors: usize,
        at_most: usize,
        losses: impl Fn(&[Tensor<2>], Range<usize>) -> Losses,
    ) -> Self {
        GradientShare::compute(tables, num_anchors, 0..num_anchors, at_most, losses).whole()
    }

    /// Slices the gradients of some rows, such as one part of the batch if all tables have one row per sample.
    ///
    /// # Panics
    /// Panics if a table has no such rows.
    pub fn rows(&self, part: Range<usize>) -> Vec<Option<Tensor<2>>> {
        let rows = |gradient: Tensor<2>| gradient.slice([part.clone()]);
        self.gradients.iter().cloned().map(|gradient| gradient.map(rows)).collect()
    }
}

impl Table {
    /// The embeddings.
    pub fn into_rows(self) -> Tensor<2> {
        match self {
            Self::Trained(rows) | Self::Constant(rows) => rows,
        }
    }

    fn without_autodiff(self) -> Self {
        match self {
            Self::Trained(rows) => Self::Trained(rows.without_autodiff()),
            Self::Constant(rows) => Self::Constant(rows.without_autodiff()),
        }
    }

    /// The embeddings at the root of a graph.
    fn leaf(&self) -> Tensor<2> {
        match self {
            Self::Trained(rows) => rows.clone().autodiff().require_grad(),
            Self::Constant(rows) => rows.clone().autodiff(),
        }
    }
}

/// Returns `Σ embedding · gradient`, a sum whose gradient with respect to the embeddings is the given one: its backward pass continues
/// the chain rule. Embeddings without a gradient take no part.
///
/// # Shapes
/// - gradients: the shapes of the embeddings
/// - output:    `[1]`; its value means nothing
///
/// # Panics
/// Panics if the numbers of tensors or their shapes differ, or if there is no gradient.
pub fn surrogate(embeddings: impl IntoIterator<Item = Tensor<2>>, gradients: Vec<Option<Tensor<2>>>) -> Tensor<1> {
    let embeddings: Vec<_> = embeddings.into_iter().collect();
    assert_eq!(
        embeddings.len(),
        gradients.len(),
        "there must be one gradient, or None, for each table of embeddings"
    );
    let products = embeddings.into_iter().zip(gradients).filter_map(|(embeddings, gradient)| {
        let gradient = gradient?;
        assert_eq!(
            embeddings.dims(),
            gradient.dims(),
            "embeddings and their gradients must have one shape"
        );
        Some((embeddings * gradient).sum())
    });
    products
        .reduce(|sum, product| sum + product)
        .expect("at least one table of embeddings has a gradient")
}

/// Splits `0..total` into consecutive ranges of at most `at_most`, as few and as equal in length as possible: 10 in blocks of at most 4
/// are 4, 3 and 3. So none is a small remainder, which would make poor statistics for batch normalisation.
///
/// # Panics
/// Panics if `at_most` is 0.
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
