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
mod positive_unlabelled;
mod ranked;
mod ring;
mod supervised;

pub use augmented::{AugmentedBase, AugmentedRate};
pub use bayesian::{BayesianVariant, MEAN_WEIGHT_TOLERANCE};

use crate::{Losses, Pairs, ParameterError, Scores, SideInformation};
use bcl_kernels::{Correction, Weighing};
use burn::{
    nn::loss::Reduction,
    tensor::{Bool, Tensor},
};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A contrastive loss: scores in, nats out.
///
/// The configurations build estimators: `BayesianLossConfig::new().init()`. Those that need nothing but scores take one line
/// ([`forward`](Self::forward)); code that works with every estimator gives each what it asks for:
///
/// ```
/// use bcl_core::{Estimator, EstimatorConfig, Reduction, Scores, SideInformation, Similarity};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let first = Tensor::<2>::from_data([[1.0, 0.1], [0.2, 1.0]], &device);
/// let second = Tensor::<2>::from_data([[0.9, 0.2], [0.1, 0.8]], &device);
/// for config in EstimatorConfig::all() {
///     let estimator = config.init();
///     let scores = Scores::from_views(first.clone(), second.clone(), Similarity::Cosine);
///     let mut side = SideInformation::none();
///     if estimator.noise_shape().is_some() {
///         side = side.with_noise(Tensor::ones([4], &device));
///     }
///     if estimator.needs_truth() {
///         side = side.with_same_class(Tensor::<2>::zeros([4, 2], &device).bool());
///     }
///     assert!(estimator.forward_with(scores, &side, Reduction::Mean).into_scalar::<f32>().is_finite());
/// }
/// ```
pub trait Estimator: Debug + Send + Sync {
    /// Computes the loss of each anchor, and which anchors have one.
    ///
    /// # Panics
    /// Panics if the side information lacks what the estimator needs: noise ([`noise_shape`](Self::noise_shape)) or truth
    /// ([`needs_truth`](Self::needs_truth)).
    fn losses(&self, scores: Scores, side: &SideInformation) -> Losses;

    /// Computes the loss of each anchor from embeddings: the same as [`losses`](Self::losses) of their scores, up to rounding.
    ///
    /// In f32 and f64, estimators with a [`kernel`](Self::kernel) do without a matrix of scores on the CPU, and on a GPU if there would be many:
    /// InfoNCE, decoupled, debiased, hard, Bayesian and positive-unlabelled.
    ///
    /// # Panics
    /// Panics as [`losses`](Self::losses) and [`Pairs::into_scores`] do.
    fn losses_of(&self, pairs: Pairs, side: &SideInformation) -> Losses {
        match pairs.kernel_of(self) {
            Some((weighing, correction)) => pairs.fused(self.temperature(), weighing, correction),
            None => self.losses(pairs.into_scores(), side),
        }
    }

    /// Returns whether [`losses_of`](Self::losses_of) computes a matrix of the scores of these pairs first.
    fn needs_scores(&self, pairs: &Pairs) -> bool {
        pairs.kernel_of(self).is_none()
    }

    /// Returns how [`contrast`](bcl_kernels::contrast()) computes the losses of these pairs at the [temperature](Self::temperature), if it can:
    /// without side information, and with a weight that depends on the score, or its rank, alone.
    fn kernel(&self, _: &Pairs) -> Option<(Weighing, Correction)> {
        None
    }

    /// Computes the weight of each negative's score inside `Ng`, apart from any floor; 0 where masked out.
    ///
    /// # Shapes
    /// - output: `[num_anchors, num_negatives]`
    ///
    /// # Panics
    /// Panics if the estimator needs truth and the side information has none.
    fn weights(&self, scores: &Scores, side: &SideInformation) -> Tensor<2>;

    /// Computes the loss from scores alone and reduces it. [`Reduction::Auto`] is the mean, which is one over the anchors that have
    /// a loss.
    ///
    /// # Shapes
    /// - output: `[1]`, nats
    ///
    /// # Panics
    /// Panics if the estimator needs noise or truth; see [`forward_with`](Self::forward_with).
    fn forward(&self, scores: Scores, reduction: Reduction) -> Tensor<1> {
        self.forward_with(scores, &SideInformation::none(), reduction)
    }

    /// Computes the loss from scores and side information and reduces it, as [`forward`](Self::forward) does.
    ///
    /// # Shapes
    /// - output: `[1]`, nats
    ///
    /// # Panics
    /// Panics if the side information lacks what the estimator needs, as [`losses`](Self::losses) does.
    fn forward_with(&self, scores: Scores, side: &SideInformation, reduction: Reduction) -> Tensor<1> {
        self.losses(scores, side).reduce(reduction)
    }

    /// Computes the loss of each anchor from scores alone; 0 for an anchor without negatives.
    ///
    /// # Shapes
    /// - output: `[num_anchors]`, nats
    ///
    /// # Panics
    /// Panics if the estimator needs noise or truth; see [`losses`](Self::losses).
    fn forward_no_reduction(&self, scores: Scores) -> Tensor<1> {
        self.losses(scores, &SideInformation::none()).values()
    }

    /// Returns the temperature that scores are divided by.
    fn temperature(&self) -> f64;

    /// Returns the shape of the Gamma draws (unit rate) that the estimator needs as [`SideInformation::noise`], if any.
    fn noise_shape(&self) -> Option<f64> {
        None
    }

    /// Returns whether the estimator needs [`SideInformation::same_class`].
    fn needs_truth(&self) -> bool {
        false
    }

    /// Returns whether the loss of an anchor depends on the scores of other anchors. Then all anchors of a batch must be computed at
    /// once, which [gradient caching](crate::gradient_cache) does not.
    fn needs_whole_batch(&self) -> bool {
        false
    }

    /// Returns the augmented loss if its draws use [running rates](AugmentedLossConfig::running), which whoever trains must keep.
    fn running_rates(&self) -> Option<&AugmentedLoss> {
        None
    }

    /// Returns the factor `b` of the positive in `Ng = N · max(mean(w_i x_i) - b x+, floor)`: it removes what positives without a label are
    /// expected to add. 0 if the estimator makes no such correction, and so has no floor.
    fn positive_correction(&self) -> f64 {
        0.0
    }

    /// Marks the anchors whose mass is at its floor, if the estimator has one: their negatives have no gradient, so they only pull towards
    /// the positive. With several positives, the mass must be at the floor for each of them.
    ///
    /// The corrections of the debiased, hard and positive-unlabelled losses reach the floor as soon as the positive is above the
    /// negatives by a margin that is proportional to the temperature: `t ln(1/τ+)` for the debiased loss, 0.23 at t = 0.1 and τ+ = 0.1.
    /// So at low temperatures most anchors of a trained encoder may be there.
    ///
    /// # Shapes
    /// - output: `[num_anchors]`
    fn floored(&self, _: &Scores, _: &SideInformation) -> Option<Tensor<1, Bool>> {
        None
    }
}

/// Registers the estimators: for each the name that recipes use, its variant, its module, and the configuration and estimator there.
macro_rules! estimators {
    ($( $name:literal: $variant:ident = $module:ident::{$config:ident, $estimator:ident}, )*) => {
        $( pub use $module::{$config, $estimator}; )*

        /// An estimator with its parameters: the `[loss]` table of a recipe, where `kind` names the estimator.
        ///
        /// ```
        /// use bcl_core::{BayesianLossConfig, EstimatorConfig};
        ///
        /// let table = serde_json::json!({ "kind": "bayesian", "beta": 0.8 });
        /// let config: EstimatorConfig = serde_json::from_value(table).unwrap();
        /// assert_eq!(config, EstimatorConfig::Bayesian(BayesianLossConfig::new().with_beta(0.8)));
        /// assert_eq!(config.parameter("beta"), Some(0.8));
        /// ```
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        #[non_exhaustive]
        pub enum EstimatorConfig {
            $(
                #[doc = concat!("`", $name, "`: [`", stringify!($estimator), "`].")]
                #[serde(rename = $name)]
                $variant($config),
            )*
        }

        impl EstimatorConfig {
            /// Returns one of each, with default parameters.
            pub fn all() -> Vec<Self> {
                vec![$( Self::$variant($config::new()), )*]
            }

            /// Returns the name that recipes use.
            pub fn name(&self) -> &'static str {
                match self {
                    $( Self::$variant(_) => $name, )*
                }
            }

            /// Checks that every parameter is in its range.
            ///
            /// # Errors
            /// Returns an error that names the first parameter that is not, its value and the range.
            pub fn check(&self) -> Result<(), ParameterError> {
                match self {
                    $( Self::$variant(config) => config.check(), )*
                }
            }

            /// Builds the estimator.
            ///
            /// # Panics
            /// Panics if a parameter is out of range; [`check`](Self::check) finds out without panicking.
            pub fn init(&self) -> Box<dyn Estimator> {
                match self {
                    $( Self::$variant(config) => Box::new(config.init()), )*
                }
            }

            /// Returns the temperature, which every estimator has.
            pub fn temperature(&self) -> f64 {
                match self {
                    $( Self::$variant(config) => config.temperature, )*
                }
            }

            /// Returns the numeric parameter of this name, such as `tau_plus`, if the estimator has it.
            pub fn parameter(&self, name: &str) -> Option<f64> {
                match self {
                    $( Self::$variant(config) => config.number(name), )*
                }
            }

            /// Sets the numeric parameter of this name and returns true, or false if the estimator has none. Does not
            /// [check](Self::check) the value.
            pub fn set_parameter(&mut self, name: &str, value: f64) -> bool {
                match self {
                    $( Self::$variant(config) => config.set_number(name, value), )*
                }
            }
        }
    };
}

// A new estimator is a line here and a module above.
estimators! {
    "info_nce": InfoNce = info_nce::{InfoNceLossConfig, InfoNceLoss},
    "decoupled": Decoupled = decoupled::{DecoupledLossConfig, DecoupledLoss},
    "debiased": Debiased = debiased::{DebiasedLossConfig, DebiasedLoss},
    "hard": Hard = hard::{HardLossConfig, HardLoss},
    "bayesian": Bayesian = bayesian::{BayesianLossConfig, BayesianLoss},
    "positive_unlabelled": PositiveUnlabelled = positive_unlabelled::{PositiveUnlabelledLossConfig, PositiveUnlabelledLoss},
    "ring": Ring = ring::{RingLossConfig, RingLoss},
    "supervised": Supervised = supervised::{SupervisedLossConfig, SupervisedLoss},
    "augmented": Augmented = augmented::{AugmentedLossConfig, AugmentedLoss},
    "geometric": Geometric = geometric::{GeometricLossConfig, GeometricLoss},
}

impl EstimatorConfig {
    /// Returns the separation `alpha` that a schedule may move, if the estimator has one.
    pub fn alpha(&self) -> Option<f64> {
        self.parameter("alpha")
    }

    /// Sets `alpha` if the estimator has one.
    pub fn with_alpha(mut self, alpha: f64) -> Self {
        self.set_parameter("alpha", alpha);
        self
    }

    /// Returns the prior `tau_plus`, if the estimator has one.
    pub fn tau_plus(&self) -> Option<f64> {
        self.parameter("tau_plus")
    }

    /// Sets `tau_plus` if the estimator has one.
    pub fn with_tau_plus(mut self, tau_plus: f64) -> Self {
        self.set_parameter("tau_plus", tau_plus);
        self
    }

    /// Computes the mean weight of a row of `num_negatives` negatives, if the weights of the estimator should average to 1; see
    /// [`BayesianLossConfig::mean_weight`].
    pub fn mean_weight(&self, num_negatives: usize) -> Option<f64> {
        match self {
            Self::Bayesian(config) => Some(config.mean_weight(num_negatives)),
            _ => None,
        }
    }

    /// Lowers `alpha` to where the weights of a row of `num_negatives` negatives average to about 1; see
    /// [`BayesianLossConfig::away_from_the_pole`]. Other estimators are returned as they are.
    pub fn away_from_the_pole(self, num_negatives: usize) -> Self {
        match self {
            Self::Bayesian(config) => Self::Bayesian(config.away_from_the_pole(num_negatives)),
            other => other,
        }
    }
}

/// The correction of a debiased mass `(mean - τ+ x+) / (1 - τ+)` with its floor, for kernels.
fn debiased_mass(tau_plus: f64, pairs: &Pairs) -> Correction {
    Correction::Floored {
        unlabelled: (1.0 - tau_plus).recip(),
        positive: tau_plus / (1.0 - tau_plus),
        least: pairs.least_similarity(),
    }
}

#[cfg(test)]
mod tests;
