//! The Jensen-Shannon objective of InfoGraph with the weights of an estimator.

use super::{ContrastiveObjective, official::Official, softplus};
use crate::{
    Estimator, EstimatorConfig, Losses, Pairs, Requirements, Scores, SideInformation,
    losses::at_all_positives,
    margins::{PositiveMargins, over},
    scores::{masked, nonzero},
};
use burn::tensor::{Bool, Tensor};

/// The Jensen-Shannon estimate of mutual information, with weighted negatives:
///
/// ```text
/// loss = softplus(-p) + max{ mean(w_i softplus(q_i)) - b softplus(p), 0 },   p = s+ / t, q_i = s_i / t
/// ```
///
/// An [`Estimator`] gives the weights `w_i` and the factor `b`, as in `Ng = N · max(mean(w_i x_i) - b x+, floor)`: softplus takes
/// the place of the exponential. Without weights and with `b = 0` it is the loss of InfoGraph up to a constant, `2 log 2`. With the
/// correction of the debiased or the positive-unlabelled loss it is the risk of positive-unlabelled learning with a logistic loss. The
/// floor of 0 applies only if `b > 0`; without it, the loss would have no lower bound.
///
/// InfoGraph compares dot products without a temperature: set `t = 1`.
///
/// Hard negatives: `w_i` is proportional to `exp(2β s_i / m)`, where m is the largest absolute score of the batch, held constant. Dot products
/// are not bounded, so a fixed scale would not fit them. These losses depend on the whole batch.
///
/// Source: Sun et al., [InfoGraph](https://arxiv.org/abs/1908.01000), Eq. 4; Robinson et al., [Contrastive Learning with Hard Negative
/// Samples](https://arxiv.org/abs/2010.04592), for its debiased and hard forms.
///
/// ```
/// use bcl_core::{EstimatorConfig, InfoNceLossConfig, JensenShannonLoss, Reduction, Scores};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0]], &device));
/// let weights = EstimatorConfig::InfoNce(InfoNceLossConfig::new().with_temperature(1.0));
/// let loss = JensenShannonLoss::new(&weights).forward(scores, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 2.0 * 2f32.ln()).abs() < 1e-6);
/// ```
#[derive(Debug)]
pub struct JensenShannonLoss {
    weights: Box<dyn Estimator>,
    /// β of hard negatives.
    hardness: Option<f64>,
    /// The factor `b` of the positive.
    correction: f64,
    /// The arithmetic of the released code, if it is asked for.
    official: Option<Official>,
}

impl JensenShannonLoss {
    /// Creates the objective with the weights of an estimator.
    ///
    /// # Panics
    /// Panics if a parameter is out of range, or if the estimator is not [supported](ContrastiveObjective::supports).
    pub fn new(estimator: &EstimatorConfig) -> Self {
        assert_supported(ContrastiveObjective::Jsd, estimator);
        let hardness = match estimator {
            EstimatorConfig::Hard(config) if config.beta > 0.0 => Some(config.beta),
            _ => None,
        };
        Self {
            weights: estimator.init(),
            hardness,
            correction: estimator.positive_correction(),
            official: None,
        }
    }

    /// Creates the debiased or the hard loss as the graph code of Robinson et al. computes it, for comparison only.
    ///
    /// Departures from the derivation: the easy negatives get the largest weights; the correction is added instead of subtracted; the
    /// positive is among the negatives with a score of 0; gradients flow through the scale m, the largest score of the batch; scores that
    /// are masked by zeros add constants, so that losses grow with the number of negatives. The code fixes τ+ = 1/2.
    ///
    /// # Panics
    /// Panics if a parameter is out of range, or if the estimator is neither the debiased nor the hard one.
    pub fn official(estimator: &EstimatorConfig) -> Self {
        assert_supported(ContrastiveObjective::JsdOfficial, estimator);
        let official = Official {
            tau_plus: estimator.tau_plus().expect("both estimators have a prior"),
            beta: estimator.parameter("beta").unwrap_or(0.0),
        };
        Self {
            official: Some(official),
            ..Self::new(estimator)
        }
    }

    /// The weights of the negatives. The hard loss's weights have a gradient.
    fn weighted(&self, scores: &Scores, side: &SideInformation) -> Tensor<2> {
        let Some(beta) = self.hardness else {
            return self.weights.weights(scores, side);
        };
        let counted = masked(scores.negatives.clone(), scores.mask.as_ref());
        let largest = counted.clone().detach().abs().max().clamp_min(f64::from(f32::MIN_POSITIVE));
        let mut scaled = scores.clone();
        // They would only be subtracted from all negatives, whose digits a large one would cut off.
        scaled.positives = scaled.positives.zeros_like();
        scaled.negatives = counted * (largest.recip() * 2.0).unsqueeze::<2>();
        let weights = PositiveMargins::new(&scaled, 1.0).hard_weights(beta);
        // `a = 1 / (1 - τ+) = 1 + b`.
        scores.weighted(weights * (1.0 + self.correction))
    }

    /// `p`, `[num_anchors, num_positives]`, and `max{…}` before the floor.
    fn parts(&self, scores: &Scores, weights: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let temperature = self.temperature();
        let positives = over(scores.counted_positives(), temperature);
        // What is masked out may be anything, NaN included.
        let negatives = over(masked(scores.negatives.clone(), scores.mask.as_ref()), temperature);
        let mean = (weights * softplus(negatives)).sum_dim(1) / nonzero(scores.counts());
        let mass = if self.correction > 0.0 {
            mean - softplus(positives.clone()) * self.correction
        } else {
            mean.expand(positives.dims())
        };
        (positives, mass)
    }
}

impl Estimator for JensenShannonLoss {
    fn losses(&self, pairs: Pairs, side: &SideInformation) -> Losses {
        let scores = pairs.into_scores();
        if let Some(official) = &self.official {
            return official.losses(&scores, self.temperature());
        }
        let weights = self.weighted(&scores, side);
        let has_negatives = weighted_anchors(&weights);
        let (positives, mass) = self.parts(&scores, weights);
        let mass = if self.correction > 0.0 { mass.clamp_min(0.0) } else { mass };
        Losses::over_positives_of(&scores, softplus(-positives) + mass, Some(has_negatives))
    }

    fn weights(&self, scores: &Scores, side: &SideInformation) -> Tensor<2> {
        match &self.official {
            Some(official) => official.weights(scores),
            None => self.weighted(scores, side),
        }
    }

    fn temperature(&self) -> f64 {
        self.weights.temperature()
    }

    fn requirements(&self) -> Requirements {
        let of_weights = self.weights.requirements();
        Requirements {
            whole_batch: self.hardness.is_some() || of_weights.whole_batch,
            ..of_weights
        }
    }

    fn floored(&self, scores: &Scores, side: &SideInformation) -> Option<Tensor<1, Bool>> {
        if self.official.is_some() || self.correction == 0.0 {
            return None;
        }
        let weights = self.weighted(scores, side);
        let has_negatives = weighted_anchors(&weights);
        let (_, mass) = self.parts(scores, weights);
        Some(at_all_positives(
            mass.lower_equal_scalar(0.0),
            scores.positives_mask.as_ref(),
            Some(has_negatives),
        ))
    }
}

/// The anchors of which some negative has a weight. A sum may be NaN, and then the anchor keeps its loss, so that it shows.
fn weighted_anchors(weights: &Tensor<2>) -> Tensor<1, Bool> {
    weights.clone().detach().sum_dim(1).not_equal_elem(0.0).squeeze_dim(1)
}

fn assert_supported(objective: ContrastiveObjective, estimator: &EstimatorConfig) {
    assert!(
        objective.supports(estimator),
        "the objective {} is not defined for the estimator {}",
        objective.name(),
        estimator.name()
    );
}
