//! Objectives: how the similarities of positives and weighted negatives become a loss.
//!
//! An [`Estimator`] says how negatives are weighted. Its loss is `log(1 + Ng / x+)` unless another objective is chosen.

mod jensen_shannon;
mod official;
#[cfg(test)]
mod tests;

pub use jensen_shannon::JensenShannonLoss;

use crate::{Estimator, EstimatorConfig};
use burn::tensor::{Tensor, activation::log_sigmoid};
use serde::{Deserialize, Serialize};

/// How the similarities of positives and weighted negatives become a loss.
///
/// ```
/// use bcl_core::{BayesianLossConfig, ContrastiveObjective, DecoupledLossConfig, EstimatorConfig};
///
/// let bayesian = EstimatorConfig::Bayesian(BayesianLossConfig::new());
/// assert!(ContrastiveObjective::Jsd.supports(&bayesian));
/// assert!(!ContrastiveObjective::Jsd.supports(&EstimatorConfig::Decoupled(DecoupledLossConfig::new())));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContrastiveObjective {
    /// `log(1 + Ng / x+)`, the loss of the estimator itself.
    #[default]
    Nce,
    /// [`JensenShannonLoss`].
    Jsd,
    /// [`JensenShannonLoss::official`], for comparison only.
    JsdOfficial,
}

impl ContrastiveObjective {
    /// All objectives.
    pub const ALL: [Self; 3] = [Self::Nce, Self::Jsd, Self::JsdOfficial];

    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nce => "nce",
            Self::Jsd => "jsd",
            Self::JsdOfficial => "jsd_official",
        }
    }

    /// Whether the objective can take the weights of this estimator. The losses with a decoupled or a random normaliser are defined for
    /// [`Nce`](Self::Nce) alone, and the released code has the debiased and the hard weights alone.
    pub fn supports(self, estimator: &EstimatorConfig) -> bool {
        match self {
            Self::Nce => true,
            Self::Jsd => !matches!(
                estimator,
                EstimatorConfig::Decoupled(_) | EstimatorConfig::Augmented(_) | EstimatorConfig::Geometric(_)
            ),
            Self::JsdOfficial => matches!(estimator, EstimatorConfig::Debiased(_) | EstimatorConfig::Hard(_)),
        }
    }

    /// Builds the loss.
    ///
    /// # Panics
    /// Panics if a parameter of the estimator is out of range, or if the objective does not [support](Self::supports) it.
    pub fn init(self, estimator: &EstimatorConfig) -> Box<dyn Estimator> {
        match self {
            Self::Nce => estimator.init(),
            Self::Jsd => Box::new(JensenShannonLoss::new(estimator)),
            Self::JsdOfficial => Box::new(JensenShannonLoss::official(estimator)),
        }
    }
}

/// `log(1 + e^x)`.
fn softplus(x: Tensor<2>) -> Tensor<2> {
    -log_sigmoid(-x)
}
