//! False negatives that were detected without labels, and what becomes of them in the loss.
//!
//! Each training sample has a cluster in two labelings. The probability that two samples share a class is the share of labelings in which they
//! share a cluster, times a strength λ:
//!
//! ```text
//! P_ij = λ (1[a_i = a_j] + 1[b_i = b_j]) / 2
//!
//! eliminate: negative j counts as 1 - P_ij negatives
//! attract:   j is also a positive, with weight P_ij beside the weight 1 of the anchor's own positives, or less:
//!            all detected ones together get at most the share `attract` of the weight
//! ```
//!
//! The weights that an estimator gives its negatives multiply with `1 - P_ij`. Everything here is constant in the gradient.

use crate::Objective;
use bcl_core::Scores;
use burn::tensor::{Bool, DType, Tensor};

/// Detected pairs of one class among the training samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Detected {
    /// The cluster of each training sample in two labelings.
    pub labels: [Vec<u32>; 2],
    /// Strength λ of the detection, in (0, 1].
    pub strength: f64,
    /// Largest share of the positives' weight that detected pairs get, in [0, 1); 0 attracts none.
    pub attract: f64,
}

impl Detected {
    /// Applies the detection to an objective.
    ///
    /// `shared` marks the negatives that share their anchor's cluster in each labeling, as [`Method::same_class`](crate::Method::same_class) marks classes.
    ///
    /// # Shapes
    /// - shared: `[num_anchors, num_negatives]`
    pub fn applied(&self, objective: Objective, shared: [Tensor<2, Bool>; 2]) -> Objective {
        match objective.into_scores() {
            Ok(scores) => Objective::Pairs(self.applied_to(scores, shared).into()),
            Err(losses) => Objective::Losses(losses),
        }
    }

    /// The probabilities `P_ij`, for scores of this type.
    pub(crate) fn probabilities(&self, shared: [Tensor<2, Bool>; 2], dtype: DType) -> Tensor<2> {
        let [first, second] = shared.map(|shared| shared.float().cast(dtype));
        (first + second) * (self.strength / 2.0)
    }

    fn applied_to(&self, scores: Scores, shared: [Tensor<2, Bool>; 2]) -> Scores {
        let probabilities = self.probabilities(shared, scores.negatives.dtype());
        let scores = if self.attract > 0.0 {
            self.attracted(scores, probabilities.clone())
        } else {
            scores
        };
        scores.eliminated(probabilities)
    }

    /// Adds detected negatives to the positives.
    fn attracted(&self, mut scores: Scores, probabilities: Tensor<2>) -> Scores {
        let own = match &scores.positives_mask {
            Some(mask) => mask.clone().float().cast(probabilities.dtype()),
            None => scores.positives.ones_like(),
        };
        let probabilities = match &scores.mask {
            Some(mask) => probabilities.mask_fill(mask.clone().bool_not(), 0.0),
            None => probabilities,
        };
        // The detected ones get at most `attract` of the weight, so at most this for each unit of the others.
        let most = own.clone().sum_dim(1) * (self.attract / (1.0 - self.attract));
        let total = probabilities.clone().sum_dim(1);
        let limit = (most / total.clamp_min(f64::from(f32::MIN_POSITIVE))).clamp_max(1.0);
        let weights = Tensor::cat(vec![own, probabilities * limit], 1);
        scores.positives = Tensor::cat(vec![scores.positives, scores.negatives.clone()], 1);
        scores.positives_mask = None;
        scores.with_positive_weights(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::{EstimatorConfig, InfoNceLossConfig, SideInformation};
    use burn::tensor::{Device, TensorData};

    const ANCHORS: usize = 3;
    const NEGATIVES: usize = 4;
    const T: f64 = 0.5;

    fn matrix<const N: usize>(values: [f64; N], columns: usize) -> Tensor<2> {
        let device = Device::flex();
        Tensor::from_data(
            TensorData::new(values.to_vec(), [N / columns, columns]),
            (&device, DType::F64),
        )
    }

    const POSITIVES: [f64; ANCHORS] = [0.8, 0.1, -0.3];
    const SIMILARITIES: [f64; ANCHORS * NEGATIVES] = [0.5, -0.2, 0.9, 0.1, 0.3, 0.4, -0.7, 0.6, 0.2, 0.0, -0.1, 0.7];
    const FIRST: [f64; ANCHORS * NEGATIVES] = [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    const SECOND: [f64; ANCHORS * NEGATIVES] = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];

    fn losses(strength: f64, attract: f64, config: &EstimatorConfig) -> Vec<f64> {
        let detected = Detected {
            labels: [Vec::new(), Vec::new()],
            strength,
            attract,
        };
        let scores = Scores::multi_positive(matrix(POSITIVES, 1), matrix(SIMILARITIES, NEGATIVES)).with_least_similarity(-1.0);
        let shared = [FIRST, SECOND].map(|marks| matrix(marks, NEGATIVES).greater_elem(0.5));
        let side = SideInformation::none()
            .with_same_class(shared[0].clone())
            .with_noise(Tensor::ones([ANCHORS], (&Device::flex(), DType::F64)));
        let objective = detected.applied(Objective::Pairs(scores.into()), shared);
        let losses = objective.losses(config.init().as_ref(), &side).values();
        losses.try_into_vec_as().expect("the CPU can be read")
    }

    fn info_nce() -> EstimatorConfig {
        EstimatorConfig::InfoNce(InfoNceLossConfig::new().with_temperature(T))
    }

    /// The loss of the module's docs, by loops.
    fn slowly(strength: f64, attract: f64) -> Vec<f64> {
        let of_anchor = |anchor: usize| {
            let row = anchor * NEGATIVES..(anchor + 1) * NEGATIVES;
            let probability = |j: usize| strength * (FIRST[j] + SECOND[j]) / 2.0;
            let mass: f64 = row
                .clone()
                .map(|j| (1.0 - probability(j)) * (SIMILARITIES[j] / T).exp())
                .sum();
            let loss = |s: f64| ((s / T).exp() + mass).ln() - s / T;
            let total: f64 = row.clone().map(probability).sum();
            let limit = (attract / (1.0 - attract) / total.max(1e-300)).min(1.0);
            let attracted = if attract > 0.0 { limit } else { 0.0 };
            let others: f64 = row.clone().map(|j| attracted * probability(j) * loss(SIMILARITIES[j])).sum();
            if row.clone().all(|j| probability(j) == 1.0) {
                0.0
            } else {
                (loss(POSITIVES[anchor]) + others) / (1.0 + attracted * total)
            }
        };
        (0..ANCHORS).map(of_anchor).collect()
    }

    #[test]
    fn losses_are_those_of_loops() {
        for strength in [0.3, 1.0] {
            for attract in [0.0, 0.2, 0.5, 0.9] {
                let (found, expected) = (losses(strength, attract, &info_nce()), slowly(strength, attract));
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() < 1e-10,
                        "{strength}, {attract}: {found} and {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_loss_takes_a_detection() {
        for config in EstimatorConfig::all() {
            for attract in [0.0, 0.5] {
                let found = losses(0.8, attract, &config);
                assert!(found.iter().all(|loss| loss.is_finite()), "{}: {found:?}", config.name());
            }
        }
    }
}
