//! Bayesian contrastive loss: the weight of a negative grows with the probability that it is a true and a hard one.

use super::{
    Estimator, Kernel,
    config::{Field, estimator},
    ranked::{RankTable, RankWeight},
};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    parameter::temperature,
    posterior::{Posterior, PosteriorTensors},
};
use bcl_kernels::Correction;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The arithmetic of the Bayesian weight: the paper's or the released code's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BayesianVariant {
    /// The paper's equations.
    #[default]
    Exact,
    /// The code that the authors released, including its defects: an epsilon of 1e-3 in the quadratic and in the normaliser, which
    /// shifts weights by up to 1.5 %, halves them near α = β = 1 and divides by zero near α = 0.501, τ+ = 0.25. For comparison only.
    Official,
}

impl Field for BayesianVariant {}

estimator! {
    BayesianLossConfig => BayesianLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Prior τ+ that a negative shares the anchor's class, in [0, 1).
        tau_plus / with_tau_plus: f64 = 0.1,
        /// How well scores separate the classes, in [0.5, 1]: the probability α that in a pair of scores the lower one is the true
        /// negative's. The papers put the encoder's AUC here; in their model that is `(1 + 4α) / 6`, see [`auc`](crate::auc).
        alpha / with_alpha: f64 = 0.9,
        /// Hardness β: the share drawn from the hard component, in [0, 1].
        beta / with_beta: f64 = 0.9,
        /// The paper's arithmetic or the released code's.
        variant / with_variant: BayesianVariant = BayesianVariant::Exact,
        /// Whether the weights of each row are divided by their mean, which is 1 for long rows only: the estimator with the smallest
        /// error in the paper's own [simulation](crate::simulation).
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        normalised / with_normalised: bool = false,
    }

    check(config) {
        temperature(config.temperature)?;
        // Refuses α = 1 with β = 1, too, where the weight is 0/0.
        Posterior::new(config.alpha, config.beta, config.tau_plus).map(drop)
    }

    init(config) {
        BayesianLoss {
            temperature: config.temperature,
            weight: Importance {
                posterior: Posterior::new(config.alpha, config.beta, config.tau_plus).expect("checked above"),
                variant: config.variant,
                normalised: config.normalised,
            },
            table: RankTable::default(),
        }
    }
}

/// How far the mean weight of a row may be from 1: beyond that, a configured α is worth a warning and a measured one is lowered.
pub const MEAN_WEIGHT_TOLERANCE: f64 = 0.1;

impl BayesianLossConfig {
    /// Computes the mean weight of a row of `num_negatives` negatives without ties.
    ///
    /// It tends to 1 as rows grow. Near α = 1 with β = 1 the highest rank has a pole, `ω(1) → 1 / τ+`, and short rows are off: 5.2 at
    /// N = 128, τ+ = 0.0008, α = 0.999.
    ///
    /// # Panics
    /// Panics if a parameter is out of range.
    ///
    /// ```
    /// use bcl_core::BayesianLossConfig;
    ///
    /// let near_the_pole = BayesianLossConfig::new().with_alpha(0.999).with_beta(1.0).with_tau_plus(0.0008);
    /// assert!(near_the_pole.mean_weight(128) > 5.0);
    /// assert_eq!(near_the_pole.with_normalised(true).mean_weight(128), 1.0);
    /// ```
    pub fn mean_weight(&self, num_negatives: usize) -> f64 {
        if self.normalised {
            return 1.0;
        }
        let weights = self.init().weight.by_rank(num_negatives);
        weights.iter().sum::<f64>() / num_negatives as f64
    }

    /// Whether all negatives have the same weight, which makes the loss InfoNCE: for the paper's arithmetic, at α = β with τ+ = 1/2.
    ///
    /// # Panics
    /// Panics if a parameter is out of range.
    ///
    /// ```
    /// use bcl_core::BayesianLossConfig;
    ///
    /// let two_classes = BayesianLossConfig::new().with_alpha(0.9).with_tau_plus(0.5);
    /// assert!(two_classes.clone().with_beta(0.9).weighs_equally());
    /// assert!(!two_classes.with_beta(0.5).weighs_equally());
    /// ```
    pub fn weighs_equally(&self) -> bool {
        // A dozen ranks show any slope, and rounding leaves less than this.
        let weights = self.init().weight.by_rank(12);
        weights.iter().all(|weight| (weight - weights[0]).abs() < 1e-9)
    }

    /// Lowers α until the [mean weight](Self::mean_weight) exceeds 1 by at most [`MEAN_WEIGHT_TOLERANCE`], to 1/2 if nothing else will
    /// do. An α that is low enough stays.
    ///
    /// The α measured on a good encoder may come arbitrarily close to 1; this keeps it away from the pole there.
    ///
    /// # Panics
    /// Panics if a parameter is out of range.
    pub fn away_from_the_pole(self, num_negatives: usize) -> Self {
        let at = |alpha| self.clone().with_alpha(alpha);
        let too_heavy = |alpha| at(alpha).mean_weight(num_negatives) > 1.0 + MEAN_WEIGHT_TOLERANCE;
        if !too_heavy(self.alpha) {
            return self;
        }
        let (mut low, mut high) = (0.5, self.alpha);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if too_heavy(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        at(low)
    }
}

/// Halvings of the interval [0.5, 1]: enough for nine digits.
const BISECTIONS: usize = 30;

/// Bayesian contrastive loss: `Ng = Σ ω_i x_i`.
///
/// `ω_i` is the importance weight of [`Posterior`], a function of the rank of score i within its row (Eq. 11 to 14 of the paper).
/// No gradient flows through it. All rows of one length share one vector of weights, which is computed once; a step
/// costs one sort per row.
///
/// Source: Liu, Wang, Bayesian Self-Supervised Contrastive Learning (arXiv 2301.11673).
///
/// ```
/// use bcl_core::{BayesianLossConfig, Reduction};
/// use burn::tensor::{Device, Distribution, Tensor};
///
/// let device = Device::flex();
/// let first = Tensor::<2>::random([8, 16], Distribution::Default, &device);
/// let second = Tensor::<2>::random([8, 16], Distribution::Default, &device);
///
/// let loss = BayesianLossConfig::new().with_beta(0.8).init().forward([first, second], Reduction::Mean);
/// assert_eq!(loss.dims(), [1]);
/// ```
#[derive(Debug)]
pub struct BayesianLoss {
    temperature: f64,
    weight: Importance,
    table: RankTable,
}

impl BayesianLoss {
    /// Returns the posterior behind the weights.
    pub fn posterior(&self) -> Posterior {
        self.weight.posterior
    }
}

impl Estimator for BayesianLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        pairs.losses(self, |scores| self.table.losses(&scores, self.temperature, &self.weight))
    }

    fn kernel(&self, pairs: &Pairs) -> Option<Kernel> {
        Some(Kernel(
            self.table.of(pairs, self.temperature, &self.weight)?,
            Correction::None,
        ))
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(self.table.weights(scores, &self.weight))
    }

    fn temperature(&self) -> f64 {
        self.temperature
    }
}

/// The importance weight in one of its arithmetics.
#[derive(Debug)]
struct Importance {
    posterior: Posterior,
    variant: BayesianVariant,
    normalised: bool,
}

impl RankWeight for Importance {
    fn by_rank(&self, num_negatives: usize) -> Vec<f64> {
        match self.variant {
            BayesianVariant::Exact => self.posterior.rank_weights(num_negatives),
            BayesianVariant::Official => self.posterior.rank_weights_official(num_negatives),
        }
    }

    fn by_ecdf(&self, ecdf: Tensor<2>) -> Tensor<2> {
        match self.variant {
            BayesianVariant::Exact => self.posterior.omega_tensor(ecdf),
            BayesianVariant::Official => self.posterior.omega_official_tensor(ecdf),
        }
    }

    fn normalised(&self) -> bool {
        self.normalised
    }
}
