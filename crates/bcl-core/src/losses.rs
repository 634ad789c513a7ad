//! The losses of the anchors of a batch, and their mean over the anchors that have one.

use crate::{
    Scores,
    scores::{masked, nonzero},
};
use burn::{
    nn::loss::Reduction,
    tensor::{Bool, Tensor},
};

/// The loss of each anchor of a batch.
///
/// An anchor has no loss if all its negatives or all its positives are masked out. Its value is 0, with a gradient of 0, and it is left
/// out of the mean.
///
/// ```
/// use bcl_core::{Estimator, InfoNceLossConfig, Reduction, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0, 0.0], &device), Tensor::from_data([[0.0, 0.0], [5.0, 5.0]], &device));
/// let scores = scores.with_mask(Tensor::<2>::from_data([[1, 1], [0, 0]], &device).bool());
/// let losses = InfoNceLossConfig::new().init().losses(scores.into(), &SideInformation::none());
/// assert_eq!(losses.num_counted().unwrap().into_scalar::<f32>(), 1.0);
/// let mean = losses.reduce(Reduction::Mean).into_scalar::<f32>();
/// assert!((mean - 3f32.ln()).abs() < 1e-6); // the loss of the first anchor
/// ```
#[derive(Debug, Clone)]
pub struct Losses {
    values: Tensor<1>,
    counted: Option<Tensor<1, Bool>>,
}

impl Losses {
    /// Wraps the losses of anchors. Those with `true` count; all if it is `None`.
    ///
    /// # Shapes
    /// - values, counted: `[num_anchors]`
    ///
    /// # Panics
    /// Panics if the shapes differ.
    pub fn new(values: Tensor<1>, counted: Option<Tensor<1, Bool>>) -> Self {
        let values = match &counted {
            Some(counted) => {
                assert_eq!(counted.dims(), values.dims(), "there must be one mark per loss");
                values.mask_fill(counted.clone().bool_not(), 0.0)
            }
            None => values,
        };
        Self { values, counted }
    }

    /// Stacks the losses of several sets of anchors, for example of two directions.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn stack(losses: impl IntoIterator<Item = Self>) -> Self {
        let losses: Vec<Self> = losses.into_iter().collect();
        let counted = losses.iter().any(|losses| losses.counted.is_some()).then(|| {
            let or_all = |losses: &Self| {
                let counted = losses.counted.clone();
                counted.unwrap_or_else(|| Tensor::full(losses.values.dims(), true, &losses.values.device()))
            };
            Tensor::cat(losses.iter().map(or_all).collect(), 0)
        });
        let values = Tensor::cat(losses.into_iter().map(|losses| losses.values).collect(), 0);
        Self { values, counted }
    }

    /// As [`over_positives`](Self::over_positives), with the mask and the weights of these scores.
    pub(crate) fn over_positives_of(scores: &Scores, losses: Tensor<2>, has_negatives: Option<Tensor<1, Bool>>) -> Self {
        let weights = scores.relative_positive_weights();
        Self::over_positives(losses, weights.as_ref(), scores.positives_mask.as_ref(), has_negatives)
    }

    /// Averages the losses of each anchor over its positives. An anchor without a negative or without a positive has no loss.
    ///
    /// # Shapes
    /// - losses, `weights`, `positives_mask`: `[num_anchors, num_positives]`; weights are 1 on average
    /// - `has_negatives`:                     `[num_anchors]`; all have some if it is `None`
    pub(crate) fn over_positives(
        losses: Tensor<2>,
        weights: Option<&Tensor<2>>,
        positives_mask: Option<&Tensor<2, Bool>>,
        has_negatives: Option<Tensor<1, Bool>>,
    ) -> Self {
        let [_, num_positives] = losses.dims();
        let losses = match weights {
            Some(weights) => losses * weights.clone(),
            None => losses,
        };
        let Some(mask) = positives_mask else {
            let mean = if num_positives == 1 {
                losses
            } else {
                losses.sum_dim(1) * (num_positives as f64).recip()
            };
            return Self::new(mean.squeeze_dim(1), has_negatives);
        };
        let num_counted = mask.clone().float().cast(losses.dtype()).sum_dim(1);
        let mean = masked(losses, Some(mask)).sum_dim(1) / nonzero(num_counted);
        let has_positives = mask.clone().any_dim(1).squeeze_dim::<1>(1);
        let counted = match has_negatives {
            Some(has_negatives) => has_negatives.bool_and(has_positives),
            None => has_positives,
        };
        Self::new(mean.squeeze_dim(1), Some(counted))
    }

    /// Returns the loss of each anchor, 0 for those that have none.
    ///
    /// # Shapes
    /// - output: `[num_anchors]`, nats
    pub fn values(self) -> Tensor<1> {
        self.values
    }

    /// Counts the anchors that have a loss; `None` if all have.
    ///
    /// # Shapes
    /// - output: `[1]`, in the precision of the losses
    pub fn num_counted(&self) -> Option<Tensor<1>> {
        let counted = self.counted.clone()?;
        Some(counted.float().cast(self.values.dtype()).sum())
    }

    /// Returns the sum, or the mean over the anchors that have a loss ([`Reduction::Auto`] is the mean); 0 if none has.
    ///
    /// # Shapes
    /// - output: `[1]`, nats
    pub fn reduce(self, reduction: Reduction) -> Tensor<1> {
        match reduction {
            Reduction::Sum => self.values.sum(),
            Reduction::Mean | Reduction::BatchMean | Reduction::Auto => {
                let [num_anchors] = self.values.dims();
                let num_counted = self.num_counted();
                let mean = self.values.mean();
                match num_counted {
                    Some(num_counted) => mean * share_correction(num_anchors, num_counted),
                    None => mean,
                }
            }
        }
    }
}

/// The factor from a mean over all anchors to the mean over those that count: exactly 1 if all do.
///
/// # Shapes
/// - `num_counted`, output: `[1]`
pub(crate) fn share_correction(num_anchors: usize, num_counted: Tensor<1>) -> Tensor<1> {
    num_counted.full_like(num_anchors as f64) / num_counted.clamp_min(1.0)
}

/// Marks the anchors that have a loss and whose every positive that counts is marked.
///
/// # Shapes
/// - marks, `positives_mask`: `[num_anchors, num_positives]`
/// - `has_negatives`, output: `[num_anchors]`
pub(crate) fn at_all_positives(
    marks: Tensor<2, Bool>,
    positives_mask: Option<&Tensor<2, Bool>>,
    has_negatives: Option<Tensor<1, Bool>>,
) -> Tensor<1, Bool> {
    let (marks, has_positives) = match positives_mask {
        Some(mask) => (
            marks.bool_or(mask.clone().bool_not()),
            Some(mask.clone().any_dim(1).squeeze_dim(1)),
        ),
        None => (marks, None),
    };
    [has_negatives, has_positives]
        .into_iter()
        .flatten()
        .fold(marks.all_dim(1).squeeze_dim(1), Tensor::bool_and)
}
