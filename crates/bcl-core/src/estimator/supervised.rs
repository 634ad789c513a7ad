//! The supervised oracle: only true negatives count.

use super::{Estimator, Requirements, config::estimator};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    margins::PositiveMargins,
    parameter::temperature,
    scores::{masked, nonzero},
};
use burn::tensor::Tensor;

estimator! {
    SupervisedLossConfig => SupervisedLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Whether the true negatives are scaled up to the mass of all N, which the other estimators approximate.
        rescale / with_rescale: bool = false,
    }

    check(config) {
        temperature(config.temperature)
    }

    init(config) {
        SupervisedLoss { config: config.clone() }
    }
}

/// The loss that the unsupervised ones estimate: `Ng = Σ x_i` over the true negatives, times `N / N_TN` if rescaled.
///
/// It needs labels ([`SideInformation::same_class`]), so it serves to measure, not to train without them. An anchor without any true
/// negative has no loss.
///
/// Source: Liu, Wang, Bayesian Self-Supervised Contrastive Learning (arXiv 2301.11673), Eq. 1.
///
/// ```
/// use bcl_core::{Reduction, Scores, SideInformation, SupervisedLossConfig};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0, 5.0]], &device));
/// let same_class = Tensor::<2>::from_data([[0, 0, 1]], &device).bool();
/// let side = SideInformation::none().with_same_class(same_class);
/// let loss = SupervisedLossConfig::new().init().forward_with(scores, &side, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 3f32.ln()).abs() < 1e-6); // the false negative does not count
/// ```
#[derive(Debug)]
pub struct SupervisedLoss {
    config: SupervisedLossConfig,
}

impl SupervisedLoss {
    /// 1 (or the scale) for true negatives, 0 for false and masked ones.
    fn true_negatives(&self, scores: &Scores, side: &SideInformation) -> Tensor<2> {
        let is_true = masked(scores.negatives.ones_like(), scores.mask.as_ref()).mask_fill(side.same_class_for(scores), 0.0);
        if !self.config.rescale {
            return is_true;
        }
        let num_true = nonzero(scores.weighted(is_true.clone()).sum_dim(1));
        is_true * (scores.counts() / num_true)
    }
}

impl Estimator for SupervisedLoss {
    fn losses(&self, pairs: Pairs, side: &SideInformation) -> Losses {
        let scores = pairs.into_scores();
        let weights = self.true_negatives(&scores, side);
        PositiveMargins::weighted_losses(&scores, self.config.temperature, weights)
    }

    fn weights(&self, scores: &Scores, side: &SideInformation) -> Tensor<2> {
        scores.weighted(self.true_negatives(scores, side))
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            truth: true,
            ..Requirements::default()
        }
    }
}
