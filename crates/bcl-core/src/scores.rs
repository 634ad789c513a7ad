//! The one seam of the library: what passes from a source of negatives to an estimator.

mod views;

use burn::tensor::{Bool, Tensor};

/// Raw similarities of a batch of anchors with their positives and their negatives.
///
/// Wherever scores come from (other views of the batch, a queue, a memory bank, sampled items, graph patches), an
/// [`Estimator`](crate::Estimator) turns them into a loss without knowing the source.
///
/// # Shapes
/// - positives:  `[num_anchors]`
/// - negatives:  `[num_anchors, num_negatives]`
/// - mask:       `[num_anchors, num_negatives]`, true where the entry counts
/// - `same_class`: `[num_anchors, num_negatives]`, true where the negative shares the anchor's class
/// - noise:      `[num_anchors]`, standard Gamma draws
#[derive(Debug, Clone)]
pub struct Scores {
    /// Similarity of each anchor with its positive, before the temperature.
    pub positives: Tensor<1>,
    /// Similarities of each anchor with its unlabelled negatives, before the temperature.
    pub negatives: Tensor<2>,
    /// Which negatives count, where rows are ragged. An anchor without any has no [loss](crate::Losses).
    pub mask: Option<Tensor<2, Bool>>,
    /// Which negatives are false ones, where labels are known. Only the supervised oracle and measurements read it.
    pub same_class: Option<Tensor<2, Bool>>,
    /// Draws from a Gamma distribution of unit rate and of the shape that
    /// [`Estimator::noise_shape`](crate::Estimator::noise_shape) asks for.
    pub noise: Option<Tensor<1>>,
    /// The least value that a similarity can take: -1 for cosines. `None` for dot products and scores that were shifted.
    ///
    /// The debiased, hard and positive-unlabelled losses bound the mass of the negatives from below by what they would weigh at this
    /// similarity; without it, by 0.
    pub least_similarity: Option<f64>,
}

impl Scores {
    /// Wraps similarities of which nothing more is known. For cosines add
    /// [`with_least_similarity(-1.0)`](Self::with_least_similarity).
    ///
    /// # Panics
    /// When the numbers of anchors differ, or there is no anchor or no negative.
    pub fn new(positives: Tensor<1>, negatives: Tensor<2>) -> Self {
        let [num_anchors] = positives.dims();
        let [rows, num_negatives] = negatives.dims();
        assert_eq!(
            rows, num_anchors,
            "negatives have {rows} rows, but there are {num_anchors} positives"
        );
        assert!(num_anchors > 0, "there must be at least one anchor");
        assert!(num_negatives > 0, "each anchor needs at least one negative");
        Self {
            positives,
            negatives,
            mask: None,
            same_class: None,
            noise: None,
            least_similarity: None,
        }
    }

    /// Marks the negatives that count (true).
    ///
    /// # Panics
    /// When the shape is not that of the negatives.
    pub fn with_mask(mut self, mask: Tensor<2, Bool>) -> Self {
        assert_eq!(
            mask.dims(),
            self.negatives.dims(),
            "the mask must have the shape of the negatives"
        );
        self.mask = Some(mask);
        self
    }

    /// Marks the negatives that share their anchor's class (true).
    ///
    /// # Panics
    /// When the shape is not that of the negatives.
    pub fn with_same_class(mut self, same_class: Tensor<2, Bool>) -> Self {
        assert_eq!(
            same_class.dims(),
            self.negatives.dims(),
            "the truth must have the shape of the negatives"
        );
        self.same_class = Some(same_class);
        self
    }

    /// Adds one standard Gamma draw an anchor, for the estimators that ask for noise.
    ///
    /// # Panics
    /// When there is not one draw an anchor.
    pub fn with_noise(mut self, noise: Tensor<1>) -> Self {
        assert_eq!(noise.dims(), self.positives.dims(), "there must be one draw an anchor");
        self.noise = Some(noise);
        self
    }

    /// Sets the [least value](Self::least_similarity) that a similarity can take.
    pub fn with_least_similarity(mut self, least: f64) -> Self {
        self.least_similarity = Some(least);
        self
    }

    /// Number of anchors.
    pub fn num_anchors(&self) -> usize {
        self.positives.dims()[0]
    }

    /// Number of columns of the negatives, masked ones included.
    pub fn num_negatives(&self) -> usize {
        self.negatives.dims()[1]
    }

    /// Which anchors have a negative that counts; `None` without a mask, where all have.
    ///
    /// # Shapes
    /// - output: `[num_anchors]`
    pub fn has_negatives(&self) -> Option<Tensor<1, Bool>> {
        let mask = self.mask.clone()?;
        Some(mask.any_dim(1).squeeze_dim(1))
    }

    /// How many negatives of each anchor count.
    ///
    /// # Shapes
    /// - output: `[num_anchors, 1]`, or `[1, 1]` without a mask
    pub(crate) fn counts(&self) -> Tensor<2> {
        match &self.mask {
            Some(mask) => mask.clone().float().cast(self.negatives.dtype()).sum_dim(1),
            None => Tensor::full(
                [1, 1],
                self.num_negatives() as f64,
                (&self.negatives.device(), self.negatives.dtype()),
            ),
        }
    }
}
