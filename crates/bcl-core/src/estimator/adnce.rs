//! Adjusted InfoNCE: negatives near a chosen similarity count most.

use super::{Estimator, config::estimator};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    margins::{PositiveMargins, with_mean_one},
    parameter::{in_closed, temperature},
};
use burn::tensor::Tensor;

estimator! {
    AdnceLossConfig => AdnceLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Similarity μ at which a negative counts most, in [-1e6, 1e6].
        mu / with_mu: f64 = 0.7,
        /// Width σ of the weights, in [1e-3, 1e6] and in units of the similarity; a large σ gives InfoNCE.
        sigma / with_sigma: f64 = 1.0,
    }

    check(config) {
        temperature(config.temperature)?;
        in_closed("mu", config.mu, -1e6, 1e6)?;
        in_closed("sigma", config.sigma, 1e-3, 1e6)
    }

    init(config) {
        AdnceLoss { config: config.clone() }
    }
}

/// Adjusted InfoNCE:
///
/// ```text
/// Ng = Σ w_i x_i,   w_i = g(s_i) / mean_j g(s_j),   g(s) = exp(-(s - μ)² / (2 σ²))
/// ```
///
/// where s is a similarity before it is divided by the temperature. The nearest negatives, which are the most likely to be false, weigh less than those
/// around μ. Weights are constants in the gradient.
///
/// Source: Wu et al., Understanding Contrastive Learning via Distributionally Robust Optimization, and the code that its authors released.
///
/// ```
/// use bcl_core::{AdnceLossConfig, Estimator, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.9], &device), Tensor::from_data([[0.9, 0.5, -0.8]], &device));
/// let adjusted = AdnceLossConfig::new().with_mu(0.5).with_sigma(0.3).init();
/// let weights: Vec<f32> = adjusted.weights(&scores, &SideInformation::none()).into_data().iter().collect();
/// assert!(weights[1] > weights[0] && weights[0] > weights[2]);
/// ```
#[derive(Debug)]
pub struct AdnceLoss {
    config: AdnceLossConfig,
}

impl AdnceLoss {
    /// The weights; 0 where masked out.
    fn adjusted(&self, scores: &Scores) -> Tensor<2> {
        let AdnceLossConfig { mu, sigma, .. } = self.config;
        let distance = (scores.unscaled(scores.negatives.clone().detach()) - mu) / sigma;
        with_mean_one(scores, distance.square() * -0.5)
    }
}

impl Estimator for AdnceLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        let scores = pairs.into_scores();
        let weights = self.adjusted(&scores);
        PositiveMargins::weighted_losses(&scores, self.config.temperature, weights)
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(self.adjusted(scores))
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }
}
