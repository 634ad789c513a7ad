//! Support vector machines, as scikit-learn's `SVC` and `LinearSVC` define them.
//!
//! They are implemented here because no crate computes these optima:
//!
//! - `linfa-svm` 0.8 solves for two classes. Several classes are one against the rest, by calibrated probabilities; it takes
//!   vectors only, no kernel.
//! - `smartcore` 0.7 makes a fixed number of passes (LASVM), which ends before the optimum, and has no precomputed kernels
//!   either.
//! - `libsvm` and `liblinear` need a C++ compiler.

mod linear;
mod smo;
#[cfg(test)]
mod tests;

pub use linear::LinearSvc;
pub(in crate::graphs) use linear::winner;

use super::Kernel;
use crate::Interrupt;
use smo::Solution;

/// A support vector machine with a kernel, for two or more classes (C-SVC).
///
/// Each pair of classes (a, b), a < b, has a machine that separates them. With y = 1 for samples of a and -1 for samples of b, it
/// minimises
///
/// ```text
/// ½ |w|² + C Σ_i max(0, 1 - y_i f(x_i))        f(x) = w'φ(x) + b
/// ```
///
/// and votes for a if f(x) > 0, else for b. The class with most votes wins, the lowest of several. The dual is solved until its
/// optimality conditions hold to within the tolerance, 1e-3 by default. Definitions and defaults follow `SVC` in scikit-learn.
///
/// "Support-vector networks" (Cortes and Vapnik, Machine Learning 20, 1995).
///
/// ```
/// use bcl_eval::graphs::{Kernel, Svc, Vectors};
///
/// let train = Vectors::new(vec![0.0, 1.0, 5.0, 6.0], 1);
/// let svc = Svc::fit(&Kernel::rbf(&train, 0.1), &[0, 0, 1, 1], 1.0);
/// // The kernel of a new sample at 0.5 with the training samples.
/// let row: Vec<f64> = train.rows().map(|x| (-0.1 * (x[0] - 0.5_f64).powi(2)).exp()).collect();
/// assert_eq!(svc.predict(&row), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Svc {
    /// The classes of training samples, ascending.
    classes: Vec<u32>,
    machines: Vec<Machine>,
}

/// Separates two classes.
#[derive(Debug, Clone)]
struct Machine {
    /// Positions in the list of classes, positive class first.
    pair: [usize; 2],
    /// The training samples with a weight that is not zero, with their weights.
    support: Vec<(usize, f64)>,
    intercept: f64,
}

impl Svc {
    /// The tolerance of [`fit`](Self::fit).
    pub const TOLERANCE: f64 = 1e-3;

    /// Trains with a kernel between all training samples. A class that has no samples is never predicted.
    ///
    /// # Panics
    /// Panics if there are no samples, if the numbers of samples and labels differ, or if C is not positive.
    pub fn fit(kernel: &Kernel, labels: &[u32], c: f64) -> Self {
        Self::fit_to(kernel, labels, c, Self::TOLERANCE)
    }

    /// As [`fit`](Self::fit), with a tolerance.
    ///
    /// # Panics
    /// As [`fit`](Self::fit); also if the tolerance is not positive.
    pub fn fit_to(kernel: &Kernel, labels: &[u32], c: f64, tolerance: f64) -> Self {
        Self::fit_or_stop(kernel, labels, c, tolerance, &Interrupt::default()).expect("the default never interrupts")
    }

    /// As [`fit_to`](Self::fit_to); `None` if interrupted.
    pub(in crate::graphs) fn fit_or_stop(
        kernel: &Kernel,
        labels: &[u32],
        c: f64,
        tolerance: f64,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        check(kernel.len(), labels, c);
        assert!(tolerance > 0.0, "the tolerance is {tolerance}, but must be positive");
        let classes = classes_of(labels);
        let machine = |pair: [usize; 2]| {
            let [positive, negative] = pair.map(|position| classes[position]);
            let is_of_pair = |&sample: &usize| labels[sample] == positive || labels[sample] == negative;
            let samples: Vec<usize> = (0..labels.len()).filter(is_of_pair).collect();
            let is_positive: Vec<bool> = samples.iter().map(|&sample| labels[sample] == positive).collect();
            let Solution { weights, intercept, .. } =
                smo::solve(&kernel.select(&samples), &is_positive, c, tolerance, interrupt)?;
            let support = samples
                .into_iter()
                .zip(weights)
                .filter(|&(_, weight)| weight != 0.0)
                .collect();
            Some(Machine {
                pair,
                support,
                intercept,
            })
        };
        let pairs = (0..classes.len()).flat_map(|a| (a + 1..classes.len()).map(move |b| [a, b]));
        let machines = pairs.map(machine).collect::<Option<_>>()?;
        Some(Self { classes, machines })
    }

    /// The decision of each pair of classes, (0, 1), (0, 2), …, (1, 2), …; positive for the first class of the pair.
    ///
    /// `row` is the kernel of a sample with all training samples.
    pub fn decisions(&self, row: &[f64]) -> Vec<f64> {
        self.machines.iter().map(|machine| machine.decision(row)).collect()
    }

    /// The class of a sample, given its kernel with all training samples.
    pub fn predict(&self, row: &[f64]) -> u32 {
        let mut votes = vec![0; self.classes.len()];
        for machine in &self.machines {
            let [positive, negative] = machine.pair;
            votes[if machine.decision(row) > 0.0 { positive } else { negative }] += 1;
        }
        // Reversed, because `max_by_key` takes the last of equal elements.
        let winner = (0..votes.len()).rev().max_by_key(|&position| votes[position]);
        self.classes[winner.expect("at least one class")]
    }
}

impl Machine {
    fn decision(&self, row: &[f64]) -> f64 {
        self.intercept + self.support.iter().map(|&(sample, weight)| weight * row[sample]).sum::<f64>()
    }
}

/// The classes that occur, ascending.
pub(in crate::graphs) fn classes_of(labels: &[u32]) -> Vec<u32> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Panics if samples, labels or C are invalid.
pub(in crate::graphs) fn check(num_samples: usize, labels: &[u32], c: f64) {
    assert!(num_samples > 0, "there are no training samples");
    assert_eq!(num_samples, labels.len(), "each training sample needs one label");
    assert!(c > 0.0 && c.is_finite(), "C is {c}, but must be positive and finite");
}
