//! The linear support vector machine with squared hinge loss.

#[cfg(test)]
mod tests;

use super::{check, classes_of};
use crate::{
    Interrupt,
    graphs::{
        Vectors,
        kernel::dot,
        newton::{Objective, add, minimise},
    },
};

/// A linear support vector machine for two or more classes, one against the rest.
///
/// For each class, with y = 1 for its samples and -1 for all others, it minimises
///
/// ```text
/// ½ |w|² + ½ b² + C Σ_i max(0, 1 - y_i f(x_i))²        f(x) = w'x + b
/// ```
///
/// and predicts the class with the largest f(x), the lowest of several. Two classes need one machine, which is positive for the
/// higher one. All definitions, and the penalty on b, follow `LinearSVC` in scikit-learn, so scale the vectors:
/// [z-scores](super::super::Scaling::ZScores) make the penalty harmless and the classes comparable.
///
/// It is solved in the primal by [Newton's method](https://www.csie.ntu.edu.tw/~cjlin/papers/logistic.pdf) (Lin, Weng and
/// Keerthi, "Trust region Newton method for large-scale logistic regression", JMLR 2008, section 5, with a line search in place
/// of the region). Coordinate descent in the dual would need thousands of passes at large C, because sums over layers of an
/// encoder are nearly collinear.
///
/// ```
/// use bcl_eval::graphs::{LinearSvc, Vectors};
///
/// let svc = LinearSvc::fit(&Vectors::new(vec![-2.0, -1.0, 1.0, 2.0], 1), &[3, 3, 7, 7], 1.0);
/// assert_eq!(svc.predict(&[0.5]), 7);
/// ```
#[derive(Debug, Clone)]
pub struct LinearSvc {
    /// The classes of training samples, ascending.
    classes: Vec<u32>,
    /// Per machine the weights, followed by the intercept.
    machines: Vec<Vec<f64>>,
}

/// The squared hinge loss of one class against the rest.
struct SquaredHinge<'a> {
    vectors: &'a Vectors,
    /// 1 or -1 per sample.
    signs: Vec<f64>,
    c: f64,
}

impl SquaredHinge<'_> {
    /// `1 - y f(x)` where positive, else 0.
    fn violations(&self, point: &[f64]) -> impl Iterator<Item = f64> {
        let violation = |(row, sign): (&[f64], &f64)| (1.0 - sign * decision(point, row)).max(0.0);
        self.vectors.rows().zip(&self.signs).map(violation)
    }
}

impl Objective for SquaredHinge<'_> {
    /// Whether each sample is within the margin.
    type Curvature = Vec<bool>;

    fn value(&self, point: &[f64]) -> f64 {
        let losses: f64 = self.violations(point).map(|violation| violation * violation).sum();
        0.5 * dot(point, point) + self.c * losses
    }

    fn gradient(&self, point: &[f64]) -> (Vec<f64>, Vec<bool>) {
        let violations: Vec<f64> = self.violations(point).collect();
        let mut gradient = point.to_vec();
        for ((row, sign), violation) in self.vectors.rows().zip(&self.signs).zip(&violations) {
            add_row(&mut gradient, -2.0 * self.c * sign * violation, row);
        }
        (gradient, violations.iter().map(|&violation| violation > 0.0).collect())
    }

    fn hessian_times(&self, is_within: &Vec<bool>, direction: &[f64]) -> Vec<f64> {
        let mut product = direction.to_vec();
        for (row, _) in self.vectors.rows().zip(is_within).filter(|(_, within)| **within) {
            add_row(&mut product, 2.0 * self.c * decision(direction, row), row);
        }
        product
    }
}

/// `w'x + b` for parameters (w, b).
fn decision(parameters: &[f64], row: &[f64]) -> f64 {
    let (weights, intercept) = parameters.split_at(row.len());
    dot(weights, row) + intercept[0]
}

/// Adds `factor * (x, 1)`.
fn add_row(parameters: &mut [f64], factor: f64, row: &[f64]) {
    let (weights, intercept) = parameters.split_at_mut(row.len());
    add(weights, factor, row);
    intercept[0] += factor;
}

impl LinearSvc {
    /// The tolerance of [`fit`](Self::fit).
    pub const TOLERANCE: f64 = 1e-8;

    /// Trains one machine per class, or a single one for two classes. A class that has no samples is never predicted.
    ///
    /// # Panics
    /// Panics if there are no samples, if the numbers of samples and labels differ, or if C is not positive.
    pub fn fit(vectors: &Vectors, labels: &[u32], c: f64) -> Self {
        Self::fit_to(vectors, labels, c, Self::TOLERANCE)
    }

    /// As [`fit`](Self::fit), with a tolerance: the norm of the gradient shrinks to `tolerance` times its value at the origin,
    /// times the share of the smaller side.
    ///
    /// # Panics
    /// As [`fit`](Self::fit); also if the tolerance is not positive.
    pub fn fit_to(vectors: &Vectors, labels: &[u32], c: f64, tolerance: f64) -> Self {
        Self::fit_or_stop(vectors, labels, c, tolerance, &Interrupt::default()).expect("the default never interrupts")
    }

    /// As [`fit_to`](Self::fit_to); `None` if interrupted.
    pub(in crate::graphs) fn fit_or_stop(
        vectors: &Vectors,
        labels: &[u32],
        c: f64,
        tolerance: f64,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        check(vectors.len(), labels, c);
        assert!(tolerance > 0.0, "the tolerance is {tolerance}, but must be positive");
        let classes = classes_of(labels);
        let machine = |&class: &u32| {
            let positives = labels.iter().filter(|&&label| label == class).count();
            let share = positives.min(labels.len() - positives) as f64 / labels.len() as f64;
            let objective = SquaredHinge {
                vectors,
                signs: labels.iter().map(|&label| if label == class { 1.0 } else { -1.0 }).collect(),
                c,
            };
            minimise(&objective, vectors.dim() + 1, tolerance * share, interrupt)
        };
        let positives = match classes.as_slice() {
            [_] => &[],
            [_, higher] => std::slice::from_ref(higher),
            all => all,
        };
        let machines = positives.iter().map(machine).collect::<Option<_>>()?;
        Some(Self { classes, machines })
    }

    /// The decision of each machine.
    pub fn decisions(&self, row: &[f64]) -> Vec<f64> {
        self.machines.iter().map(|machine| decision(machine, row)).collect()
    }

    /// The class of a vector.
    pub fn predict(&self, row: &[f64]) -> u32 {
        self.classes[winner(&self.decisions(row))]
    }
}

/// The position of the class that wins: of one machine, which separates two classes, or of one machine per class.
pub(in crate::graphs) fn winner(decisions: &[f64]) -> usize {
    match decisions {
        [] => 0,
        [decision] => usize::from(*decision > 0.0),
        // Reversed, because `max_by` takes the last of equal elements.
        all => (0..all.len())
            .rev()
            .max_by(|&a, &b| all[a].total_cmp(&all[b]))
            .expect("at least three machines"),
    }
}
