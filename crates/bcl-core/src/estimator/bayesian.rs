//! Bayesian contrastive loss: each negative weighs as much as it is probably a true and a hard one.

use super::{
    Estimator,
    config::{estimator_config, expect_checked},
    ranked::{RankTable, RankWeight},
};
use crate::{ParameterError, Scores, margins::Margins, parameter::positive, posterior::Posterior};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Which arithmetic the Bayesian weight follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The paper's equations.
    #[default]
    Exact,
    /// The code the authors released, including its defects: an epsilon of 1e-3 in the quadratic and in the normaliser, which
    /// shifts weights by up to 1.5 %, halves them near α = β = 1 and divides by zero near α = 0.501, τ+ = 0.25. For comparison only.
    Official,
}

estimator_config! {
    /// Configuration of [`Bayesian`].
    pub struct BayesianConfig {
        /// Temperature t, above 0.
        temperature / with_temperature: f64 = 0.5,
        /// Prior τ+ that a negative shares the anchor's class, in [0, 1).
        tau_plus / with_tau_plus: f64 = 0.1,
        /// The encoder's AUC α, the probability that a positive scores above a true negative, in [0.5, 1].
        alpha / with_alpha: f64 = 0.9,
        /// Hardness β: the share drawn from the hard component, in [0, 1].
        beta / with_beta: f64 = 0.9,
        /// The paper's arithmetic or the released code's.
        variant / with_variant: Variant = Variant::Exact,
    }
}

impl BayesianConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range; α = 1 with β = 1 is refused because the weight is 0/0 there.
    pub fn check(&self) -> Result<(), ParameterError> {
        positive("temperature", self.temperature)?;
        Posterior::new(self.alpha, self.beta, self.tau_plus).map(drop)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> Bayesian {
        expect_checked(self.check());
        let posterior = Posterior::new(self.alpha, self.beta, self.tau_plus).expect("checked above");
        Bayesian {
            temperature: self.temperature,
            weight: Importance {
                posterior,
                variant: self.variant,
            },
            table: RankTable::default(),
        }
    }
}

/// Bayesian contrastive loss: `Ng = Σ ω_i x_i`.
///
/// `ω_i` is the importance weight of [`Posterior`], a function of the rank of score i within its row (Eq. 11 to 14 of the paper).
/// No gradient flows through it. For one row length all weights are one vector, computed once; a step costs one sort a row.
///
/// Source: Liu, Wang, Bayesian Self-Supervised Contrastive Learning (arXiv 2301.11673).
///
/// ```
/// use bcl_core::{BayesianConfig, Estimator, Reduction, Scores, Similarity};
/// use burn::tensor::{Device, Distribution, Tensor};
///
/// let device = Device::flex();
/// let first = Tensor::<2>::random([8, 16], Distribution::Default, &device);
/// let second = Tensor::<2>::random([8, 16], Distribution::Default, &device);
///
/// let scores = Scores::from_views(first, second, Similarity::Cosine);
/// let loss = BayesianConfig::new().with_beta(0.8).init().forward(scores, Reduction::Mean);
/// assert_eq!(loss.dims(), [1]);
/// ```
#[derive(Debug)]
pub struct Bayesian {
    temperature: f64,
    weight: Importance,
    table: RankTable,
}

impl Bayesian {
    /// The posterior behind the weights.
    pub fn posterior(&self) -> Posterior {
        self.weight.posterior
    }
}

impl Estimator for Bayesian {
    fn name(&self) -> &'static str {
        "bayesian"
    }

    fn forward_no_reduction(&self, scores: Scores) -> Tensor<1> {
        let margins = Margins::new(&scores, self.temperature);
        margins.loss(self.table.mass(&scores, &margins, &self.weight))
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        self.table.weights(scores, &self.weight)
    }
}

/// The importance weight in one of its arithmetics.
#[derive(Debug)]
struct Importance {
    posterior: Posterior,
    variant: Variant,
}

impl RankWeight for Importance {
    fn by_rank(&self, num_negatives: usize) -> Vec<f64> {
        match self.variant {
            Variant::Exact => self.posterior.rank_weights(num_negatives),
            Variant::Official => self.posterior.rank_weights_official(num_negatives),
        }
    }

    fn by_ecdf(&self, ecdf: Tensor<2>) -> Tensor<2> {
        match self.variant {
            Variant::Exact => self.posterior.omega_tensor(ecdf),
            Variant::Official => self.posterior.omega_official_tensor(ecdf),
        }
    }
}
