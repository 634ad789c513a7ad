//! The arithmetic that all estimators share: masses and losses relative to the positive, safe from overflow and cancellation.

use crate::Scores;
use burn::tensor::{Bool, Tensor};

/// Negatives relative to their anchor's positive.
///
/// Every loss is `log(1 + Ng / x+)`. With the margins `d_i = (s_i - s+) / t` and a shift `c >= 0`, all that is ever exponentiated is
/// `d_i - c <= 0`, and a mass is kept as `Ng / (x+ e^c)`.
pub(crate) struct Margins {
    /// `s_i`, `[num_anchors, num_negatives]`; hugely negative where left out.
    negatives: Tensor<2>,
    /// Which entries are left out: those masked out, and those without weight.
    left_out: Option<Tensor<2, Bool>>,
    /// `s+ + c · t`, `[num_anchors, 1]`.
    offsets: Tensor<2>,
    /// `c = max(0, max_i d_i)` (or the maximum alone), `[num_anchors, 1]`, constant in the gradient.
    shift: Tensor<2>,
    /// `s+ / t`, `[num_anchors, 1]`.
    positives: Tensor<2>,
    /// Number of negatives that count, `[num_anchors, 1]` or `[1, 1]`.
    counts: Tensor<2>,
    /// The least similarity there can be, if any.
    least: Option<f64>,
    temperature: f64,
}

/// Stands for minus infinity: its exponential is zero, yet products with zero stay zero instead of NaN.
const LEFT_OUT: f64 = -1e30;

impl Margins {
    /// Margins shifted by the hardest negative where it beats the positive.
    pub(crate) fn new(scores: &Scores, temperature: f64) -> Self {
        Self::shifted_by(scores, masked_out(scores), temperature, |hardest, _| hardest.clamp_min(0.0))
    }

    /// The same without the negatives that have no weight: far above all others they would be the shift, and the rest underflow.
    ///
    /// # Shapes
    /// - weights: `[num_anchors, num_negatives]`, 0 where masked out
    pub(crate) fn weighed(scores: &Scores, temperature: f64, weights: &Tensor<2>) -> Self {
        // What is not a number stays in, so that it shows in the loss.
        let weightless = weights
            .clone()
            .equal_elem(0.0)
            .bool_and(scores.negatives.clone().is_nan().bool_not());
        let left_out = match masked_out(scores) {
            Some(masked_out) => masked_out.bool_or(weightless),
            None => weightless,
        };
        Self::shifted_by(scores, Some(left_out), temperature, |hardest, _| hardest.clamp_min(0.0))
    }

    /// Margins whose mass can be [`floored`](Self::floored): shifted by the floor, too, where that beats everything else.
    pub(crate) fn with_floor(scores: &Scores, temperature: f64) -> Self {
        let least = scores.least_similarity;
        Self::shifted_by(scores, masked_out(scores), temperature, |hardest, positives| {
            let shift = hardest.clamp_min(0.0);
            match least {
                Some(least) => shift.max_pair(-positives + least),
                None => shift,
            }
        })
    }

    /// Margins shifted by the hardest negative also where it lies far below the positive, for losses without `x+` beside the mass:
    /// there the sum of all negatives must not underflow.
    pub(crate) fn around_hardest(scores: &Scores, temperature: f64) -> Self {
        Self::shifted_by(scores, masked_out(scores), temperature, |hardest, _| hardest)
    }

    /// `shift` makes `c · t` of `max_i s_i - s+` and `s+`.
    fn shifted_by(
        scores: &Scores,
        left_out: Option<Tensor<2, Bool>>,
        temperature: f64,
        shift: impl FnOnce(Tensor<2>, Tensor<2>) -> Tensor<2>,
    ) -> Self {
        let positives = scores.positives.clone().unsqueeze_dim::<2>(1);
        let negatives = match &left_out {
            Some(left_out) => scores.negatives.clone().mask_fill(left_out.clone(), LEFT_OUT),
            None => scores.negatives.clone(),
        };
        let hardest = negatives.clone().detach().max_dim(1);
        let constant = positives.clone().detach();
        let shift = shift(hardest - constant.clone(), constant);
        Self {
            negatives,
            left_out,
            offsets: positives.clone() + shift.clone(),
            shift: over(shift, temperature),
            positives: over(positives, temperature),
            counts: scores.counts(),
            least: scores.least_similarity,
            temperature,
        }
    }

    /// Which anchors have a negative that is not left out, `[num_anchors]`; `None` where none is left out.
    pub(crate) fn has_negatives(&self) -> Option<Tensor<1, Bool>> {
        let left_out = self.left_out.clone()?;
        Some(left_out.bool_not().any_dim(1).squeeze_dim(1))
    }

    /// `d_i - c`, `[num_anchors, num_negatives]`; hugely negative where left out.
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
        // Again, because a small β lifts what is left out back up.
        let tilted = match &self.left_out {
            Some(left_out) => tilted.mask_fill(left_out.clone(), LEFT_OUT),
            None => tilted,
        };
        let tilted = (tilted.clone() - tilted.detach().max_dim(1)).exp();
        let total = tilted.clone().sum_dim(1);
        tilted * (self.counts.clone() / total)
    }

    /// Number of negatives that count, `[num_anchors, 1]` or `[1, 1]`.
    pub(crate) fn counts(&self) -> Tensor<2> {
        self.counts.clone()
    }

    /// Bounds a mass from below by `N e^(s/t)`, the least that N scores can weigh with s the least similarity; by 0 where there is none.
    ///
    /// Safe from overflow in margins made [`with_floor`](Self::with_floor).
    pub(crate) fn floored(&self, mass: Tensor<2>) -> Tensor<2> {
        let Some(least) = self.least else {
            return mass.clamp_min(0.0);
        };
        let least = (self.positives.clone() + self.shift.clone() - least / self.temperature)
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

/// Which entries are masked out.
fn masked_out(scores: &Scores) -> Option<Tensor<2, Bool>> {
    Some(scores.mask.clone()?.bool_not())
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
