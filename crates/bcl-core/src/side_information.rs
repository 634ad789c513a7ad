//! What a training step knows beside its pairs.

use crate::Scores;
use burn::tensor::{Bool, Tensor};
use std::ops::Range;

/// What a training step knows beside its [`Pairs`](crate::Pairs): the true classes of the negatives, random draws, and the rates of the draws.
///
/// Most estimators need none of it. The supervised oracle needs the classes, the augmented losses need draws: see
/// [`Requirements`](crate::Requirements).
///
/// ```
/// use bcl_core::{Reduction, Scores, SideInformation, SupervisedLossConfig};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0, 5.0]], &device));
/// // The third negative shares the class of its anchor, so it does not count.
/// let same_class = Tensor::<2>::from_data([[0, 0, 1]], &device).bool();
/// let side = SideInformation::none().with_same_class(same_class);
///
/// let loss = SupervisedLossConfig::new().init().forward_with(scores, &side, Reduction::Mean);
/// assert!((loss.into_scalar::<f32>() - 3f32.ln()).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SideInformation {
    /// True where a negative shares its anchor's class, `[num_anchors, num_negatives]`.
    pub same_class: Option<Tensor<2, Bool>>,
    /// One Gamma draw per anchor, `[num_anchors]`, with unit rate and the shape parameter that
    /// the estimator [requires](crate::Requirements::gamma_shape).
    pub noise: Option<Tensor<1>>,
    /// Log of the rate at which the augmented loss draws, `[num_anchors]`; `None` for the rate of the batch.
    pub log_rates: Option<Tensor<1>>,
}

impl SideInformation {
    /// Nothing is known.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds which negatives share their anchor's class (true), as [`same_class`](crate::same_class()) returns them.
    ///
    /// # Shapes
    /// - `same_class`: `[num_anchors, num_negatives]`
    pub fn with_same_class(mut self, same_class: Tensor<2, Bool>) -> Self {
        self.same_class = Some(same_class);
        self
    }

    /// Adds one Gamma draw per anchor.
    ///
    /// # Shapes
    /// - noise: `[num_anchors]`
    pub fn with_noise(mut self, noise: Tensor<1>) -> Self {
        self.noise = Some(noise);
        self
    }

    /// Adds the log of the rate at which the [augmented loss](crate::AugmentedLoss) draws for each anchor, such as one from earlier steps, in
    /// place of the rate of the batch. It is constant in the gradient.
    ///
    /// With draws `u` at a rate of their own, the noise is `u` and the log-rates are 0.
    ///
    /// # Shapes
    /// - `log_rates`: `[num_anchors]`
    pub fn with_log_rates(mut self, log_rates: Tensor<1>) -> Self {
        self.log_rates = Some(log_rates);
        self
    }

    /// Keeps the rows of some anchors, for losses that are computed in blocks of anchors.
    ///
    /// # Panics
    /// Panics if there are no such rows.
    pub fn of_anchors(&self, anchors: Range<usize>) -> Self {
        Self {
            same_class: self.same_class.clone().map(|rows| rows.slice_dim(0, anchors.clone())),
            noise: self.noise.clone().map(|draws| draws.slice_dim(0, anchors.clone())),
            log_rates: self.log_rates.clone().map(|rates| rates.slice_dim(0, anchors.clone())),
        }
    }

    /// The draws, as a column that broadcasts over the positives: `[num_anchors, 1]`.
    pub(crate) fn noise_for(&self, scores: &Scores, loss: &str, shape: f64) -> Tensor<2> {
        let Some(noise) = self.noise.clone() else {
            panic!("the {loss} loss needs one Gamma({shape}, 1) draw per anchor: add them with SideInformation::with_noise");
        };
        let ([draws], anchors) = (noise.dims(), scores.num_anchors());
        assert_eq!(draws, anchors, "the noise has {draws} draws, but there are {anchors} anchors");
        noise.unsqueeze_dim(1)
    }

    /// The log-rates, if given, as a column that broadcasts over the positives: `[num_anchors, 1]`.
    pub(crate) fn log_rates_for(&self, scores: &Scores) -> Option<Tensor<2>> {
        let log_rates = self.log_rates.clone()?;
        let ([rates], anchors) = (log_rates.dims(), scores.num_anchors());
        assert_eq!(rates, anchors, "there are {rates} log-rates, but {anchors} anchors");
        Some(log_rates.detach().unsqueeze_dim(1))
    }

    /// Which negatives are false ones.
    pub(crate) fn same_class_for(&self, scores: &Scores) -> Tensor<2, Bool> {
        let Some(same_class) = self.same_class.clone().or_else(|| scores.same_class.clone()) else {
            panic!(
                "the supervised oracle needs to know which negatives share the anchor's class: add it with \
                 SideInformation::with_same_class"
            );
        };
        check_same_class(&same_class, scores);
        same_class
    }
}

/// Panics if the truth does not have the shape of the negatives.
pub(crate) fn check_same_class(same_class: &Tensor<2, Bool>, scores: &Scores) {
    assert_eq!(
        same_class.dims(),
        scores.negatives.dims(),
        "same_class must have the shape of the negatives"
    );
}
