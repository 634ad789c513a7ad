//! The Jensen-Shannon losses as the released code computes them.

use super::softplus;
use crate::{
    Losses, Scores,
    margins::over,
    scores::{masked, nonzero},
};
use burn::tensor::Tensor;
use std::f64::consts::LN_2;

/// The debiased (`beta = 0`) or the hard loss of the graph code of Robinson et al., constants and reversed signs included.
///
/// There, scores are a matrix of all graphs with zeros in place of what does not belong. Each anchor's own graph is thus a negative with
/// a score of 0, and each negative is a positive with a score of 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Official {
    pub(super) tau_plus: f64,
    pub(super) beta: f64,
}

impl Official {
    pub(super) fn losses(self, scores: &Scores, temperature: f64) -> Losses {
        let positives = over(scores.counted_positives(), temperature);
        let negatives = over(masked(scores.negatives.clone(), scores.mask.as_ref()), temperature);
        let counts = nonzero(scores.counts());
        let odds = self.tau_plus / (1.0 - self.tau_plus);
        let positive = -softplus(-positives.clone()) - softplus(positives) * odds + LN_2 - counts.clone() * (odds * LN_2);
        let negative = match self.tilted(&negatives, scores) {
            None => over(
                scores.weighted(softplus(negatives)).sum_dim(1) / counts - LN_2,
                1.0 - self.tau_plus,
            ),
            Some(Tilted { weights, own }) => {
                let weighted = (weights * softplus(negatives)).sum_dim(1) + own * LN_2;
                (over(weighted, 1.0 - self.tau_plus) - (counts.clone() + 1.0) * LN_2) / counts
            }
        };
        Losses::over_positives_of(scores, negative - positive, None)
    }

    /// The weights of the negatives, `[num_anchors, num_negatives]`.
    pub(super) fn weights(self, scores: &Scores) -> Tensor<2> {
        let negatives = masked(scores.negatives.clone(), scores.mask.as_ref());
        let weights = match self.tilted(&negatives, scores) {
            None => scores.weighted(negatives.ones_like()),
            Some(tilted) => tilted.weights,
        };
        over(weights, 1.0 - self.tau_plus)
    }

    /// Weights before the division by `1 - τ+`; `None` if all are 1.
    fn tilted(self, negatives: &Tensor<2>, scores: &Scores) -> Option<Tilted> {
        if self.beta == 0.0 {
            return None;
        }
        // The zeros of the matrix take part in its maximum and minimum.
        let largest = negatives
            .clone()
            .abs()
            .max()
            .clamp_min(f64::from(f32::MIN_POSITIVE))
            .unsqueeze::<2>();
        let exponentials = (negatives.clone() / largest * (-2.0 * self.beta)).exp();
        let exponentials = scores.weighted(exponentials);
        let mean = (exponentials.clone().sum_dim(1) + 1.0) / (scores.counts() + 1.0);
        Some(Tilted {
            weights: exponentials / mean.clone(),
            own: mean.recip(),
        })
    }
}

/// Weights that fall with the score.
struct Tilted {
    /// `[num_anchors, num_negatives]`
    weights: Tensor<2>,
    /// The weight of the anchor's own graph, `[num_anchors, 1]`.
    own: Tensor<2>,
}
