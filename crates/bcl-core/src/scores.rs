//! Similarities of anchors with their positives and negatives.

mod stack;
mod views;

pub(crate) use views::{off_diagonal, samples_of_views};

use burn::tensor::{Bool, Tensor};

/// Raw similarities of a batch of anchors with their positives and their negatives.
///
/// Scores may come from anywhere: other views of the batch, a queue, a memory bank, sampled items, graph patches. An
/// [`Estimator`](crate::Estimator) turns them into a loss without knowing the source. From embeddings, [`Pairs`](crate::Pairs) do it faster.
///
/// # Shapes
/// - positives:   `[num_anchors, num_positives]`; most sources have one positive per anchor
/// - negatives:   `[num_anchors, num_negatives]`
/// - masks:       the shape of what they mask, true where an entry counts
/// - positive weights: `[num_anchors, num_positives]`
/// - log-weights: `[num_anchors, num_negatives]`
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scores {
    /// Similarities of each anchor with its positives, before the temperature. The loss of an anchor is the mean over its positives of the
    /// loss with that positive alone.
    pub positives: Tensor<2>,
    /// Similarities of each anchor with its unlabelled negatives, before the temperature.
    pub negatives: Tensor<2>,
    /// Which positives count; `None` if all do. An anchor without any has no [loss](crate::Losses).
    pub positives_mask: Option<Tensor<2, Bool>>,
    /// The weight of each positive in the mean over the anchor's positives; `None` if all weigh the same.
    pub positive_weights: Option<Tensor<2>>,
    /// Which negatives count; `None` if all do. An anchor without any has no [loss](crate::Losses).
    pub mask: Option<Tensor<2, Bool>>,
    /// Log of the weight of each negative: one with log-weight `ln 3` counts as three equal negatives. `None` if all weigh 1.
    pub log_weights: Option<Tensor<2>>,
    /// The lowest value that a similarity can take: -1 for cosines, `None` for dot products and scores that were shifted.
    ///
    /// The debiased, hard and positive-unlabelled losses bound the mass of the negatives from below by the mass at this similarity, or
    /// by 0 if it is `None`.
    pub least_similarity: Option<f64>,
    /// The factor of [`scaled`](Self::scaled), `[1, 1]`. The least similarity is that before.
    pub factor: Option<Tensor<2>>,
    /// Which negatives share their anchor's class, if the labels are known.
    pub(crate) same_class: Option<Tensor<2, Bool>>,
}

impl Scores {
    /// Wraps the similarities of anchors that have one positive each.
    ///
    /// Add [`with_least_similarity(-1.0)`](Self::with_least_similarity) if they are cosines.
    ///
    /// # Shapes
    /// - positives: `[num_anchors]`
    /// - negatives: `[num_anchors, num_negatives]`
    ///
    /// # Panics
    /// Panics if the numbers of anchors differ, or if there is no anchor or no negative.
    pub fn new(positives: Tensor<1>, negatives: Tensor<2>) -> Self {
        Self::multi_positive(positives.unsqueeze_dim(1), negatives)
    }

    /// Wraps the similarities of anchors that have several positives each. For unequal numbers of positives, pad the rows and mask the
    /// padding with [`with_positives_mask`](Self::with_positives_mask).
    ///
    /// # Shapes
    /// - positives: `[num_anchors, num_positives]`
    /// - negatives: `[num_anchors, num_negatives]`
    ///
    /// # Panics
    /// Panics if the numbers of anchors differ, or if there is no anchor, no positive or no negative.
    ///
    /// ```
    /// use bcl_core::{InfoNceLossConfig, Reduction, Scores};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let negatives = Tensor::from_data([[0.1, 0.0, -0.2]], &device);
    /// let loss = |scores: Scores| InfoNceLossConfig::new().init().forward(scores, Reduction::Mean).into_scalar::<f32>();
    ///
    /// let both = loss(Scores::multi_positive(Tensor::from_data([[0.9, 0.3]], &device), negatives.clone()));
    /// let [first, second] = [0.9, 0.3].map(|positive| loss(Scores::new(Tensor::from_data([positive], &device), negatives.clone())));
    /// assert!((both - (first + second) / 2.0).abs() < 1e-6);
    /// ```
    pub fn multi_positive(positives: Tensor<2>, negatives: Tensor<2>) -> Self {
        let [num_anchors, num_positives] = positives.dims();
        let [rows, num_negatives] = negatives.dims();
        assert_eq!(
            rows, num_anchors,
            "negatives have {rows} rows, but there are {num_anchors} positives"
        );
        assert!(num_anchors > 0, "there must be at least one anchor");
        assert!(num_positives > 0, "each anchor needs at least one positive");
        assert!(num_negatives > 0, "each anchor needs at least one negative");
        Self {
            positives,
            negatives,
            positives_mask: None,
            positive_weights: None,
            mask: None,
            log_weights: None,
            least_similarity: None,
            factor: None,
            same_class: None,
        }
    }

    /// Marks the positives that count (true). Those that have a weight of 0 do not.
    ///
    /// # Panics
    /// Panics if the shape differs from the positives' shape.
    pub fn with_positives_mask(mut self, mask: Tensor<2, Bool>) -> Self {
        assert_eq!(
            mask.dims(),
            self.positives.dims(),
            "the mask of the positives must have the shape of the positives"
        );
        self.positives_mask = Some(match &self.positive_weights {
            Some(weights) => mask.bool_and(weights.clone().greater_elem(0.0)),
            None => mask,
        });
        self
    }

    /// Weights the positives of each anchor: its loss is `Σ a_j ℓ_j / Σ a_j` over its positives j. The weights are constants, and 0 leaves a positive
    /// out. The corrections of the debiased, hard and positive-unlabelled losses use the same mean.
    ///
    /// # Shapes
    /// - weights: `[num_anchors, num_positives]`
    ///
    /// # Panics
    /// Panics if the shape differs from the positives' shape.
    ///
    /// ```
    /// use bcl_core::{InfoNceLossConfig, Reduction, Scores};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let negatives = Tensor::from_data([[0.1, -0.2]], &device);
    /// let loss = |scores: Scores| InfoNceLossConfig::new().init().forward(scores, Reduction::Mean).into_scalar::<f32>();
    ///
    /// let weights = Tensor::from_data([[3.0, 1.0]], &device);
    /// let both = Scores::multi_positive(Tensor::from_data([[0.9, 0.3]], &device), negatives.clone()).with_positive_weights(weights);
    /// let [first, second] = [0.9, 0.3].map(|positive| loss(Scores::new(Tensor::from_data([positive], &device), negatives.clone())));
    /// assert!((loss(both) - (0.75 * first + 0.25 * second)).abs() < 1e-6);
    /// ```
    pub fn with_positive_weights(mut self, weights: Tensor<2>) -> Self {
        assert_eq!(
            weights.dims(),
            self.positives.dims(),
            "the weights of the positives must have the shape of the positives"
        );
        let weights = weights.detach();
        let counts = weights.clone().greater_elem(0.0);
        self.positives_mask = Some(match self.positives_mask {
            Some(mask) => mask.bool_and(counts),
            None => counts,
        });
        self.positive_weights = Some(weights);
        self
    }

    /// Marks the negatives that count (true); with `None`, all do.
    ///
    /// # Panics
    /// Panics if the shape differs from the negatives' shape.
    pub fn with_mask(mut self, mask: impl Into<Option<Tensor<2, Bool>>>) -> Self {
        self.mask = mask.into();
        if let Some(mask) = &self.mask {
            assert_eq!(
                mask.dims(),
                self.negatives.dims(),
                "the mask must have the shape of the negatives"
            );
        }
        self
    }

    /// Adds the log of the weight of each negative. The weights are constants: no gradient flows through them.
    ///
    /// A negative of weight w counts as w equal negatives would: in sums, in the number of negatives, and in the ranks of estimators
    /// that rank. So weights also express fractions, such as `-log q` for negatives that were sampled with probability q.
    /// Weights must be finite numbers in the precision of the scores, as their logarithms must be.
    ///
    /// Estimators that rank sort the row once more than without log-weights.
    ///
    /// # Shapes
    /// - `log_weights`: `[num_anchors, num_negatives]`, or `[1, num_negatives]` if they are the same for all anchors
    ///
    /// # Panics
    /// Panics if the shape is another one.
    ///
    /// ```
    /// use bcl_core::{InfoNceLossConfig, Reduction, Scores};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let scores = |negatives| Scores::new(Tensor::from_data([0.7], &device), negatives);
    /// let loss = |scores: Scores| InfoNceLossConfig::new().init().forward(scores, Reduction::Mean).into_scalar::<f32>();
    ///
    /// let twice = loss(scores(Tensor::from_data([[0.4, 0.4, -0.2]], &device)));
    /// let weights = Tensor::<2>::from_data([[2.0, 1.0]], &device);
    /// let weighted = loss(scores(Tensor::from_data([[0.4, -0.2]], &device)).with_log_weights(weights.log()));
    /// assert!((twice - weighted).abs() < 1e-6);
    /// ```
    pub fn with_log_weights(mut self, log_weights: Tensor<2>) -> Self {
        let ([rows, columns], dims) = (log_weights.dims(), self.negatives.dims());
        assert!(
            columns == dims[1] && (rows == dims[0] || rows == 1),
            "log-weights have shape [{rows}, {columns}], but must have the shape of the negatives, {dims:?}, or one row of it"
        );
        self.log_weights = Some(log_weights.detach().expand(dims));
        self
    }

    /// Counts each negative as `1 - P` negatives, where P is the probability that it is a false one. One with P = 1 is masked out. No gradient
    /// flows through P.
    ///
    /// # Shapes
    /// - probabilities: `[num_anchors, num_negatives]`
    ///
    /// # Panics
    /// Panics if the shape is another one.
    pub fn eliminated(self, probabilities: Tensor<2>) -> Self {
        let weights = -probabilities + 1.0;
        let counts = weights.clone().greater_elem(0.0);
        let log_weights = weights.mask_fill(counts.clone().bool_not(), 1.0).log();
        let (mask, log_weights) = (
            match self.mask.clone() {
                Some(mask) => mask.bool_and(counts),
                None => counts,
            },
            match self.log_weights.clone() {
                Some(others) => others + log_weights,
                None => log_weights,
            },
        );
        self.with_mask(mask).with_log_weights(log_weights)
    }

    /// Sets the [lowest value](Self::least_similarity) that a similarity can take, such as [`Similarity::least`](crate::Similarity::least).
    pub fn with_least_similarity(mut self, least: impl Into<Option<f64>>) -> Self {
        self.least_similarity = least.into();
        self
    }

    /// Adds a number to each similarity, such as the logarithm of how rarely an item is drawn. Removes the
    /// [lowest value](Self::least_similarity), since sums have none.
    ///
    /// # Shapes
    /// - positives: `[num_anchors]`
    /// - negatives: `[num_anchors, num_negatives]`, or `[1, num_negatives]` if all anchors have the same
    pub fn with_offsets(mut self, positives: Tensor<1>, negatives: Tensor<2>) -> Self {
        self.positives = self.positives + positives.unsqueeze_dim(1);
        self.negatives = self.negatives + negatives;
        self.least_similarity = None;
        self
    }

    /// Multiplies all similarities by a positive factor, through which a gradient can flow. With the inverse of a learned temperature and
    /// an estimator of temperature 1, the temperature gets its gradient from every estimator. This includes estimators with a floor, which
    /// then use the floor of the learned temperature.
    ///
    /// # Shapes
    /// - factor: `[1]`
    ///
    /// # Panics
    /// Panics if the scores are scaled already.
    ///
    /// ```
    /// use bcl_core::{DebiasedLossConfig, Pairs, Reduction, Similarity};
    /// use burn::tensor::{Device, Distribution, Tensor};
    ///
    /// let device = Device::flex().autodiff();
    /// let [first, second] = [0, 1].map(|_| Tensor::<2>::random([4, 8], Distribution::Default, &device));
    /// let log_rate = Tensor::<1>::from_data([0.07f32.recip().ln()], &device).require_grad();
    ///
    /// let pairs = Pairs::from_views(first, second, Similarity::Cosine);
    /// let scores = pairs.into_scores().scaled(log_rate.clone().exp());
    /// let estimator = DebiasedLossConfig::new().with_temperature(1.0).init();
    /// let gradients = estimator.forward(scores, Reduction::Mean).backward();
    /// assert!(log_rate.grad(&gradients).is_some());
    /// ```
    pub fn scaled(mut self, factor: Tensor<1>) -> Self {
        assert!(self.factor.is_none(), "the scores are scaled already");
        let factor = factor.cast(self.negatives.dtype()).unsqueeze::<2>();
        self.positives = self.positives * factor.clone();
        self.negatives = self.negatives * factor.clone();
        self.factor = Some(factor);
        self
    }

    /// Number of anchors.
    pub fn num_anchors(&self) -> usize {
        self.negatives.dims()[0]
    }

    /// Number of columns of the positives, masked ones included.
    pub fn num_positives(&self) -> usize {
        self.positives.dims()[1]
    }

    /// Number of columns of the negatives, masked ones included.
    pub fn num_negatives(&self) -> usize {
        self.negatives.dims()[1]
    }

    /// The weight of each positive relative to the mean weight of its anchor's positives that count, 0 for the others; `None` if all weigh the same.
    pub(crate) fn relative_positive_weights(&self) -> Option<Tensor<2>> {
        let weights = masked(self.positive_weights.clone()?, self.positives_mask.as_ref());
        let counted = weights.clone().greater_elem(0.0).float().cast(weights.dtype()).sum_dim(1);
        Some(weights.clone() * (counted / nonzero(weights.sum_dim(1))))
    }

    /// Similarities as they were before [`scaled`](Self::scaled). No gradient flows to the factor.
    pub(crate) fn unscaled(&self, similarities: Tensor<2>) -> Tensor<2> {
        match &self.factor {
            Some(factor) => similarities / factor.clone().detach(),
            None => similarities,
        }
    }

    /// The positives that count, and 0 for the others, which may be anything.
    pub(crate) fn counted_positives(&self) -> Tensor<2> {
        match &self.positives_mask {
            Some(mask) => self.positives.clone().mask_fill(mask.clone().bool_not(), 0.0),
            None => self.positives.clone(),
        }
    }

    /// How many negatives of each anchor count: the sum of their weights.
    ///
    /// # Shapes
    /// - output: `[num_anchors, 1]`, or `[1, 1]` without a mask and log-weights
    pub(crate) fn counts(&self) -> Tensor<2> {
        if self.log_weights.is_some() {
            return self.weighted(self.negatives.ones_like()).sum_dim(1);
        }
        match &self.mask {
            Some(mask) => mask.clone().float().cast(self.negatives.dtype()).sum_dim(1),
            None => Tensor::full(
                [1, 1],
                self.num_negatives() as f64,
                (&self.negatives.device(), self.negatives.dtype()),
            ),
        }
    }

    /// What an estimator gives each negative times the negative's own weight; 0 where masked out.
    ///
    /// # Shapes
    /// - values, output: `[num_anchors, num_negatives]`
    pub(crate) fn weighted(&self, values: Tensor<2>) -> Tensor<2> {
        let values = match &self.log_weights {
            Some(log_weights) => values * log_weights.clone().exp(),
            None => values,
        };
        masked(values, self.mask.as_ref())
    }
}

/// Sets the weights of negatives that do not count to zero.
pub(crate) fn masked(weights: Tensor<2>, mask: Option<&Tensor<2, Bool>>) -> Tensor<2> {
    match mask {
        Some(mask) => weights.mask_fill(mask.clone().bool_not(), 0.0),
        None => weights,
    }
}

/// Replaces zeros by 1, so that one may divide by the rest.
pub(crate) fn nonzero(tensor: Tensor<2>) -> Tensor<2> {
    let zero = tensor.clone().equal_elem(0.0);
    tensor.mask_fill(zero, 1.0)
}
