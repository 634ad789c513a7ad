//! The arithmetic that all estimators share: masses and losses relative to the positive, safe from overflow and cancellation.

use crate::{
    Losses, Scores,
    losses::at_all_positives,
    scores::{masked, nonzero},
};
use burn::tensor::{Bool, Tensor};

/// Negatives relative to the positives of their anchor.
///
/// Every loss is `log(1 + Ng / x+)`. With the margins `d_i = (s_i - s+) / t` and a shift `c >= 0`, every exponent is
/// `d_i - c <= 0`, and a mass is kept as `Ng / (x+ e^c)`. A log-weight `l_i` is part of its score: `s_i` stands for `s_i + t · l_i`.
///
/// Masses, shifts and losses are `[num_anchors, num_positives]`; [`losses`](Self::losses) averages over the positives at the end. The sum
/// over the negatives is computed once per anchor.
pub(crate) struct PositiveMargins {
    /// `s_i`, `[num_anchors, num_negatives]`; hugely negative where left out.
    negatives: Tensor<2>,
    /// `s_i` without log-weights, if there are any; ranks and hardness depend on the similarities alone.
    unweighted: Option<Unweighted>,
    /// Which entries are left out: those masked out, and those without weight.
    left_out: Option<Tensor<2, Bool>>,
    /// What is subtracted from `s_i` before the exponential, `[num_anchors, 1]`: `s+ + c · t` for one positive, the largest `s_i` for
    /// several.
    offsets: Tensor<2>,
    /// `e^((offset - s+) / t - c)`, the factor from masses at the offset to masses at a positive; `None` if it is 1.
    factors: Option<Tensor<2>>,
    /// `c = max(0, max_i d_i)` (or the maximum alone), constant in the gradient.
    shift: Tensor<2>,
    /// `s+ / t`.
    positives: Tensor<2>,
    /// Which positives count.
    positives_mask: Option<Tensor<2, Bool>>,
    /// How much each positive counts in means over positives, 1 on average; `None` if all count the same.
    positive_weights: Option<Tensor<2>>,
    /// Number of negatives that count, `[num_anchors, 1]` or `[1, 1]`.
    counts: Tensor<2>,
    /// The lowest possible similarity, if any, before the factor.
    least: Option<f64>,
    /// What the similarities were multiplied by, `[1, 1]`.
    factor: Option<Tensor<2>>,
    temperature: f64,
}

struct Unweighted {
    negatives: Tensor<2>,
    weights: Tensor<2>,
}

/// Stands for minus infinity: its exponential is zero, yet products with zero stay zero instead of NaN.
const LEFT_OUT: f64 = -1e30;

/// Beyond this, in a logarithm, a positive outweighs all negatives, and the corrected mass is at its floor.
const LARGEST_EXPONENT: f64 = 60.0;

impl PositiveMargins {
    /// Margins shifted by the hardest negative if it is above the positive.
    pub(crate) fn new(scores: &Scores, temperature: f64) -> Self {
        Self::shifted_by(scores, masked_out(scores), temperature, |hardest, _| hardest.clamp_min(0.0))
    }

    /// The losses with `Ng = Σ w_i x_i`. Negatives without a weight are left out: a score far above all others would be the shift, and the rest would
    /// underflow.
    ///
    /// # Shapes
    /// - weights: `[num_anchors, num_negatives]`, 0 where masked out
    pub(crate) fn weighted_losses(scores: &Scores, temperature: f64, weights: Tensor<2>) -> Losses {
        let margins = Self::weighted(scores, temperature, &weights);
        margins.losses(margins.loss(margins.mass(Some(weights))))
    }

    fn weighted(scores: &Scores, temperature: f64, weights: &Tensor<2>) -> Self {
        // NaN stays in, so that it shows in the loss.
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

    /// Margins whose mass can be [`floored`](Self::floored): the floor is the shift if it is above everything else.
    pub(crate) fn with_floor(scores: &Scores, temperature: f64) -> Self {
        let least = scores.least_similarity;
        Self::shifted_by(scores, masked_out(scores), temperature, |hardest, positives| {
            let shift = hardest.clamp_min(0.0);
            match (least, &scores.factor) {
                (Some(least), Some(factor)) => shift.max_pair(-positives + factor.clone().detach() * least),
                (Some(least), None) => shift.max_pair(-positives + least),
                (None, _) => shift,
            }
        })
    }

    /// Margins shifted by the hardest negative even if it is far below the positive, for losses without `x+` beside the mass: there the
    /// sum of all negatives must not underflow.
    pub(crate) fn around_hardest(scores: &Scores, temperature: f64) -> Self {
        Self::shifted_by(scores, masked_out(scores), temperature, |hardest, _| hardest)
    }

    /// `shift` computes `c · t` from `max_i s_i - s+` and `s+`.
    fn shifted_by(
        scores: &Scores,
        left_out: Option<Tensor<2, Bool>>,
        temperature: f64,
        shift: impl FnOnce(Tensor<2>, Tensor<2>) -> Tensor<2>,
    ) -> Self {
        let fill = |negatives: Tensor<2>| match &left_out {
            Some(left_out) => negatives.mask_fill(left_out.clone(), LEFT_OUT),
            None => negatives,
        };
        let (negatives, unweighted) = match &scores.log_weights {
            Some(log_weights) => (
                fill(scores.negatives.clone() + log_weights.clone() * temperature),
                Some(Unweighted {
                    negatives: fill(scores.negatives.clone()),
                    weights: scores.weighted(scores.negatives.ones_like()),
                }),
            ),
            None => (fill(scores.negatives.clone()), None),
        };
        let positives = scores.counted_positives();
        let hardest = negatives.clone().detach().max_dim(1);
        let constant = positives.clone().detach();
        let shift = shift(hardest.clone() - constant.clone(), constant);
        let shifted_positives = positives.clone() + shift.clone();
        let (offsets, factors) = if scores.num_positives() == 1 {
            (shifted_positives, None)
        } else {
            let factors = over(hardest.clone() - shifted_positives, temperature).exp();
            (hardest, Some(factors))
        };
        Self {
            negatives,
            unweighted,
            left_out,
            offsets,
            factors,
            shift: over(shift, temperature),
            positives: over(positives, temperature),
            positives_mask: scores.positives_mask.clone(),
            positive_weights: scores.relative_positive_weights(),
            counts: scores.counts(),
            least: scores.least_similarity,
            factor: scores.factor.clone(),
            temperature,
        }
    }

    /// Which anchors have a negative; `None` if all do.
    pub(crate) fn has_negatives(&self) -> Option<Tensor<1, Bool>> {
        let left_out = self.left_out.clone()?;
        Some(left_out.bool_not().any_dim(1).squeeze_dim(1))
    }

    /// Averages the losses of each anchor over its positives. An anchor without a negative or without a positive has no loss.
    pub(crate) fn losses(&self, losses: Tensor<2>) -> Losses {
        Losses::over_positives(
            losses,
            self.positive_weights.as_ref(),
            self.positives_mask.as_ref(),
            self.has_negatives(),
        )
    }

    /// `s_i` minus the offset, over t, `[num_anchors, num_negatives]`; hugely negative where left out.
    fn shifted(&self, negatives: &Tensor<2>) -> Tensor<2> {
        // Subtract before dividing: the difference of two close similarities is exact.
        over(negatives.clone() - self.offsets.clone(), self.temperature)
    }

    /// `Σ w_i x_i / (x+ e^c)`; all weights are 1 if `None`.
    ///
    /// # Shapes
    /// - weights: `[num_anchors, num_negatives]`
    pub(crate) fn mass(&self, weights: Option<Tensor<2>>) -> Tensor<2> {
        self.at_positives(match weights {
            Some(weights) => (weights * self.shifted(&self.negatives).exp()).sum_dim(1),
            None => bcl_kernels::mass(self.negatives.clone(), self.offsets.clone(), self.temperature),
        })
    }

    /// The same if a weight depends on the rank of the score: `table[k]` for rank k + 1. There must be no log-weights.
    ///
    /// # Shapes
    /// - table: `[num_negatives]`
    pub(crate) fn ranked_mass(&self, table: Tensor<1>) -> Tensor<2> {
        debug_assert!(self.unweighted.is_none(), "log-weights change the ranks");
        self.at_positives(bcl_kernels::ranked_mass(
            self.negatives.clone(),
            self.offsets.clone(),
            table,
            self.temperature,
        ))
    }

    /// From masses relative to the offset, `[num_anchors, 1]`, to masses relative to each positive.
    fn at_positives(&self, mass: Tensor<2>) -> Tensor<2> {
        match &self.factors {
            Some(factors) => mass * factors.clone(),
            None => mass,
        }
    }

    /// `x+ / (x+ e^c)`, constant in the gradient as it should be: the positive cancels.
    pub(crate) fn positive(&self) -> Tensor<2> {
        self.shift.clone().neg().exp()
    }

    /// The mean of `x+` over the anchor's positives, relative to each positive as the mass is. With one positive it is
    /// [`positive`](Self::positive).
    pub(crate) fn mean_positive(&self) -> Tensor<2> {
        let [_, num_positives] = self.positives.dims();
        if num_positives == 1 {
            return self.positive();
        }
        let counted = |logarithms: Tensor<2>| match &self.positives_mask {
            Some(mask) => logarithms.mask_fill(mask.clone().bool_not(), LEFT_OUT),
            None => logarithms,
        };
        let number = match &self.positives_mask {
            Some(mask) => mask.clone().float().cast(self.positives.dtype()).sum_dim(1).clamp_min(1.0),
            None => self.positives.zeros_like().sum_dim(1) + num_positives as f64,
        };
        let largest = counted(self.positives.clone()).detach().max_dim(1);
        let positives = counted(self.positives.clone() - largest.clone()).exp();
        let positives = match &self.positive_weights {
            Some(weights) => positives * weights.clone(),
            None => positives,
        };
        let mean = positives.sum_dim(1) / number;
        mean * (largest - self.positives.clone() - self.shift.clone())
            .clamp_max(LARGEST_EXPONENT)
            .exp()
    }

    /// `s+ / t`.
    pub(crate) fn log_positive(&self) -> Tensor<2> {
        self.positives.clone()
    }

    /// The weights of hard negative sampling, `x_i^β / mean_j x_j^β`, `[num_anchors, num_negatives]`; gradients flow through them.
    /// 0 where masked out.
    pub(crate) fn hard_weights(&self, beta: f64) -> Tensor<2> {
        let similarities = match &self.unweighted {
            Some(unweighted) => &unweighted.negatives,
            None => &self.negatives,
        };
        let tilted = self.shifted(similarities) * beta;
        // Again, because a small β lifts what is left out back up.
        let tilted = match &self.left_out {
            Some(left_out) => tilted.mask_fill(left_out.clone(), LEFT_OUT),
            None => tilted,
        };
        let tilted = (tilted.clone() - tilted.detach().max_dim(1)).exp();
        let total = match &self.unweighted {
            Some(unweighted) => tilted.clone() * unweighted.weights.clone(),
            None => tilted.clone(),
        };
        tilted * (self.counts.clone() / total.sum_dim(1))
    }

    /// Number of negatives that count, `[num_anchors, 1]` or `[1, 1]`.
    pub(crate) fn counts(&self) -> Tensor<2> {
        self.counts.clone()
    }

    /// Bounds a mass from below by `N e^(s/t)`, the least mass of N scores if s is the lowest similarity; by 0 if there is none.
    ///
    /// Safe from overflow in margins made [`with_floor`](Self::with_floor).
    pub(crate) fn floored(&self, mass: Tensor<2>) -> Tensor<2> {
        match self.floor() {
            Some(floor) => mass.max_pair(floor),
            None => mass.clamp_min(0.0),
        }
    }

    /// A mass of the anchor's negatives as if there were N of them; unchanged if N is `None`.
    pub(crate) fn multiplied(&self, mass: Tensor<2>, num_negatives: Option<f64>) -> Tensor<2> {
        match num_negatives {
            Some(number) => mass * (nonzero(self.counts()).recip() * number),
            None => mass,
        }
    }

    /// Marks the anchors whose mass is at the floor for every positive that counts: their negatives have no gradient. An anchor without a
    /// loss is not marked.
    pub(crate) fn at_floor(&self, mass: Tensor<2>) -> Tensor<1, Bool> {
        let below = match self.floor() {
            Some(floor) => mass.lower_equal(floor),
            None => mass.lower_equal_scalar(0.0),
        };
        at_all_positives(below, self.positives_mask.as_ref(), self.has_negatives())
    }

    /// The floor of the mass; `None` if it is 0.
    fn floor(&self) -> Option<Tensor<2>> {
        let least = self.least? / self.temperature;
        let positives = self.positives.clone() + self.shift.clone();
        let above_least = match &self.factor {
            Some(factor) => positives - factor.clone() * least,
            None => positives - least,
        };
        Some(above_least.neg().exp() * self.counts.clone())
    }

    /// The loss `log(1 + Ng / x+)` at each positive from the mass `Ng / (x+ e^c)`.
    pub(crate) fn loss(&self, mass: Tensor<2>) -> Tensor<2> {
        // Where no negative beats the positive, c is 0 and the mass may be far below the resolution of 1 + mass: `log1p` keeps its
        // digits and its gradient. Elsewhere the positive may be the tiny term, and the plain logarithm of the sum keeps both.
        let positive_wins = self.shift.clone().lower_equal_scalar(0.0);
        let far_below = bcl_kernels::log1p(mass.clone());
        let comparable = (mass + self.positive().clamp_min(f64::from(f32::MIN_POSITIVE))).log() + self.shift.clone();
        comparable.mask_where(positive_wins, far_below)
    }

    /// The loss `log(Ng / x+)` at each positive: the positive is left out of the denominator.
    pub(crate) fn decoupled_loss(&self, mass: Tensor<2>) -> Tensor<2> {
        mass.log() + self.shift.clone()
    }
}

/// Weights in proportion to the exponentials, with the mean 1 over what counts of each row; 0 where masked out.
///
/// # Shapes
/// - exponents, output: `[num_anchors, num_negatives]`
pub(crate) fn with_mean_one(scores: &Scores, exponents: Tensor<2>) -> Tensor<2> {
    let exponents = match masked_out(scores) {
        Some(masked_out) => exponents.mask_fill(masked_out, LEFT_OUT),
        None => exponents,
    };
    // Relative to the largest, so that not all of a row underflow.
    let weights = (exponents.clone() - exponents.max_dim(1)).exp();
    let weights = masked(weights, scores.mask.as_ref());
    let total = nonzero(scores.weighted(weights.clone()).sum_dim(1));
    weights * (scores.counts() / total)
}

/// Which entries are masked out.
fn masked_out(scores: &Scores) -> Option<Tensor<2, Bool>> {
    Some(scores.mask.clone()?.bool_not())
}

/// A tensor divided by a number.
///
/// The backward pass of Burn's own division by a number takes the reciprocal in f32 for every precision of the tensor, which costs an f64
/// gradient half its digits.
pub(crate) fn over<const D: usize>(tensor: Tensor<D>, divisor: f64) -> Tensor<D> {
    tensor * divisor.recip()
}
