//! Estimators: how the mass of the negatives is formed from their scores.
//!
//! Every loss here is `-log(x+ / (x+ + Ng))` averaged over anchors, with `x = exp(similarity / temperature)`; the estimators differ
//! in `Ng`, the mass they put on the negatives. One file each.

mod augmented;
mod bayesian;
mod config;
mod debiased;
mod decoupled;
mod geometric;
mod hard;
mod info_nce;
mod losses;
mod positive_unlabelled;
mod ranked;
mod ring;
mod supervised;

pub use augmented::{Augmented, AugmentedConfig};
pub use bayesian::{Bayesian, BayesianConfig, MEAN_WEIGHT_TOLERANCE, Variant};
pub use debiased::{Debiased, DebiasedConfig};
pub use decoupled::{Decoupled, DecoupledConfig};
pub use geometric::{Geometric, GeometricConfig};
pub use hard::{Hard, HardConfig};
pub use info_nce::{InfoNce, InfoNceConfig};
pub use losses::Losses;
pub(crate) use losses::share_correction;
pub use positive_unlabelled::{PositiveUnlabelled, PositiveUnlabelledConfig};
pub use ring::{Ring, RingConfig};
pub use supervised::{Supervised, SupervisedConfig};

use crate::{ParameterError, Scores};
use burn::{nn::loss::Reduction, tensor::Tensor};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A contrastive loss: scores in, nats out.
///
/// ```
/// use bcl_core::{Estimator, EstimatorConfig, Reduction, Scores, Similarity};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let first = Tensor::<2>::from_data([[1.0, 0.1], [0.2, 1.0]], &device);
/// let second = Tensor::<2>::from_data([[0.9, 0.2], [0.1, 0.8]], &device);
/// for config in EstimatorConfig::all() {
///     let estimator = config.init();
///     let mut scores = Scores::from_views(first.clone(), second.clone(), Similarity::Cosine);
///     if estimator.noise_shape().is_some() {
///         scores = scores.with_noise(Tensor::ones([4], &device));
///     }
///     if estimator.needs_truth() {
///         scores = scores.with_same_class(Tensor::<2>::zeros([4, 2], &device).bool());
///     }
///     assert!(estimator.forward(scores, Reduction::Mean).into_scalar::<f32>().is_finite());
/// }
/// ```
pub trait Estimator: Debug + Send + Sync {
    /// The name recipes use, such as `bayesian`.
    fn name(&self) -> &'static str;

    /// Computes the loss of each anchor, and which anchors have one.
    ///
    /// # Panics
    /// When the scores lack what the estimator needs: noise ([`noise_shape`](Self::noise_shape)) or truth
    /// ([`needs_truth`](Self::needs_truth)).
    fn losses(&self, scores: Scores) -> Losses;

    /// The weight of each negative's score inside `Ng`, apart from any floor; 0 where masked out.
    ///
    /// # Shapes
    /// - output: `[num_anchors, num_negatives]`
    fn weights(&self, scores: &Scores) -> Tensor<2>;

    /// Computes the loss of each anchor; 0 for an anchor without negatives.
    ///
    /// # Shapes
    /// - output: `[num_anchors]`, nats
    ///
    /// # Panics
    /// As [`losses`](Self::losses).
    fn forward_no_reduction(&self, scores: Scores) -> Tensor<1> {
        self.losses(scores).values()
    }

    /// Computes the loss and reduces it. [`Reduction::Auto`] is the mean, which is one over the anchors that have negatives.
    ///
    /// # Shapes
    /// - output: `[1]`, nats
    ///
    /// # Panics
    /// As [`losses`](Self::losses).
    fn forward(&self, scores: Scores, reduction: Reduction) -> Tensor<1> {
        self.losses(scores).reduce(reduction)
    }

    /// Shape of the Gamma draws (unit rate) the estimator needs in [`Scores::noise`], if any.
    fn noise_shape(&self) -> Option<f64> {
        None
    }

    /// Whether the estimator needs [`Scores::same_class`].
    fn needs_truth(&self) -> bool {
        false
    }
}

/// Which estimator, with its parameters: what a recipe's `[loss]` table holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)] // each variant is documented at its configuration
pub enum EstimatorConfig {
    InfoNce(InfoNceConfig),
    Decoupled(DecoupledConfig),
    Debiased(DebiasedConfig),
    Hard(HardConfig),
    Bayesian(BayesianConfig),
    PositiveUnlabelled(PositiveUnlabelledConfig),
    Ring(RingConfig),
    Supervised(SupervisedConfig),
    Augmented(AugmentedConfig),
    Geometric(GeometricConfig),
}

/// Runs an expression on whichever configuration an [`EstimatorConfig`] holds.
macro_rules! each {
    ($config:expr, $inner:ident => $body:expr) => {
        match $config {
            EstimatorConfig::InfoNce($inner) => $body,
            EstimatorConfig::Decoupled($inner) => $body,
            EstimatorConfig::Debiased($inner) => $body,
            EstimatorConfig::Hard($inner) => $body,
            EstimatorConfig::Bayesian($inner) => $body,
            EstimatorConfig::PositiveUnlabelled($inner) => $body,
            EstimatorConfig::Ring($inner) => $body,
            EstimatorConfig::Supervised($inner) => $body,
            EstimatorConfig::Augmented($inner) => $body,
            EstimatorConfig::Geometric($inner) => $body,
        }
    };
}

impl EstimatorConfig {
    /// One of each, with default parameters.
    pub fn all() -> Vec<Self> {
        vec![
            Self::InfoNce(InfoNceConfig::new()),
            Self::Decoupled(DecoupledConfig::new()),
            Self::Debiased(DebiasedConfig::new()),
            Self::Hard(HardConfig::new()),
            Self::Bayesian(BayesianConfig::new()),
            Self::PositiveUnlabelled(PositiveUnlabelledConfig::new()),
            Self::Ring(RingConfig::new()),
            Self::Supervised(SupervisedConfig::new()),
            Self::Augmented(AugmentedConfig::new()),
            Self::Geometric(GeometricConfig::new()),
        ]
    }

    /// Checks that every parameter lies in its range.
    ///
    /// # Errors
    /// Names the first parameter that does not, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        each!(self, config => config.check())
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range; [`check`](Self::check) tells without panicking.
    pub fn init(&self) -> Box<dyn Estimator> {
        each!(self, config => Box::new(config.init()))
    }

    /// The name recipes use for this kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::InfoNce(_) => "info_nce",
            Self::Decoupled(_) => "decoupled",
            Self::Debiased(_) => "debiased",
            Self::Hard(_) => "hard",
            Self::Bayesian(_) => "bayesian",
            Self::PositiveUnlabelled(_) => "positive_unlabelled",
            Self::Ring(_) => "ring",
            Self::Supervised(_) => "supervised",
            Self::Augmented(_) => "augmented",
            Self::Geometric(_) => "geometric",
        }
    }

    /// The temperature, which every estimator has.
    pub fn temperature(&self) -> f64 {
        each!(self, config => config.temperature)
    }

    /// The separation `alpha` that a schedule may move, for the estimators that have one.
    pub fn alpha(&self) -> Option<f64> {
        match self {
            Self::Bayesian(config) => Some(config.alpha),
            _ => None,
        }
    }

    /// The same estimator with another `alpha`; the others are returned as they are.
    pub fn with_alpha(self, alpha: f64) -> Self {
        match self {
            Self::Bayesian(config) => Self::Bayesian(config.with_alpha(alpha)),
            other => other,
        }
    }

    /// The mean weight of a row of so many negatives, for the estimators whose weights should average to 1; see
    /// [`BayesianConfig::mean_weight`].
    pub fn mean_weight(&self, num_negatives: usize) -> Option<f64> {
        match self {
            Self::Bayesian(config) => Some(config.mean_weight(num_negatives)),
            _ => None,
        }
    }

    /// The same estimator with an `alpha` at which its weights do not outgrow a row of so many negatives; see
    /// [`BayesianConfig::away_from_the_pole`]. Others are returned as they are.
    pub fn away_from_the_pole(self, num_negatives: usize) -> Self {
        match self {
            Self::Bayesian(config) => Self::Bayesian(config.away_from_the_pole(num_negatives)),
            other => other,
        }
    }

    /// The prior `tau_plus`, for the estimators that have one.
    pub fn tau_plus(&self) -> Option<f64> {
        match self {
            Self::Debiased(config) => Some(config.tau_plus),
            Self::Hard(config) => Some(config.tau_plus),
            Self::Bayesian(config) => Some(config.tau_plus),
            _ => None,
        }
    }

    /// The same estimator with another `tau_plus`; those without one are returned as they are.
    pub fn with_tau_plus(self, tau_plus: f64) -> Self {
        match self {
            Self::Debiased(config) => Self::Debiased(config.with_tau_plus(tau_plus)),
            Self::Hard(config) => Self::Hard(config.with_tau_plus(tau_plus)),
            Self::Bayesian(config) => Self::Bayesian(config.with_tau_plus(tau_plus)),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
