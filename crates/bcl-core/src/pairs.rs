//! Embeddings whose scores need not exist.

use crate::{Estimator, Losses, Scores, Similarity};
use bcl_kernels::{
    Contrast, Correction, Excluded, Weighing, contrast, contrast_is_fused, contrast_views, sampled_contrast, sampled_dot,
};
use burn::tensor::{DType, Int, Tensor};
use std::ops::Range;

/// The most scores that a GPU should keep: 64 MiB of them, several times over. It computes losses faster from all scores at once than block by block.
const SCORES_AT_ONCE: usize = 1 << 24;

/// Embeddings of anchors, their positives and their negatives: what [`Scores`] are computed from.
///
/// With [`Estimator::losses_of`](crate::Estimator::losses_of), some estimators need no scores: they compute a block of anchors at a time, and in large
/// batches take no memory of the shape `[num_anchors, num_negatives]`. On the CPU they always do, since losses and gradients in one pass are
/// faster; on a GPU, where there would be more than 16 million scores. All others [compute the scores](Self::into_scores) first; losses and
/// gradients are the same up to rounding.
///
/// ```
/// use bcl_core::{BayesianConfig, Estimator, Pairs, Reduction, SideInformation, Similarity};
/// use burn::tensor::{Device, Distribution, Tensor};
///
/// let device = Device::flex().autodiff();
/// let [first, second] = [0, 1].map(|_| Tensor::<2>::random([8, 16], Distribution::Default, &device).require_grad());
///
/// let pairs = Pairs::from_views(first.clone(), second, Similarity::Cosine);
/// let losses = BayesianConfig::new().init().losses_of(pairs, &SideInformation::none());
///
/// let gradients = losses.reduce(Reduction::Mean).backward();
/// assert_eq!(first.grad(&gradients).unwrap().dims(), [8, 16]);
/// ```
#[derive(Debug, Clone)]
pub struct Pairs {
    source: Source,
    similarity: Similarity,
    least: Option<f64>,
}

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step")]
enum Source {
    /// Both views of a batch, and the anchors among `0..2 · batch_size`.
    Views([Tensor<2>; 2], Range<usize>),
    /// Anchors of the first table against the second one.
    CrossViews([Tensor<2>; 2], Range<usize>),
    /// Anchors, positives and negatives.
    Tables([Tensor<2>; 3]),
    /// Anchors and a table, with the rows of the positives and of each anchor's own negatives.
    Sampled([Tensor<2>; 2], Tensor<1, Int>, Tensor<2, Int>),
}

impl Pairs {
    /// Compares two views of a batch with each other, as [`Scores::from_views`] does.
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`
    pub fn from_views(first: Tensor<2>, second: Tensor<2>, similarity: Similarity) -> Self {
        let [batch_size, _] = first.dims();
        Self::from_views_of(first, second, similarity, 0..2 * batch_size)
    }

    /// Compares the rows `anchors` of [`from_views`](Self::from_views) alone, as [`Scores::from_views_of`] does.
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`
    /// - anchors:       a range of `0..2 · batch_size`
    pub fn from_views_of(first: Tensor<2>, second: Tensor<2>, similarity: Similarity, anchors: Range<usize>) -> Self {
        Self::new(Source::Views([first, second], anchors), similarity)
    }

    /// Compares each row of a table with the rows of another one, as [`Scores::from_cross_views`] does.
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`
    /// - anchors:       a range of `0..batch_size`
    pub fn from_cross_views(first: Tensor<2>, second: Tensor<2>, similarity: Similarity, anchors: Range<usize>) -> Self {
        Self::new(Source::CrossViews([first, second], anchors), similarity)
    }

    /// Compares anchors with one positive each and with a table of negatives that all of them share, such as a queue.
    ///
    /// # Shapes
    /// - anchors, positives: `[num_anchors, dim]`
    /// - negatives:          `[num_negatives, dim]`
    pub fn with_negatives(anchors: Tensor<2>, positives: Tensor<2>, negatives: Tensor<2>, similarity: Similarity) -> Self {
        Self::new(Source::Tables([anchors, positives, negatives]), similarity)
    }

    /// Compares anchors with rows of a table by dot products: with one positive each, and with negatives that were sampled for each anchor.
    ///
    /// # Shapes
    /// - anchors:   `[num_anchors, dim]`
    /// - table:     `[num_rows, dim]`
    /// - positives: `[num_anchors]`, rows of the table
    /// - negatives: `[num_anchors, num_negatives]`, rows of the table
    pub fn sampled(anchors: Tensor<2>, table: Tensor<2>, positives: Tensor<1, Int>, negatives: Tensor<2, Int>) -> Self {
        Self::new(Source::Sampled([anchors, table], positives, negatives), Similarity::Dot)
    }

    fn new(source: Source, similarity: Similarity) -> Self {
        Self {
            source,
            similarity,
            least: similarity.least(),
        }
    }

    /// Sets the [lowest value](Scores::least_similarity) that a similarity can take: -1 for dot products of unit rows.
    pub fn with_least_similarity(mut self, least: impl Into<Option<f64>>) -> Self {
        self.least = least.into();
        self
    }

    /// Computes the scores.
    ///
    /// # Panics
    /// Panics if the shapes do not fit together, as the functions of [`Scores`] do.
    pub fn into_scores(self) -> Scores {
        let similarity = self.similarity;
        let scores = match self.source {
            Source::Views([first, second], anchors) => Scores::from_views_of(first, second, similarity, anchors),
            Source::CrossViews([first, second], anchors) => Scores::from_cross_views(first, second, similarity, anchors),
            Source::Tables(tables) => {
                let [anchors, positives, negatives] = tables.map(|table| similarity.prepare(table));
                let positives = (anchors.clone() * positives).sum_dim(1);
                Scores::multi_positive(positives, anchors.matmul(negatives.transpose()))
            }
            Source::Sampled([anchors, table], positives, negatives) => {
                let [_, num_negatives] = negatives.dims();
                // Positives and negatives together, so that the gradient of the table is built only once.
                let candidates = Tensor::cat(vec![positives.unsqueeze_dim(1), negatives], 1);
                let scores = sampled_dot(anchors, table, candidates);
                let positives = scores.clone().slice_dim(1, 0..1);
                Scores::multi_positive(positives, scores.slice_dim(1, 1..num_negatives + 1))
            }
        };
        scores.with_least_similarity(self.least)
    }

    /// The lowest value that a similarity can take, if there is one.
    pub fn least_similarity(&self) -> Option<f64> {
        self.least
    }

    /// How many negatives each anchor has; 0 if there are too few samples for any.
    pub fn num_negatives(&self) -> usize {
        match &self.source {
            Source::Views([first, _], _) => (2 * first.dims()[0]).saturating_sub(2),
            Source::CrossViews([first, _], _) => first.dims()[0].saturating_sub(1),
            Source::Tables([_, _, negatives]) => negatives.dims()[0],
            Source::Sampled(_, _, negatives) => negatives.dims()[1],
        }
    }

    /// Embeddings, for the device and the precision of the scores.
    pub(crate) fn like(&self) -> &Tensor<2> {
        match &self.source {
            Source::Views([first, _], _)
            | Source::CrossViews([first, _], _)
            | Source::Tables([first, ..])
            | Source::Sampled([first, _], ..) => first,
        }
    }

    /// How an estimator computes its losses without scores, if it can in this precision, and should on this device.
    pub(crate) fn kernel_of<E: Estimator + ?Sized>(&self, estimator: &E) -> Option<(Weighing, Correction)> {
        let like = self.like();
        let saves_memory =
            self.num_anchors() * self.num_negatives() > SCORES_AT_ONCE && !matches!(self.source, Source::Sampled(..));
        let is_worth_it = contrast_is_fused(&like.device()) || saves_memory;
        let is_possible = [DType::F32, DType::F64].contains(&like.dtype()) && self.num_negatives() > 0;
        if is_worth_it && is_possible {
            estimator.kernel(self)
        } else {
            None
        }
    }

    fn num_anchors(&self) -> usize {
        match &self.source {
            Source::Views(_, anchors) | Source::CrossViews(_, anchors) => anchors.len(),
            Source::Tables([anchors, ..]) | Source::Sampled([anchors, _], ..) => anchors.dims()[0],
        }
    }

    /// Computes the losses without scores.
    pub(crate) fn fused(self, temperature: f64, weighing: Weighing, correction: Correction) -> Losses {
        let similarity = self.similarity;
        let of = |excluded| Contrast {
            temperature,
            excluded,
            weighing,
            correction,
        };
        let (tables, excluded) = match self.source {
            Source::Views(views, range) => {
                let [batch_size, _] = views[0].dims();
                let [first, second] = views.map(|view| similarity.prepare(view));
                let rows = Tensor::cat(vec![first.clone(), second.clone()], 0);
                let excluded = Excluded::BothViews { first: range.start };
                if range == (0..2 * batch_size) {
                    return Losses::new(contrast_views(rows, &of(excluded)), None);
                }
                let others = Tensor::cat(vec![second, first], 0);
                let some = |table: Tensor<2>| table.slice([range.clone()]);
                ([some(rows.clone()), some(others), rows], excluded)
            }
            Source::CrossViews([first, second], range) => {
                let anchors = similarity.prepare(first.slice([range.clone()]));
                let second = similarity.prepare(second);
                let excluded = Excluded::Own { first: range.start };
                ([anchors, second.clone().slice([range]), second], excluded)
            }
            Source::Tables(tables) => (tables.map(|table| similarity.prepare(table)), Excluded::None),
            Source::Sampled([anchors, table], positives, negatives) => {
                let losses = sampled_contrast(anchors, table, positives, negatives, &of(Excluded::None));
                return Losses::new(losses, None);
            }
        };
        let [anchors, positives, negatives] = tables;
        Losses::new(contrast(anchors, positives, negatives, &of(excluded)), None)
    }
}
