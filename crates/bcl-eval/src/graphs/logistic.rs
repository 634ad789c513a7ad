//! Logistic regression to its optimum.

#[cfg(test)]
mod tests;

use super::{
    Vectors,
    kernel::dot,
    newton::{Objective, add, minimise},
    svm::{check, classes_of, winner},
};
use crate::Interrupt;

/// Multinomial logistic regression with an L2 penalty.
///
/// With one row of weights and one intercept per class, it minimises
///
/// ```text
/// ½ |W|² - C Σ_i log softmax(W x_i + b)[class_i]
/// ```
///
/// Two classes share one row, and softmax becomes the logistic function. The intercepts have no penalty, as in
/// `LogisticRegression` of scikit-learn.
///
/// [`probe_fixed`](crate::probe::probe_fixed) trains the same model for a number of epochs at a learning rate, for data sets of
/// any size. Here the optimum itself is found, by [Newton's method](https://www.csie.ntu.edu.tw/~cjlin/papers/logistic.pdf), so
/// that C is the only parameter.
///
/// ```
/// use bcl_eval::graphs::{LogisticRegression, Vectors};
///
/// let model = LogisticRegression::fit(&Vectors::new(vec![-2.0, -1.0, 1.0, 2.0], 1), &[3, 3, 7, 7], 1.0);
/// assert_eq!(model.predict(&[0.5]), 7);
/// ```
#[derive(Debug, Clone)]
pub struct LogisticRegression {
    /// The classes of training samples, ascending.
    classes: Vec<u32>,
    /// Per row of W its weights, followed by the intercept.
    parameters: Vec<f64>,
}

/// The objective of [`LogisticRegression`].
struct CrossEntropy<'a> {
    vectors: &'a Vectors,
    /// The position of each sample's class.
    targets: Vec<usize>,
    /// Rows of W: 1 for two classes, else one per class.
    num_rows: usize,
    c: f64,
}

impl CrossEntropy<'_> {
    /// Each sample with its logits.
    fn logits<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = (&'a [f64], usize, Vec<f64>)> {
        let samples = self.vectors.rows().zip(&self.targets);
        samples.map(|(row, &target)| (row, target, logits(point, row)))
    }

    /// Half the sum of the squared weights, without intercepts.
    fn penalty(&self, point: &[f64]) -> f64 {
        let rows = point.chunks_exact(self.vectors.dim() + 1);
        rows.map(|row| dot(&row[..row.len() - 1], &row[..row.len() - 1])).sum::<f64>() / 2.0
    }

    /// The gradient of the penalty.
    fn weights_of(&self, point: &[f64]) -> Vec<f64> {
        let mut weights = point.to_vec();
        for row in weights.chunks_exact_mut(self.vectors.dim() + 1) {
            *row.last_mut().expect("an intercept") = 0.0;
        }
        weights
    }
}

/// `W x + b`.
fn logits(parameters: &[f64], row: &[f64]) -> Vec<f64> {
    let of = |parameters: &[f64]| dot(&parameters[..row.len()], row) + parameters[row.len()];
    parameters.chunks_exact(row.len() + 1).map(of).collect()
}

/// Adds `factors ⊗ (x, 1)`.
fn add_outer(parameters: &mut [f64], factors: &[f64], row: &[f64]) {
    for (parameters, &factor) in parameters.chunks_exact_mut(row.len() + 1).zip(factors) {
        add(&mut parameters[..row.len()], factor, row);
        parameters[row.len()] += factor;
    }
}

/// The probability of each row of W: of the higher class if there is one logit, else a softmax.
fn probabilities(logits: &[f64]) -> Vec<f64> {
    if let [logit] = logits {
        return vec![1.0 / (1.0 + (-logit).exp())];
    }
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let terms: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let sum: f64 = terms.iter().sum();
    terms.into_iter().map(|term| term / sum).collect()
}

/// The negative log probability of the class at position `target`.
fn loss(logits: &[f64], target: usize) -> f64 {
    if let [logit] = logits {
        let against = if target == 1 { -logit } else { *logit };
        return against.max(0.0) + (-against.abs()).exp().ln_1p();
    }
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|logit| (logit - largest).exp()).sum();
    largest + sum.ln() - logits[target]
}

impl Objective for CrossEntropy<'_> {
    /// The probabilities of each sample.
    type Curvature = Vec<Vec<f64>>;

    fn value(&self, point: &[f64]) -> f64 {
        let losses: f64 = self.logits(point).map(|(_, target, logits)| loss(&logits, target)).sum();
        self.penalty(point) + self.c * losses
    }

    fn gradient(&self, point: &[f64]) -> (Vec<f64>, Self::Curvature) {
        let mut gradient = self.weights_of(point);
        let curvature = self.logits(point).map(|(row, target, logits)| {
            let probabilities = probabilities(&logits);
            // With one row of W, position 1 is the class of its probability.
            let is_target = |at: usize| f64::from(u8::from(if self.num_rows == 1 { target == 1 } else { target == at }));
            let residuals: Vec<f64> = probabilities
                .iter()
                .enumerate()
                .map(|(at, p)| self.c * (p - is_target(at)))
                .collect();
            add_outer(&mut gradient, &residuals, row);
            probabilities
        });
        let curvature = curvature.collect();
        (gradient, curvature)
    }

    fn hessian_times(&self, curvature: &Self::Curvature, direction: &[f64]) -> Vec<f64> {
        let mut product = self.weights_of(direction);
        for ((row, _, change), probabilities) in self.logits(direction).zip(curvature) {
            // The derivative of p is p (change - mean change); the class without a row of W has no change.
            let mean = dot(probabilities, &change);
            let changes = probabilities.iter().zip(&change);
            let changes: Vec<f64> = changes.map(|(p, change)| self.c * p * (change - mean)).collect();
            add_outer(&mut product, &changes, row);
        }
        product
    }
}

impl LogisticRegression {
    /// The tolerance of [`fit`](Self::fit).
    pub const TOLERANCE: f64 = 1e-8;

    /// Trains the weights. A class that has no samples is never predicted.
    ///
    /// # Panics
    /// Panics if there are no samples, if the numbers of samples and labels differ, or if C is not positive.
    pub fn fit(vectors: &Vectors, labels: &[u32], c: f64) -> Self {
        Self::fit_to(vectors, labels, c, Self::TOLERANCE)
    }

    /// As [`fit`](Self::fit), with a tolerance: the norm of the gradient shrinks to `tolerance` times its value at the origin.
    ///
    /// # Panics
    /// As [`fit`](Self::fit); also if the tolerance is not positive.
    pub fn fit_to(vectors: &Vectors, labels: &[u32], c: f64, tolerance: f64) -> Self {
        Self::fit_or_stop(vectors, labels, c, tolerance, &Interrupt::default()).expect("the default never interrupts")
    }

    /// As [`fit_to`](Self::fit_to); `None` if interrupted.
    pub(super) fn fit_or_stop(vectors: &Vectors, labels: &[u32], c: f64, tolerance: f64, interrupt: &Interrupt) -> Option<Self> {
        check(vectors.len(), labels, c);
        assert!(tolerance > 0.0, "the tolerance is {tolerance}, but must be positive");
        let classes = classes_of(labels);
        if classes.len() == 1 {
            let parameters = Vec::new();
            return Some(Self { classes, parameters });
        }
        let position = |label| classes.binary_search(label).expect("every label has a class");
        let objective = CrossEntropy {
            vectors,
            targets: labels.iter().map(position).collect(),
            num_rows: if classes.len() == 2 { 1 } else { classes.len() },
            c,
        };
        let num_parameters = objective.num_rows * (vectors.dim() + 1);
        let parameters = minimise(&objective, num_parameters, tolerance, interrupt)?;
        Some(Self { classes, parameters })
    }

    /// `W x + b`.
    pub fn logits(&self, row: &[f64]) -> Vec<f64> {
        logits(&self.parameters, row)
    }

    /// The class of a vector.
    pub fn predict(&self, row: &[f64]) -> u32 {
        self.classes[winner(&self.logits(row))]
    }
}
