//! Estimators: how the mass of the negatives is formed from their scores.
//!
//! Every loss here is `-log(x+ / (x+ + Ng))` averaged over anchors, with `x = exp(similarity / temperature)`; the estimators differ
//! in `Ng`, the mass they put on the negatives. One file each.

mod adnce;
mod augmented;
mod bayesian;
mod config;
mod debiased;
mod decoupled;
mod geometric;
mod hard;
mod info_nce;
mod positive_unlabelled;
mod progcl;
mod ranked;
mod ring;
mod supervised;

pub use augmented::{AugmentedBase, AugmentedRate};
pub use bayesian::{BayesianVariant, MEAN_WEIGHT_TOLERANCE};
pub use positive_unlabelled::PositiveUnlabelledFloor;

use crate::{JensenShannonLoss, Losses, Pairs, ParameterError, Scores, SideInformation, pairs::Kernel, parameter::in_closed};
use bcl_kernels::Correction;
use burn::{
    nn::loss::Reduction,
    tensor::{Bool, Tensor},
};
use serde::{Deserialize, Serialize};
use std::{any::Any, fmt::Debug};

/// A contrastive loss that weighs negatives.
///
/// The configurations build estimators: `BayesianLossConfig::new().init()`. Each has a `forward` that takes two views, [`Pairs`] or
/// [`Scores`] and picks the fastest way to compute the loss. Code that works with every estimator gives each what it
/// [requires](Self::requirements):
///
/// ```
/// use bcl_core::{Estimator, EstimatorConfig, Reduction, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let first = Tensor::<2>::from_data([[1.0, 0.1], [0.2, 1.0]], &device);
/// let second = Tensor::<2>::from_data([[0.9, 0.2], [0.1, 0.8]], &device);
/// for config in EstimatorConfig::all() {
///     let estimator = config.init();
///     let mut side = SideInformation::none();
///     if estimator.requirements().gamma_shape.is_some() {
///         side = side.with_noise(Tensor::ones([4], &device));
///     }
///     if estimator.requirements().truth {
///         side = side.with_same_class(Tensor::<2>::zeros([4, 2], &device).bool());
///     }
///     let loss = estimator.forward_with([first.clone(), second.clone()], &side, Reduction::Mean);
///     assert!(loss.into_scalar::<f32>().is_finite());
/// }
/// ```
pub trait Estimator: Any + Debug + Send + Sync {
    /// Computes the loss of each anchor, and which anchors have one.
    ///
    /// InfoNCE, decoupled, debiased, hard, Bayesian, positive-unlabelled and ring losses of embeddings mostly do without a matrix of scores in f32 and f64,
    /// on a GPU unless each anchor has negatives of its own. Losses and gradients are the same up to rounding, but for anchors of whose negatives none has a
    /// weight because all tie: with a matrix of scores they have no loss, without one they count with a loss of 0.
    ///
    /// # Panics
    /// Panics if the side information lacks what the estimator [requires](Self::requirements), and as [`Pairs::into_scores`] does.
    fn losses(&self, pairs: Pairs, side: &SideInformation) -> Losses;

    /// Computes the weight of each negative's score inside `Ng`, apart from any floor; 0 where masked out.
    ///
    /// # Shapes
    /// - output: `[num_anchors, num_negatives]`
    ///
    /// # Panics
    /// Panics if the estimator needs truth and the side information has none.
    fn weights(&self, scores: &Scores, side: &SideInformation) -> Tensor<2>;

    /// Returns the temperature that scores are divided by.
    fn temperature(&self) -> f64;

    /// Returns what the estimator needs beside pairs.
    fn requirements(&self) -> Requirements {
        Requirements::default()
    }

    /// Marks the anchors whose mass is at its floor, if the estimator has one: their negatives have no gradient, so they only pull towards
    /// the positive. The correction takes the mean of several positives, so the mass is at the floor for all or for none.
    ///
    /// The corrections of the debiased, hard and positive-unlabelled losses reach the floor as soon as the positive is above the
    /// negatives by a margin that is proportional to the temperature: `t ln(1/τ+)` for the debiased loss, 0.23 at t = 0.1 and τ+ = 0.1.
    /// So at low temperatures most anchors of a trained encoder may be there.
    ///
    /// # Shapes
    /// - output: `[num_anchors]`
    // Reports show how many anchors are there, for any estimator.
    fn floored(&self, _: &Scores, _: &SideInformation) -> Option<Tensor<1, Bool>> {
        None
    }

    /// How kernels compute the losses of these pairs, if they can: without side information, and with a weight that depends only on the
    /// score or its rank.
    #[doc(hidden)]
    fn kernel(&self, _: &Pairs) -> Option<Kernel> {
        None
    }
}

/// What an estimator needs beside [`Pairs`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Requirements {
    /// The shape parameter of the Gamma draws (unit rate), one per anchor, that it needs as [`SideInformation::noise`].
    pub gamma_shape: Option<f64>,
    /// Whether it needs [`SideInformation::same_class`].
    pub truth: bool,
    /// Whether the loss of an anchor depends on the scores of other anchors. Then all anchors of a batch must be computed at
    /// once, which [gradient caching](crate::gradient_cache) does not.
    pub whole_batch: bool,
}

/// Adds what takes anything that becomes [`Pairs`], which methods of a trait object cannot.
macro_rules! forward {
    ($($estimator:ty),* $(,)?) => { $(
        impl $estimator {
            /// Computes the loss and reduces it; [`Reduction::Auto`] is the mean. A mean is over the anchors that have a loss.
            ///
            /// `pairs` are two views of a batch, [`Pairs`] or [`Scores`].
            ///
            /// # Shapes
            /// - output: `[1]`, nats
            ///
            /// # Panics
            /// Panics if the estimator [requires](Estimator::requirements) side information, which `forward_with` takes.
            pub fn forward(&self, pairs: impl Into<Pairs>, reduction: Reduction) -> Tensor<1> {
                self.forward_with(pairs, &SideInformation::none(), reduction)
            }

            /// Computes the loss with side information and reduces it, as `forward` does.
            ///
            /// # Shapes
            /// - output: `[1]`, nats
            ///
            /// # Panics
            /// Panics as [`losses`](Estimator::losses) does.
            pub fn forward_with(&self, pairs: impl Into<Pairs>, side: &SideInformation, reduction: Reduction) -> Tensor<1> {
                self.losses(pairs.into(), side).reduce(reduction)
            }

            /// Computes the loss of each anchor; 0 for an anchor without negatives.
            ///
            /// # Shapes
            /// - output: `[num_anchors]`, nats
            ///
            /// # Panics
            /// Panics as `forward` does.
            pub fn forward_no_reduction(&self, pairs: impl Into<Pairs>) -> Tensor<1> {
                self.losses(pairs.into(), &SideInformation::none()).values()
            }
        }
    )* };
}

forward!(dyn Estimator + '_, JensenShannonLoss);

/// Registers the estimators: for each the name that recipes use, its variant, its module, and the configuration and estimator there.
macro_rules! estimators {
    ($( $name:literal: $variant:ident = $module:ident::{$config:ident, $estimator:ident}, )*) => {
        $( pub use $module::{$config, $estimator}; )*

        forward!($( $estimator ),*);

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
    "adnce": Adnce = adnce::{AdnceLossConfig, AdnceLoss},
    "progcl": ProGcl = progcl::{ProGclLossConfig, ProGclLoss},
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

    /// Lowers `alpha` to where the weights of a row of `num_negatives` negatives average to about 1; see
    /// [`BayesianLossConfig::away_from_the_pole`]. Other estimators are returned as they are.
    pub fn away_from_the_pole(self, num_negatives: usize) -> Self {
        match self {
            Self::Bayesian(config) => Self::Bayesian(config.away_from_the_pole(num_negatives)),
            other => other,
        }
    }

    /// The factor `b` of the positive in `Ng = N · max(mean(w_i x_i) - b x+, floor)`: it removes what positives without a label are
    /// expected to add. 0 if the estimator makes no such correction, and so has no floor.
    pub(crate) fn positive_correction(&self) -> f64 {
        match self {
            Self::Debiased(DebiasedLossConfig { tau_plus, .. }) | Self::Hard(HardLossConfig { tau_plus, .. }) => {
                tau_plus / (1.0 - tau_plus)
            }
            Self::PositiveUnlabelled(config) => config.init().positive_weight(),
            _ => 0.0,
        }
    }
}

/// Checks the N of a loss, if it is not the number of negatives.
fn check_num_negatives(number: Option<f64>) -> Result<(), ParameterError> {
    number.map_or(Ok(()), |number| in_closed("num_negatives", number, 1e-6, 1e9))
}

/// The correction of a debiased mass `(mean - τ+ x+) / (1 - τ+)` with its floor, for kernels; they multiply by the number of negatives, and so do not
/// support another N.
fn debiased_mass(tau_plus: f64, num_negatives: Option<f64>, pairs: &Pairs) -> Option<Correction> {
    num_negatives.is_none().then(|| Correction::Floored {
        unlabelled: (1.0 - tau_plus).recip(),
        positive: tau_plus / (1.0 - tau_plus),
        least: pairs.least_similarity(),
    })
}

#[cfg(test)]
mod tests;
