//! The arithmetic that all estimators share: masses and losses relative to the positive, safe from overflow and cancellation.

use crate::Scores;
use burn::tensor::{Bool, Tensor};

/// Negatives relative to their anchor's positive.
///
/// Every loss is `log(1 + Ng / x+)`. With the margins `d_i = (s_i - s+) / t` and a shift `c >= 0`, all that is ever exponentiated is
/// `d_i - c <= 0`, and a mass is kept as `Ng / (x+ e^c)`.
pub(crate) struct Margins {
    /// `s_i`, `[num_anchors, num_negatives]`; hugely negative where masked out.
    negatives: Tensor<2>,
    /// `s+ + c · t`, `[num_anchors, 1]`.
    offsets: Tensor<2>,
    /// `c = max(0, max_i d_i)` (or the maximum alone), `[num_anchors, 1]`, constant in the gradient.
    shift: Tensor<2>,
    /// `s+ / t`, `[num_anchors, 1]`.
    positives: Tensor<2>,
    /// Number of negatives that count, `[num_anchors, 1]` or `[1, 1]`.
    counts: Tensor<2>,
    temperature: f64,
}

/// Stands for minus infinity: its exponential is zero, yet products with zero stay zero instead of NaN.
const MASKED: f64 = -1e30;

impl Margins {
    /// Margins shifted by the hardest negative where it beats the positive.
    pub(crate) fn new(scores: &Scores, temperature: f64) -> Self {
        Self::shifted_by(scores, temperature, |hardest| hardest.clamp_min(0.0))
    }

    /// Margins shifted by the hardest negative also where it lies far below the positive, for losses without `x+` beside the mass:
    /// there the sum of all negatives must not underflow.
    pub(crate) fn around_hardest(scores: &Scores, temperature: f64) -> Self {
        Self::shifted_by(scores, temperature, |hardest| hardest)
    }

    fn shifted_by(scores: &Scores, temperature: f64, shift: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Self {
        let positives = scores.positives.clone().unsqueeze_dim::<2>(1);
        let negatives = match &scores.mask {
            Some(mask) => scores.negatives.clone().mask_fill(mask.clone().bool_not(), MASKED),
            None => scores.negatives.clone(),
        };
        let hardest = negatives.clone().detach().max_dim(1);
        let shift = shift(hardest - positives.clone().detach());
        Self {
            negatives,
            offsets: positives.clone() + shift.clone(),
            shift: over(shift, temperature),
            positives: over(positives, temperature),
            counts: scores.counts(),
            temperature,
        }
    }

    /// `d_i - c`, `[num_anchors, num_negatives]`; hugely negative where masked out.
    fn shifted(&self) -> Tensor<2> {
        // Subtract before dividing: the difference of two close similarities is exact.
        over(self.negatives.clone() - self.offsets.clone(), self.temperature)
    }

    /// `Σ w_i x_i / (x+ e^c)`, `[num_anchors, 1]`; all weights are 1 where none are given.
    pub(crate) fn mass(&self, weights: Option<Tensor<2>>) -> Tensor<2> {
        match weights {
            Some(weights) => (weights * self.shifted().exp()).sum_dim(1),
            None => bcl_kernels::mass(self.negatives.clone(), self.offsets.clone(), self.temperature),
        }
    }

    /// The same where a weight is that of the score's rank: `table[k]` for rank k + 1.
    ///
    /// # Shapes
    /// - table: `[num_negatives]`
    pub(crate) fn ranked_mass(&self, table: Tensor<1>) -> Tensor<2> {
        bcl_kernels::ranked_mass(self.negatives.clone(), self.offsets.clone(), table, self.temperature)
    }

    /// `x+ / (x+ e^c)`, `[num_anchors, 1]`, constant in the gradient as it should be: the positive cancels.
    pub(crate) fn positive(&self) -> Tensor<2> {
        self.shift.clone().neg().exp()
    }

    /// The weights of hard negative sampling, `x_i^β / mean_j x_j^β`, through which gradients flow; 0 where masked out.
    pub(crate) fn hard_weights(&self, beta: f64) -> Tensor<2> {
        let tilted = self.shifted() * beta;
        let tilted = (tilted.clone() - tilted.detach().max_dim(1)).exp();
        let total = tilted.clone().sum_dim(1);
        tilted * (self.counts.clone() / total)
    }

    /// Number of negatives that count, `[num_anchors, 1]` or `[1, 1]`.
    pub(crate) fn counts(&self) -> Tensor<2> {
        self.counts.clone()
    }

    /// Bounds a mass from below by `N e^(-1/t)`, the least that N scores of similarity -1 can weigh.
    pub(crate) fn floored(&self, mass: Tensor<2>) -> Tensor<2> {
        let least = (self.positives.clone() + self.shift.clone() + 1.0 / self.temperature)
            .neg()
            .exp()
            * self.counts.clone();
        mass.max_pair(least)
    }

    /// The loss `log(1 + Ng / x+)` of each anchor from the mass `Ng / (x+ e^c)`.
    pub(crate) fn loss(&self, mass: Tensor<2>) -> Tensor<1> {
        // Where no negative beats the positive, c is 0 and the mass may lie far below the resolution of 1 + mass: `log1p` keeps its
        // digits and its gradient. Elsewhere the positive may be the tiny term, and the plain logarithm of the sum keeps both.
        let positive_wins = self.shift.clone().lower_equal_scalar(0.0);
        let far_below = bcl_kernels::log1p(mass.clone());
        let comparable = (mass + self.positive().clamp_min(f64::from(f32::MIN_POSITIVE))).log() + self.shift.clone();
        comparable.mask_where(positive_wins, far_below).squeeze_dim(1)
    }

    /// The loss `log(Ng / x+)` of each anchor: the positive is left out of the denominator.
    pub(crate) fn decoupled_loss(&self, mass: Tensor<2>) -> Tensor<1> {
        (mass.log() + self.shift.clone()).squeeze_dim(1)
    }
}

/// A tensor divided by a number.
///
/// Burn's own division of a tensor by a number takes the reciprocal in f32 when it goes backward, whatever the tensor's precision, which
/// costs an f64 gradient half its digits.
pub(crate) fn over<const D: usize>(tensor: Tensor<D>, divisor: f64) -> Tensor<D> {
    tensor * divisor.recip()
}

/// Sets the weights of negatives that do not count to zero.
pub(crate) fn masked(weights: Tensor<2>, mask: Option<&Tensor<2, Bool>>) -> Tensor<2> {
    match mask {
        Some(mask) => weights.mask_fill(mask.clone().bool_not(), 0.0),
        None => weights,
    }
}
