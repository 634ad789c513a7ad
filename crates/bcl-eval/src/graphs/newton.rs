//! Minimises smooth convex functions by Newton's method with conjugate gradients.

use super::kernel::dot;
use crate::Interrupt;

/// Most Newton steps.
const MOST_STEPS: usize = 1000;

/// Most halvings of a step.
const MOST_HALVINGS: usize = 60;

/// Least decrease of a step, as a fraction of what the gradient promises (Armijo's condition).
const LEAST_DECREASE: f64 = 1e-4;

/// A convex function with a continuous gradient and a Hessian, which may be discontinuous.
pub(super) trait Objective {
    /// What [`hessian_times`](Self::hessian_times) needs from the current point.
    type Curvature;

    /// The value at a point.
    fn value(&self, point: &[f64]) -> f64;

    /// The gradient at a point, and the curvature there.
    fn gradient(&self, point: &[f64]) -> (Vec<f64>, Self::Curvature);

    /// The Hessian times a direction.
    fn hessian_times(&self, curvature: &Self::Curvature, direction: &[f64]) -> Vec<f64>;
}

/// Minimises from the origin until the norm of the gradient is at most `tolerance` times its first value. Returns `None` if
/// interrupted.
///
/// Each step solves for Newton's direction by conjugate gradients, the more accurately the closer the optimum (Dembo and
/// Steihaug, "Truncated-Newton algorithms for large-scale unconstrained optimization", Mathematical Programming 26, 1983), and is
/// halved until the value decreases enough.
pub(super) fn minimise<O: Objective>(
    objective: &O,
    num_parameters: usize,
    tolerance: f64,
    interrupt: &Interrupt,
) -> Option<Vec<f64>> {
    let mut point = vec![0.0; num_parameters];
    let mut value = objective.value(&point);
    let mut first = None;
    for _ in 0..MOST_STEPS {
        if interrupt.is_requested() {
            return None;
        }
        let (gradient, curvature) = objective.gradient(&point);
        let norm = dot(&gradient, &gradient).sqrt();
        let first = *first.get_or_insert(norm);
        if norm <= tolerance * first {
            break;
        }
        let accuracy = (norm / first).sqrt().min(0.1) * norm;
        let direction = newton_direction(objective, &curvature, &gradient, accuracy);
        let slope = dot(&gradient, &direction);
        let moved = |fraction: f64| -> Vec<f64> { point.iter().zip(&direction).map(|(x, d)| x + fraction * d).collect() };
        let better = (0..MOST_HALVINGS).find_map(|halvings| {
            let fraction = 0.5_f64.powi(halvings as i32);
            let moved = moved(fraction);
            let found = objective.value(&moved);
            (found <= value + LEAST_DECREASE * fraction * slope).then_some((moved, found))
        });
        // Without a better point, rounding hides any further decrease.
        let Some((next, found)) = better else { break };
        let is_stuck = next == point;
        (point, value) = (next, found);
        if is_stuck {
            break;
        }
    }
    Some(point)
}

/// Solves `H d = -gradient` until the residual is at most `accuracy`.
fn newton_direction<O: Objective>(objective: &O, curvature: &O::Curvature, gradient: &[f64], accuracy: f64) -> Vec<f64> {
    let mut direction = vec![0.0; gradient.len()];
    let mut residual: Vec<f64> = gradient.iter().map(|value| -value).collect();
    let mut conjugate = residual.clone();
    let mut square = dot(&residual, &residual);
    // In exact arithmetic one product per parameter is enough; rounding needs some more.
    for _ in 0..2 * gradient.len() {
        if square.sqrt() <= accuracy {
            break;
        }
        let product = objective.hessian_times(curvature, &conjugate);
        let along = dot(&conjugate, &product);
        // A flat direction: the Hessian is singular, or rounding errors dominate.
        if along <= f64::EPSILON * dot(&conjugate, &conjugate) {
            break;
        }
        let step = square / along;
        add(&mut direction, step, &conjugate);
        add(&mut residual, -step, &product);
        let next = dot(&residual, &residual);
        for (conjugate, residual) in conjugate.iter_mut().zip(&residual) {
            *conjugate = residual + next / square * *conjugate;
        }
        square = next;
    }
    if direction.iter().all(|&value| value == 0.0) {
        conjugate
    } else {
        direction
    }
}

/// Adds `factor * other` to `values`.
pub(super) fn add(values: &mut [f64], factor: f64, other: &[f64]) {
    for (value, other) in values.iter_mut().zip(other) {
        *value += factor * other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Σ_i (s_i (x_i - 1)²) / 2 + quartic Σ_i (x_i - 1)⁴`, with its minimum at 1.
    struct Bowl {
        scales: Vec<f64>,
        quartic: f64,
    }

    impl Objective for Bowl {
        type Curvature = Vec<f64>;

        fn value(&self, point: &[f64]) -> f64 {
            let term = |(x, s): (&f64, &f64)| s * (x - 1.0).powi(2) / 2.0 + self.quartic * (x - 1.0).powi(4);
            point.iter().zip(&self.scales).map(term).sum()
        }

        fn gradient(&self, point: &[f64]) -> (Vec<f64>, Vec<f64>) {
            let slope = |(x, s): (&f64, &f64)| s * (x - 1.0) + 4.0 * self.quartic * (x - 1.0).powi(3);
            let second = |(x, s): (&f64, &f64)| s + 12.0 * self.quartic * (x - 1.0).powi(2);
            let terms = || point.iter().zip(&self.scales);
            (terms().map(slope).collect(), terms().map(second).collect())
        }

        fn hessian_times(&self, curvature: &Vec<f64>, direction: &[f64]) -> Vec<f64> {
            curvature.iter().zip(direction).map(|(second, d)| second * d).collect()
        }
    }

    #[test]
    fn bowls_are_descended_to_the_bottom() {
        for (scales, quartic) in [
            (vec![1.0; 5], 0.0),
            ((-3..=3).map(|power| 10.0_f64.powi(power)).collect(), 0.0),
            ((-3..=3).map(|power| 10.0_f64.powi(power)).collect(), 10.0),
        ] {
            let bowl = Bowl { scales, quartic };
            let found = minimise(&bowl, bowl.scales.len(), 1e-12, &Interrupt::default()).unwrap();
            assert!(bowl.value(&found) < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_flat_function_stays_at_the_origin() {
        let flat = Bowl {
            scales: vec![0.0; 3],
            quartic: 0.0,
        };
        assert_eq!(minimise(&flat, 3, 1e-8, &Interrupt::default()), Some(vec![0.0; 3]));
    }

    #[test]
    fn an_overflow_ends_the_search() {
        let steep = Bowl {
            scales: vec![1e200, 1e308],
            quartic: 1e308,
        };
        assert!(minimise(&steep, 2, 1e-8, &Interrupt::default()).is_some());
    }

    #[test]
    fn an_interrupt_ends_the_search() {
        let bowl = Bowl {
            scales: vec![1.0],
            quartic: 0.0,
        };
        assert_eq!(minimise(&bowl, 1, 1e-8, &Interrupt::when(|| true)), None);
    }
}
