//! Decides whether a case is within its tolerance, and if not, whether rounding explains it.

use super::{
    compute::{self, Computed},
    golden::Case,
    precision::{Arithmetic, Precision},
    result::{GRADIENT, Quantity, VALUE},
};
use bcl_golden::{Deviation, Gradient, Views};

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Within,
    /// Beyond the tolerance, but only because f32 rounds similarities.
    Rounded,
    Failed,
}

/// The largest rounding error of a similarity of unit vectors in f32: a few units in the last place.
const SIMILARITY_ROUNDING: f64 = 5e-7;

/// The column of `Ng`, which is compared in f64 only: in f32, rounding the positive alone changes it by more than a loss may be off.
const NEGATIVE_MASS: usize = 2;

/// What a case has, beside the reference.
pub(super) fn quantities(computed: &Computed, case: &Case, views: &Views, precision: Precision) -> Vec<Quantity> {
    let tolerance = precision.tolerance(&case.config);
    let (loss, gradient) = deviations(computed, case);
    let mut quantities = vec![
        Quantity::new("loss", VALUE, loss, tolerance),
        Quantity::new("gradient", GRADIENT, gradient, tolerance),
    ];
    if precision == Precision::F64 && !case.reference.negative_masses.is_empty() {
        let found = compute::negative_masses(case, views);
        let mass = Deviation::of_numbers(&found, &case.reference.negative_masses);
        quantities.push(Quantity::new("Ng", NEGATIVE_MASS, mass, tolerance));
    }
    quantities
}

/// The deviations of loss and gradients.
fn deviations(computed: &Computed, case: &Case) -> (Deviation, Deviation) {
    let loss = Deviation::of_number(computed.loss, case.reference.loss);
    (loss, of_gradients(computed, &case.reference.gradients))
}

/// Decides the outcome of a case.
///
/// At a small temperature `t`, rounding two similarities changes their difference over `t` by `1e-7 / 0.07`, which is more than
/// a loss may be off, and by a multiple of that if the estimator subtracts nearly equal masses. No arithmetic on those
/// similarities can undo it. So a case beyond its tolerance in f32 is compared again, with the exact value at the similarities
/// that f32 computed. This leaves the estimator's own errors, which must be within the tolerance or smaller than the effect of
/// the rounding. Whether the estimator is right at all is decided in f64, where the same case must be within its tolerance of
/// the reference.
pub(super) fn of_case(case: &Case, views: &Views, arithmetic: &Arithmetic, computed: &Computed, found: &[Quantity]) -> Verdict {
    let precision = arithmetic.precision;
    let tolerance = precision.tolerance(&case.config);
    if found.iter().all(Quantity::is_within) {
        return Verdict::Within;
    }
    let excused = precision == Precision::F32
        && compute::rounding_of_similarities(views, arithmetic) <= SIMILARITY_ROUNDING
        && within_in_f64(case, views);
    if !excused {
        return Verdict::Failed;
    }
    let exact = compute::compute_at_rounded(case, views, arithmetic);
    let (loss_by_rounding, gradient_by_rounding) = deviations(&exact, case);
    let own_loss = Deviation::of_number(computed.loss, exact.loss);
    let own_gradient = of_gradients(computed, &exact.gradients.map(Gradient::Full));
    let small = |own: Deviation, by_rounding: Deviation| {
        own.within(tolerance) || by_rounding.relative.is_finite() && own.relative <= by_rounding.relative
    };
    if small(own_loss, loss_by_rounding) && small(own_gradient, gradient_by_rounding) {
        Verdict::Rounded
    } else {
        Verdict::Failed
    }
}

fn within_in_f64(case: &Case, views: &Views) -> bool {
    let computed = compute::compute(case, views, &Arithmetic::reference());
    quantities(&computed, case, views, Precision::F64)
        .iter()
        .all(Quantity::is_within)
}

fn of_gradients(computed: &Computed, expected: &[Gradient; 2]) -> Deviation {
    let [first, second] = [0, 1].map(|view| Deviation::of_gradient(&computed.gradients[view], &expected[view]));
    first.max(second)
}

#[cfg(test)]
mod tests;
