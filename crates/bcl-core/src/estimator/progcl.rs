//! ProGCL: negatives weigh by their similarity and by the probability that they are true.

mod mixture;
#[cfg(test)]
mod tests;

use super::{Estimator, Requirements, config::estimator};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    margins::{PositiveMargins, with_mean_one},
    parameter::{in_closed, temperature},
    scores::masked,
};
use burn::tensor::{Bool, Tensor, activation::log_sigmoid};
use mixture::{BetaMixture, UnitInterval};

estimator! {
    ProGclLossConfig => ProGclLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Share of false negatives that the fit starts from, in [1e-6, 0.99].
        initial_share / with_initial_share: f64 = 0.05,
        /// How much of the weights applies, in [0, 1]: 0 gives InfoNCE. A schedule from 0 to 1 starts the weights at an epoch.
        strength / with_strength: f64 = 1.0,
    }

    check(config) {
        temperature(config.temperature)?;
        in_closed("initial_share", config.initial_share, 1e-6, 0.99)?;
        in_closed("strength", config.strength, 0.0, 1.0)
    }

    init(config) {
        ProGclLoss { config: config.clone() }
    }
}

/// The weights of ProGCL:
///
/// ```text
/// Ng = Σ w_i x_i,   w_i = p(true | u_i) u_i / mean_j p(true | u_j) u_j
/// ```
///
/// where u is the similarity, scaled so that the lowest of the batch is 0 and the highest 1. The posterior p comes from a mixture of two Beta
/// distributions, of true and of false negatives, which ten steps of expectation maximisation fit to all negatives of the batch, by weighted moments. It starts
/// from `Beta(1, 2)` for true and `Beta(2, 1)` for false negatives, so the false ones are the more similar ones. The mean is over the negatives of
/// the anchor. Weights are constants in the gradient. The loss of an anchor [depends on the others](Requirements::whole_batch).
///
/// `strength` mixes the weights with equal ones, `1 - strength + strength · w_i`. A schedule of `strength` from 0 to 1 trains with InfoNCE up to
/// some epoch, as the authors do.
///
/// Five parameters cannot be fitted to fewer than six negatives, nor any to equal similarities. Then all weights are 1.
///
/// Nothing keeps the components apart: they have the names that they start with, as in the authors' code. If far more negatives are false than `initial_share` says, or if the
/// similarities have a single peak, the second component may end at the low similarities, and the weights then grow up to the highest.
///
/// The fit takes about 130 passes over the scores and a few times their memory.
///
/// # Departures from the authors' code
///
/// - They fit once, at the starting epoch, to 100 randomly chosen columns, and keep these weights for all later epochs of a full-batch run. Here every batch is fitted,
///   with all its negatives, so nothing is drawn and nothing is kept.
/// - They scale cosines by `(s + 1) / 2` in a full batch, and by the lowest and highest similarity in parts; here it is always the latter, which suits dot products, too.
/// - They reuse the weights of negatives from the other view for negatives from the same view; here each has the weight of its similarity.
/// - Each component keeps 1e-4 of the responsibility for each negative, scaled similarities are kept 1e-6 away from 0 and 1, and parameters are limited, so that no
///   component becomes empty or a spike.
///
/// Source: Xia et al., [ProGCL: Rethinking Hard Negative Mining in Graph Contrastive Learning](https://arxiv.org/abs/2110.02027), "ProGCL-weight",
/// and the code that its authors released.
///
/// ```
/// use bcl_core::{Estimator, ProGclLossConfig, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let negatives = Tensor::from_data([[0.98, 0.96, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.0]], &device);
/// let scores = Scores::new(Tensor::from_data([0.9], &device), negatives);
/// let weights = ProGclLossConfig::new().init().weights(&scores, &SideInformation::none());
/// let weights: Vec<f32> = weights.into_data().iter().collect();
/// // The two that are far above the others are probably false; of the others, the most similar weighs most.
/// assert!(weights[0] < weights[2] && weights[2] > weights[3] && weights[3] > weights[9]);
/// ```
#[derive(Debug)]
pub struct ProGclLoss {
    config: ProGclLossConfig,
}

/// Differences of similarities below this part of the largest are rounding errors.
const RESOLUTION: f64 = 1e-6;

/// Between the five negatives that are too few and the six that are enough, because sums of weights are rounded.
const TOO_FEW: f64 = 5.5;

impl ProGclLoss {
    /// The weights; 0 where masked out.
    fn fitted(&self, scores: &Scores) -> Tensor<2> {
        let ones = || masked(scores.negatives.ones_like(), scores.mask.as_ref());
        let strength = self.config.strength;
        if strength == 0.0 {
            return ones();
        }
        let weights = with_mean_one(scores, self.log_weights(scores));
        if strength == 1.0 {
            return weights;
        }
        weights * strength + ones() * (1.0 - strength)
    }

    /// `ln(p u)`; 0 if the mixture is not identified.
    fn log_weights(&self, scores: &Scores) -> Tensor<2> {
        let negatives = scores.negatives.clone().detach();
        let left_out = scores.mask.clone().map(Tensor::bool_not);
        let filled = |tensor: Tensor<2>, by: f64| match &left_out {
            Some(left_out) => tensor.mask_fill(left_out.clone(), by),
            None => tensor,
        };
        let lowest = filled(negatives.clone(), f64::INFINITY).min().unsqueeze::<2>();
        let highest = filled(negatives.clone(), f64::NEG_INFINITY).max().unsqueeze::<2>();
        let range = highest.clone() - lowest.clone();
        // Entries that are masked out may be anything, but must not make sums NaN.
        let scaled = UnitInterval::new(
            filled((negatives.clone() - lowest.clone()) / range.clone(), 0.5),
            filled((highest.clone() - negatives.clone()) / range.clone(), 0.5),
        );
        let counted = scores.weighted(negatives.ones_like());
        let mixture = BetaMixture::fit(&scaled, counted.clone(), self.config.initial_share);
        let log_weights = log_sigmoid(-mixture.log_odds(&scaled)) + scaled.log();

        let magnitude = highest.abs().max_pair(lowest.abs());
        let differs: Tensor<2, Bool> = range.greater(magnitude * RESOLUTION);
        let is_enough = counted.sum().unsqueeze::<2>().greater_scalar(TOO_FEW);
        let unidentified = differs.bool_and(is_enough).bool_not();
        log_weights.mask_fill(unidentified.expand(negatives.dims()), 0.0)
    }
}

impl Estimator for ProGclLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        let scores = pairs.into_scores();
        let weights = self.fitted(&scores);
        PositiveMargins::weighted_losses(&scores, self.config.temperature, weights)
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(self.fitted(scores))
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            whole_batch: true,
            ..Requirements::default()
        }
    }
}
