//! The loss of one anchor and its slopes, from its scores.

use pulp::Simd;

use super::{Correction, Plan};
use crate::cpu::sum;
use crate::exponential::Exponential;
use crate::ranks::buckets::{Ranker, Score, weight};

/// Memory that is used for one row after another.
#[derive(Default)]
pub(crate) struct Scratch<T: Score> {
    ranker: Ranker<T>,
    weights: Vec<T>,
}

/// What the scores of an anchor come to.
pub(crate) struct Outcome {
    /// Nats.
    pub(crate) loss: f64,
    /// What the row must be multiplied by to be the slope of the loss in each score.
    pub(crate) slope: f64,
    /// The slope of the loss in the score of the positive.
    pub(crate) positive_slope: f64,
}

/// The mass of the negatives relative to the highest of them, and what makes the row its slope.
struct Mass {
    mass: f64,
    slope: f64,
}

/// Computes the loss of an anchor, and leaves in `row` its slopes up to a factor.
///
/// `row` has the scores of all rows of the table, minus infinity where left out; `table` one weight per rank, if there are ranks.
#[inline(always)]
pub(crate) fn contrast<S: Simd, T: Score + Exponential>(
    simd: S,
    row: &mut [T],
    num_negatives: usize,
    positive: f64,
    table: &[T],
    scratch: &mut Scratch<T>,
    plan: &Plan,
) -> Outcome {
    if num_negatives == 0 {
        row.fill(T::ZERO);
        return Outcome {
            loss: 0.0,
            slope: 0.0,
            positive_slope: 0.0,
        };
    }
    let num_negatives = num_negatives as f64;
    let hardest = largest(row);
    let rate = T::from_f64(plan.rate);
    let Mass { mass, slope } = if plan.ranked {
        let ranks = scratch.ranker.ranks(simd, row);
        for value in &mut *row {
            *value = ((*value - hardest) * rate).exponential();
        }
        // A loop of its own: looking up the weights would keep the exponentials from being vectorised.
        for (value, &rank) in row.iter_mut().zip(ranks) {
            *value = *value * weight(table, rank);
        }
        Mass {
            mass: sum(row).as_f64(),
            slope: 1.0,
        }
    } else if let Some(hardness) = plan.hardness {
        hard(row, num_negatives, &mut scratch.weights, hardest, hardness, plan)
    } else {
        for value in &mut *row {
            *value = ((*value - hardest) * rate).exponential();
        }
        Mass {
            mass: sum(row).as_f64(),
            slope: 1.0,
        }
    };
    let outcome = outcome(mass, num_negatives, hardest.as_f64(), positive, plan);
    Outcome {
        slope: outcome.slope * slope,
        ..outcome
    }
}

/// `N · Σ h^(1 + β) / Σ h^β` and its slopes, with `h` the exponentials relative to the hardest negative.
#[inline(always)]
fn hard<T: Score + Exponential>(
    row: &mut [T],
    num_negatives: f64,
    weights: &mut Vec<T>,
    hardest: T,
    hardness: f64,
    plan: &Plan,
) -> Mass {
    let rate = T::from_f64(plan.rate);
    weights.resize(row.len(), T::ZERO);
    let weights = &mut weights[..];
    if hardness == 1.0 {
        for (value, weight) in row.iter_mut().zip(&mut *weights) {
            *weight = ((*value - hardest) * rate).exponential();
            *value = *weight * *weight;
        }
    } else {
        let tilt = T::from_f64(plan.rate * hardness);
        for (value, weight) in row.iter_mut().zip(&mut *weights) {
            let plain = ((*value - hardest) * rate).exponential();
            // At β = 0, what is left out must not come back.
            *weight = if plain == T::ZERO {
                plain
            } else {
                ((*value - hardest) * tilt).exponential()
            };
            *value = *weight * plain;
        }
    }
    let total = sum(weights).as_f64();
    let mean = sum(row).as_f64() / total;
    let [of_product, of_weight] = [1.0 + hardness, hardness * mean].map(T::from_f64);
    for (value, &weight) in row.iter_mut().zip(&*weights) {
        *value = *value * of_product - weight * of_weight;
    }
    Mass {
        mass: num_negatives * mean,
        slope: num_negatives / total,
    }
}

/// The loss and its slopes from the mass relative to the hardest negative.
///
/// Everything is kept relative to `x+ e^c`, where c is 0 if nothing is above the positive, so that no exponential overflows.
#[inline(always)]
fn outcome(mass: f64, num_negatives: f64, hardest: f64, positive: f64, plan: &Plan) -> Outcome {
    let above = (hardest - positive) * plan.rate;
    let Some((unlabelled, correction, least)) = plan.correction.terms() else {
        return Outcome {
            loss: mass.ln() + above,
            slope: plan.rate / mass,
            positive_slope: -plan.rate,
        };
    };
    let least_above = least.map_or(f64::NEG_INFINITY, |least| (least - positive) * plan.rate);
    let shift = above.max(0.0).max(least_above);
    let (scale, positive_mass) = (unlabelled * (above - shift).exp(), (-shift).exp());
    let corrected = mass * scale - correction * num_negatives * positive_mass;
    let floor = num_negatives * (least_above - shift).exp();
    let is_floored = corrected <= floor && !matches!(plan.correction, Correction::None);
    let mass_of_all = if is_floored { floor } else { corrected };
    let denominator = mass_of_all + positive_mass;
    let loss = if shift > 0.0 {
        denominator.ln() + shift
    } else {
        mass_of_all.ln_1p()
    };
    if is_floored {
        return Outcome {
            loss,
            slope: 0.0,
            positive_slope: -plan.rate * floor / denominator,
        };
    }
    Outcome {
        loss,
        slope: plan.rate * scale / denominator,
        positive_slope: -plan.rate * mass * scale / denominator,
    }
}

/// The largest score; NaN is passed over, and shows in the sums.
#[inline(always)]
fn largest<T: Score>(row: &[T]) -> T {
    const LANES: usize = 16;
    let mut lanes = [T::INFINITY.negative(); LANES];
    let (blocks, rest) = row.as_chunks::<LANES>();
    let raise = |lane: &mut T, value: T| *lane = if value > *lane { value } else { *lane };
    for block in blocks {
        for (lane, &value) in lanes.iter_mut().zip(block) {
            raise(lane, value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        raise(lane, value);
    }
    let mut largest = lanes[0];
    for &lane in &lanes[1..] {
        raise(&mut largest, lane);
    }
    largest
}
