//! Positive-unlabelled contrastive loss: the negatives are corrected for positives that carry no label.

use super::{
    Estimator, Kernel, check_num_negatives,
    config::{Field, estimator},
};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    margins::PositiveMargins,
    parameter::{in_closed, in_half_open, temperature},
};
use bcl_kernels::{Correction, Weighing};
use burn::tensor::{Bool, Tensor};
use serde::{Deserialize, Serialize};

/// The least mean of the corrected negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositiveUnlabelledFloor {
    /// The mass of a negative at the lowest similarity, which the mean of true negatives cannot be below.
    #[default]
    Lowest,
    /// `e^-1`, as the paper prints it, at any temperature. For comparison only.
    Printed,
}

impl Field for PositiveUnlabelledFloor {}

impl PositiveUnlabelledFloor {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

estimator! {
    PositiveUnlabelledLossConfig => PositiveUnlabelledLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Class prior α: the share of the anchor's class among the samples, in [0, 1). Not the α of the Bayesian weight.
        class_prior / with_class_prior: f64 = 0.1,
        /// Label frequency c: the share of the anchor's class that is labelled positive, in [0, 1].
        label_frequency / with_label_frequency: f64 = 0.01,
        /// The least mean of the corrected negatives.
        #[serde(skip_serializing_if = "PositiveUnlabelledFloor::is_default")]
        floor / with_floor: PositiveUnlabelledFloor = PositiveUnlabelledFloor::Lowest,
        /// The N that the mean is multiplied by, in [1e-6, 1e9]; by default, the number of negatives that the mean is taken over.
        #[serde(skip_serializing_if = "Option::is_none")]
        num_negatives / with_num_negatives: Option<f64> = None,
    }

    check(config) {
        check_num_negatives(config.num_negatives)?;
        temperature(config.temperature)?;
        in_half_open("class_prior", config.class_prior, 0.0, 1.0)?;
        in_closed("label_frequency", config.label_frequency, 0.0, 1.0)
    }

    init(config) {
        PositiveUnlabelledLoss { config: config.clone() }
    }
}

/// Positive-unlabelled contrastive loss with class prior α and label frequency c:
///
/// ```text
/// Ng = N · max{ (1 - αc) / (1 - α) · mean x_i - α(1 - c) / (1 - α) · x+, e^(s/t) }
/// ```
///
/// It equals the [debiased loss](crate::DebiasedLoss) with `τ+ = α(1 - c) / (1 - αc)`, the share of the anchor's class among the unlabelled samples. If
/// only the anchor's own views are labelled, c is about one over the size of the class, and `τ+` about α.
///
/// With several positives, the correction takes the mean of `x+` over all of them.
///
/// The mean over M negatives is an estimate, so N, its weight beside `x+`, need not be M: [`num_negatives`](PositiveUnlabelledLossConfig::num_negatives)
/// sets it. By default N is M.
///
/// The floor `e^(s/t)` is the mass of a negative at the lowest similarity s: `e^(-1/t)` for cosines, 0 if the scores have no
/// [least similarity](Scores::least_similarity). At the floor, negatives have no gradient. The paper prints the floor `e^-1`, which
/// assumes cosines and a temperature of 1; [`PositiveUnlabelledFloor::Printed`] takes it.
///
/// Source: Contrastive Learning with Negative Sampling Correction, Eq. 8.
///
/// ```
/// use bcl_core::{PositiveUnlabelledLossConfig, Reduction};
/// use burn::tensor::{Device, Distribution, Tensor};
///
/// let device = Device::flex();
/// let [first, second] = [0, 1].map(|_| Tensor::<2>::random([8, 16], Distribution::Default, &device));
/// let config = PositiveUnlabelledLossConfig::new().with_class_prior(0.2).with_label_frequency(0.01);
/// assert_eq!(config.init().forward([first, second], Reduction::Mean).dims(), [1]);
/// ```
#[derive(Debug)]
pub struct PositiveUnlabelledLoss {
    config: PositiveUnlabelledLossConfig,
}

impl PositiveUnlabelledLoss {
    fn unlabelled_weight(&self) -> f64 {
        let PositiveUnlabelledLossConfig {
            class_prior,
            label_frequency,
            ..
        } = self.config;
        (1.0 - class_prior * label_frequency) / (1.0 - class_prior)
    }

    pub(super) fn positive_weight(&self) -> f64 {
        let PositiveUnlabelledLossConfig {
            class_prior,
            label_frequency,
            ..
        } = self.config;
        class_prior * (1.0 - label_frequency) / (1.0 - class_prior)
    }

    /// The scores with the similarity whose mass is the floor.
    fn floored(&self, scores: &Scores) -> Scores {
        let mut floored = scores.clone().with_least_similarity(self.least(scores.least_similarity));
        if self.config.floor == PositiveUnlabelledFloor::Printed {
            // The printed floor is the same at any temperature, learned ones included.
            floored.factor = None;
        }
        floored
    }

    /// The similarity whose mass is the floor.
    fn least(&self, of_scores: Option<f64>) -> Option<f64> {
        match self.config.floor {
            PositiveUnlabelledFloor::Lowest => of_scores,
            PositiveUnlabelledFloor::Printed => Some(-self.config.temperature),
        }
    }

    /// The corrected mass of the negatives, before the floor.
    fn mass(&self, scores: &Scores) -> (PositiveMargins, Tensor<2>) {
        let margins = PositiveMargins::with_floor(&self.floored(scores), self.config.temperature);
        let hidden_positives = margins.mean_positive() * margins.counts() * self.positive_weight();
        let mass = margins.mass(None) * self.unlabelled_weight() - hidden_positives;
        (margins, mass)
    }

    /// The correction of the mass, for kernels.
    fn correction(&self, pairs: &Pairs) -> Correction {
        Correction::Floored {
            unlabelled: self.unlabelled_weight(),
            positive: self.positive_weight(),
            least: self.least(pairs.least_similarity()),
        }
    }
}

impl Estimator for PositiveUnlabelledLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        pairs.losses(self, |scores| {
            let (margins, mass) = self.mass(&scores);
            margins.losses(margins.loss(margins.multiplied(margins.floored(mass), self.config.num_negatives)))
        })
    }

    fn kernel(&self, pairs: &Pairs) -> Option<Kernel> {
        let has_own_count = self.config.num_negatives.is_some();
        (!has_own_count).then(|| Kernel(Weighing::Equal, self.correction(pairs)))
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.full_like(self.unlabelled_weight()))
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }

    fn floored(&self, scores: &Scores, _: &SideInformation) -> Option<Tensor<1, Bool>> {
        let (margins, mass) = self.mass(scores);
        Some(margins.at_floor(mass))
    }
}
