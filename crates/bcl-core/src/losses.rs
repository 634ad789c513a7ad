//! The losses of the anchors of a batch, and their mean over the anchors that have one.

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
/// use bcl_core::{Estimator, InfoNceConfig, Reduction, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0, 0.0], &device), Tensor::from_data([[0.0, 0.0], [5.0, 5.0]], &device));
/// let scores = scores.with_mask(Tensor::<2>::from_data([[1, 1], [0, 0]], &device).bool());
/// let losses = InfoNceConfig::new().init().losses(scores, &SideInformation::none());
/// assert_eq!(losses.num_counted().unwrap().into_scalar::<f32>(), 1.0);
/// let mean = losses.reduce(Reduction::Mean).into_scalar::<f32>();
/// assert!((mean - 3f32.ln()).abs() < 1e-6); // that of the first anchor
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
