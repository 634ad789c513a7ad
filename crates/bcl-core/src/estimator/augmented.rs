//! Bayesian data augmentation: the normaliser is replaced by a random rate.

use super::{
    Estimator, Requirements,
    config::{Field, estimator},
};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    margins::{PositiveMargins, over},
    parameter::{in_closed, in_left_open, temperature},
    scores::nonzero,
};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// The rate R of the augmented loss. The paper's appendix has all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AugmentedRate {
    /// `R = x+ + Σ x_i` (Eq. 4): draws at this rate have InfoNCE's gradient as their expected gradient.
    #[default]
    WithPositive,
    /// `R = Σ x_i` (Eq. 5 and 6): the expected gradient equals the decoupled loss's.
    Negatives,
    /// `R = mean of x_i`: as `Negatives` for draws at this rate, but not for [given rates](SideInformation::with_log_rates).
    MeanNegatives,
}

/// The loss that the augmented one is mixed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AugmentedBase {
    /// `log((x+ + Σ x_i) / x+)`, InfoNCE.
    #[default]
    InfoNce,
    /// `log(Σ x_i / x+)`, the decoupled loss.
    Decoupled,
}

impl AugmentedRate {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl AugmentedBase {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Field for AugmentedRate {}

impl Field for AugmentedBase {}

estimator! {
    AugmentedLossConfig => AugmentedLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Share λ of the augmented loss, the rest being the base, in [0, 1]; 1 is the augmented loss alone.
        lambda / with_lambda: f64 = 1.0,
        /// The rate R.
        #[serde(skip_serializing_if = "AugmentedRate::is_default")]
        rate / with_rate: AugmentedRate = AugmentedRate::WithPositive,
        /// The loss that the augmented one is mixed with.
        #[serde(skip_serializing_if = "AugmentedBase::is_default")]
        base / with_base: AugmentedBase = AugmentedBase::InfoNce,
        /// Share γ of the current step in the running rate of each sample, in (0, 1]; without it, draws use the rate of the batch.
        #[serde(skip_serializing_if = "Option::is_none")]
        running / with_running: Option<f64> = None,
    }

    check(config) {
        temperature(config.temperature)?;
        in_closed("lambda", config.lambda, 0.0, 1.0)?;
        config.running.map_or(Ok(()), |share| in_left_open("running", share, 0.0, 1.0))
    }

    init(config) {
        AugmentedLoss { config: config.clone() }
    }
}

/// The augmented loss and its stochastic-EM mixture with a base:
///
/// ```text
/// L = (1 - λ) · L_base + λ · ( -log x+ + u R ),    u ~ Gamma(1, rate = R), constant in the gradient
/// ```
///
/// The [noise](SideInformation::noise) is one standard draw `g ~ Gamma(1, 1)` per anchor, and `u = g / R`. So the value of the second
/// term is always `g`, and its gradient is `g` times the gradient of `log R`. At `g = 1`, it is the gradient of InfoNCE or the decoupled
/// loss. With the rate of the same batch, L is therefore its base plus noise: no bias is removed.
///
/// To draw at another rate, such as one that is averaged over epochs, give its logarithm with [`SideInformation::with_log_rates`]; the loss
/// still uses R of the batch. With [`running`](AugmentedLossConfig::running) rates, training keeps one number `r` per sample and updates it
/// after each step,
///
/// ```text
/// r <- (1 - γ) r + γ mean_k x_k,    u = g / (N r + x+)
/// ```
///
/// by means of [`log_means`](Self::log_means) and [`log_rates`](Self::log_rates); x+ is left out if the rate has none. The loss itself keeps
/// no state: without given rates it uses the batch's.
///
/// Source: the Bayesian data augmentation paper, appendix (a minus sign is lost in print).
///
/// ```
/// use bcl_core::{AugmentedLossConfig, Reduction, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.3, -0.2]], &device));
/// let side = SideInformation::none().with_noise(Tensor::from_data([0.7], &device));
/// let loss = AugmentedLossConfig::new().init().forward_with(scores, &side, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 0.7).abs() < 1e-6); // -log x+ is 0 here
/// ```
#[derive(Debug)]
pub struct AugmentedLoss {
    config: AugmentedLossConfig,
}

impl AugmentedLoss {
    /// The [log-mean](Self::log_means) of an anchor without negatives: smaller than every other log-mean.
    pub const NO_LOG_MEAN: f32 = f32::MIN;

    /// Returns the augmented loss behind an estimator if its draws use [running rates](AugmentedLossConfig::running), which whoever trains
    /// must keep.
    pub fn with_running_rates(estimator: &dyn Estimator) -> Option<&Self> {
        // No method of the trait: only this loss has such rates.
        let estimator: &dyn Any = estimator;
        estimator.downcast_ref::<Self>().filter(|loss| loss.config.running.is_some())
    }

    /// Returns the share γ of the current step in [running rates](AugmentedLossConfig::running), if they are used.
    pub fn running(&self) -> Option<f64> {
        self.config.running
    }

    /// Computes the log of the mean of `x_i` over the negatives of each anchor, to be averaged over steps;
    /// [`NO_LOG_MEAN`](Self::NO_LOG_MEAN) without negatives. Constant in the gradient.
    ///
    /// # Shapes
    /// - output: `[num_anchors]`
    pub fn log_means(&self, scores: &Scores) -> Tensor<1> {
        let (margins, log_ratio) = self.log_ratio(scores, false);
        let log_sum = log_ratio + margins.log_positive();
        // All positives of an anchor share its sum.
        let log_means = log_sum.detach().slice([0..scores.num_anchors(), 0..1]) - nonzero(margins.counts()).log();
        let log_means = log_means.squeeze_dim(1);
        match margins.has_negatives() {
            Some(has_negatives) => log_means.mask_fill(has_negatives.bool_not(), Self::NO_LOG_MEAN),
            None => log_means,
        }
    }

    /// Computes the log of the rate R of each anchor, for [`SideInformation::with_log_rates`], from the log of a mean of `x_i`, such as one
    /// averaged over earlier steps. If the positive is part of the rate, the batch's is used. Constant in the gradient.
    ///
    /// # Shapes
    /// - `log_means`, output: `[num_anchors]`
    ///
    /// # Panics
    /// Panics if the positive is part of the rate and anchors have several.
    pub fn log_rates(&self, scores: &Scores, log_means: Tensor<1>) -> Tensor<1> {
        let log_sums = || {
            log_means.clone()
                + nonzero(scores.counts())
                    .log()
                    .expand([scores.num_anchors(), 1])
                    .squeeze_dim::<1>(1)
        };
        match self.config.rate {
            AugmentedRate::MeanNegatives => log_means,
            AugmentedRate::Negatives => log_sums(),
            AugmentedRate::WithPositive => {
                assert_eq!(
                    scores.num_positives(),
                    1,
                    "a rate with the positive needs one positive per anchor"
                );
                let log_positives = over(scores.counted_positives().detach(), self.config.temperature).squeeze_dim::<1>(1);
                let log_sums = log_sums();
                let larger = log_positives.clone().max_pair(log_sums.clone());
                ((log_positives - larger.clone()).exp() + (log_sums - larger.clone()).exp()).log() + larger
            }
        }
    }

    /// `log(R / x+)` with the positive or without it in the sum R, and the margins that it comes from.
    fn log_ratio(&self, scores: &Scores, with_positive: bool) -> (PositiveMargins, Tensor<2>) {
        let temperature = self.config.temperature;
        let (margins, log_ratio): (_, fn(&PositiveMargins, Tensor<2>) -> Tensor<2>) = if with_positive {
            (PositiveMargins::new(scores, temperature), PositiveMargins::loss)
        } else {
            (
                PositiveMargins::around_hardest(scores, temperature),
                PositiveMargins::decoupled_loss,
            )
        };
        let mass = margins.mass(None);
        let log_ratio = log_ratio(&margins, mass);
        (margins, log_ratio)
    }
}

impl Estimator for AugmentedLoss {
    fn losses(&self, pairs: Pairs, side: &SideInformation) -> Losses {
        let scores = pairs.into_scores();
        let AugmentedLossConfig { lambda, rate, base, .. } = self.config;
        let noise = side.noise_for(&scores, "augmented", 1.0);
        let base_has_positive = base == AugmentedBase::InfoNce;
        let rate_has_positive = rate == AugmentedRate::WithPositive;
        let (margins, base) = self.log_ratio(&scores, base_has_positive);
        let log_ratio = if rate_has_positive == base_has_positive {
            base.clone()
        } else {
            self.log_ratio(&scores, rate_has_positive).1
        };
        let log_rate = match rate {
            AugmentedRate::MeanNegatives => log_ratio + margins.log_positive() - nonzero(margins.counts()).log(),
            AugmentedRate::WithPositive | AugmentedRate::Negatives => log_ratio + margins.log_positive(),
        };
        // The quotient of two rates needs no exponential of a large number.
        let log_drawn = side.log_rates_for(&scores).unwrap_or_else(|| log_rate.clone().detach());
        let augmented = noise * (log_rate - log_drawn).exp() - margins.log_positive();
        margins.losses(base * (1.0 - lambda) + augmented * lambda)
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.ones_like())
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            gamma_shape: Some(1.0),
            ..Requirements::default()
        }
    }
}
