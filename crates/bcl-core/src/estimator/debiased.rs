//! Debiased contrastive loss: the expected share of false negatives is subtracted.

use super::{Estimator, Kernel, check_num_negatives, config::estimator, debiased_mass};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    margins::{PositiveMargins, over},
    parameter::{in_half_open, temperature},
};
use bcl_kernels::Weighing;
use burn::tensor::{Bool, Tensor};

estimator! {
    DebiasedLossConfig => DebiasedLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Prior τ+ that a negative shares the anchor's class, in [0, 1).
        tau_plus / with_tau_plus: f64 = 0.1,
        /// The N that the mean is multiplied by, in [1e-6, 1e9]; by default, the number of negatives that the mean is taken over.
        #[serde(skip_serializing_if = "Option::is_none")]
        num_negatives / with_num_negatives: Option<f64> = None,
    }

    check(config) {
        check_num_negatives(config.num_negatives)?;
        temperature(config.temperature)?;
        in_half_open("tau_plus", config.tau_plus, 0.0, 1.0)
    }

    init(config) {
        DebiasedLoss { config: config.clone() }
    }
}

/// Debiased contrastive loss:
///
/// ```text
/// Ng = N · max{ (mean x_i - τ+ x+) / (1 - τ+), e^(s/t) }
/// ```
///
/// With several positives, the correction takes the mean of `x+` over all of them.
///
/// The mean over M negatives is an estimate, so N, its weight beside `x+`, need not be M: [`num_negatives`](DebiasedLossConfig::num_negatives)
/// sets it. By default N is M.
///
/// The floor `e^(s/t)` is the mass of a negative at the lowest similarity s: `e^(-1/t)` for cosines, 0 if the scores have no
/// [least similarity](Scores::least_similarity). At the floor, negatives have no gradient.
///
/// Source: Chuang et al., Debiased Contrastive Learning, Eq. 7 and 8.
///
/// ```
/// use bcl_core::{DebiasedLossConfig, InfoNceLossConfig, Reduction, Scores};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.5], &device), Tensor::from_data([[0.6, 0.1, -0.2]], &device));
/// let debiased = DebiasedLossConfig::new().with_tau_plus(0.1).init().forward(scores.clone(), Reduction::Mean);
/// let plain = InfoNceLossConfig::new().init().forward(scores, Reduction::Mean);
/// // The positive is above the average negative, so false negatives are expected among the high scores.
/// assert!(debiased.into_scalar::<f32>() < plain.into_scalar::<f32>());
/// ```
#[derive(Debug)]
pub struct DebiasedLoss {
    config: DebiasedLossConfig,
}

impl DebiasedLoss {
    /// The corrected mass of the negatives, before the floor.
    fn mass(&self, scores: &Scores) -> (PositiveMargins, Tensor<2>) {
        let DebiasedLossConfig {
            temperature, tau_plus, ..
        } = self.config;
        let margins = PositiveMargins::with_floor(scores, temperature);
        let expected_false = margins.mean_positive() * margins.counts() * tau_plus;
        let mass = over(margins.mass(None) - expected_false, 1.0 - tau_plus);
        (margins, mass)
    }
}

impl Estimator for DebiasedLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        pairs.losses(self, |scores| {
            let (margins, mass) = self.mass(&scores);
            margins.losses(margins.loss(margins.multiplied(margins.floored(mass), self.config.num_negatives)))
        })
    }

    fn kernel(&self, pairs: &Pairs) -> Option<Kernel> {
        let correction = debiased_mass(self.config.tau_plus, self.config.num_negatives, pairs)?;
        Some(Kernel(Weighing::Equal, correction))
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.full_like(1.0 / (1.0 - self.config.tau_plus)))
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }

    fn floored(&self, scores: &Scores, _: &SideInformation) -> Option<Tensor<1, Bool>> {
        let (margins, mass) = self.mass(scores);
        Some(margins.at_floor(mass))
    }
}
