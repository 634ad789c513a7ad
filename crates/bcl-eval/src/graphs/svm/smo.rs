//! Sequential minimal optimisation of the dual of a support vector machine with two classes.

use crate::{Interrupt, graphs::Kernel};

/// Least curvature along a step, so that steps between equal samples are finite.
const LEAST_CURVATURE: f64 = 1e-12;

/// Number of steps between two checks of the [`Interrupt`].
const STEPS_PER_CHECK: usize = 1000;

/// The optimum of a machine with two classes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solution {
    /// The weight of each sample in the decision `f(x) = Σ_i weight_i K(x_i, x) + intercept`: its multiplier, times its sign.
    pub(super) weights: Vec<f64>,
    /// The intercept.
    pub(super) intercept: f64,
}

/// The dual with weights in place of multipliers, `w_i = y_i a_i`:
///
/// ```text
/// minimise ½ w'Kw - y'w    with Σ_i w_i = 0 and w_i between 0 and y_i C
/// ```
///
/// Its negative gradient is `slack_i = y_i - Σ_j w_j K_ij`. Weights are optimal if there is an intercept b with `slack_i <= b`
/// for all weights that can grow, and `slack_i >= b` for all that can shrink.
struct Dual<'a> {
    kernel: &'a Kernel,
    diagonal: Vec<f64>,
    /// The least weight of each sample: 0, or -C for a negative one.
    least: Vec<f64>,
    /// The largest weight of each sample: C, or 0 for a negative one.
    most: Vec<f64>,
    weights: Vec<f64>,
    slacks: Vec<f64>,
}

/// Solves the dual until the optimality conditions hold to within `tolerance`.
///
/// Each step moves weight from one sample to another. The first has the largest slack of those that can grow; the second promises
/// the largest decrease of the objective to second order (Fan, Chen and Lin, "Working set selection using second order
/// information for training support vector machines", JMLR 2005, algorithm WSS 2). Gives up after `max(10^7, 100 n)` steps, as
/// LIBSVM does. Returns `None` if interrupted.
pub(super) fn solve(kernel: &Kernel, is_positive: &[bool], c: f64, tolerance: f64, interrupt: &Interrupt) -> Option<Solution> {
    let num_samples = kernel.len();
    let of_sign = |negative, positive| is_positive.iter().map(|&is| if is { positive } else { negative }).collect();
    let mut dual = Dual {
        kernel,
        diagonal: (0..num_samples).map(|sample| kernel.row(sample)[sample]).collect(),
        least: of_sign(-c, 0.0),
        most: of_sign(0.0, c),
        weights: vec![0.0; num_samples],
        slacks: of_sign(-1.0, 1.0),
    };
    for step in 0..10_000_000.max(100 * num_samples) {
        if step % STEPS_PER_CHECK == 0 && interrupt.is_requested() {
            return None;
        }
        let Some((grows, shrinks)) = dual.pair(tolerance) else {
            break;
        };
        dual.move_weight(shrinks, grows);
    }
    Some(dual.solution())
}

impl Dual<'_> {
    fn can_grow(&self, sample: usize) -> bool {
        self.weights[sample] < self.most[sample]
    }

    fn can_shrink(&self, sample: usize) -> bool {
        self.weights[sample] > self.least[sample]
    }

    /// The samples that bound the intercept, each with its slack: the largest that can grow, and the smallest that can shrink.
    fn bounds(&self) -> [(usize, f64); 2] {
        let (mut largest, mut smallest) = ((0, f64::NEG_INFINITY), (0, f64::INFINITY));
        for (sample, &slack) in self.slacks.iter().enumerate() {
            if slack > largest.1 && self.can_grow(sample) {
                largest = (sample, slack);
            }
            if slack < smallest.1 && self.can_shrink(sample) {
                smallest = (sample, slack);
            }
        }
        [largest, smallest]
    }

    /// The next pair of samples (grows, shrinks); `None` at the optimum.
    fn pair(&self, tolerance: f64) -> Option<(usize, usize)> {
        let [(grows, largest), (violator, smallest)] = self.bounds();
        if largest - smallest < tolerance {
            return None;
        }
        let row = self.kernel.row(grows);
        let (mut shrinks, mut most) = (violator, f64::NEG_INFINITY);
        for sample in 0..self.slacks.len() {
            let slope = largest - self.slacks[sample];
            if slope > 0.0 && self.can_shrink(sample) {
                let curvature = row[grows] + self.diagonal[sample] - 2.0 * row[sample];
                let decrease = slope * slope / curvature.max(LEAST_CURVATURE);
                if decrease > most {
                    (shrinks, most) = (sample, decrease);
                }
            }
        }
        Some((grows, shrinks))
    }

    /// Moves as much weight as is optimal for this pair.
    fn move_weight(&mut self, from: usize, to: usize) {
        let (from_row, to_row) = (self.kernel.row(from), self.kernel.row(to));
        let curvature = (self.diagonal[to] + self.diagonal[from] - 2.0 * to_row[from]).max(LEAST_CURVATURE);
        let best = (self.slacks[to] - self.slacks[from]) / curvature;
        let room = [self.most[to] - self.weights[to], self.weights[from] - self.least[from]];
        let step = best.min(room[0]).min(room[1]);
        // Exactly at a bound despite rounding, so that the sample counts as bounded.
        self.weights[to] = if step == room[0] {
            self.most[to]
        } else {
            self.weights[to] + step
        };
        self.weights[from] = if step == room[1] {
            self.least[from]
        } else {
            self.weights[from] - step
        };
        for ((slack, to), from) in self.slacks.iter_mut().zip(to_row).zip(from_row) {
            *slack -= step * (to - from);
        }
    }

    /// The intercept is the mean slack of the samples between their bounds, or the middle of what the others allow.
    fn solution(self) -> Solution {
        let free = |&sample: &usize| self.can_grow(sample) && self.can_shrink(sample);
        let free: Vec<f64> = (0..self.slacks.len())
            .filter(free)
            .map(|sample| self.slacks[sample])
            .collect();
        let intercept = if free.is_empty() {
            let [(_, largest), (_, smallest)] = self.bounds();
            f64::midpoint(largest, smallest)
        } else {
            free.iter().sum::<f64>() / free.len() as f64
        };
        Solution {
            weights: self.weights,
            intercept,
        }
    }
}
