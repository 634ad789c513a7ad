//! Logistic regression against reference values, its own objective and what holds at any optimum.

use super::*;
use crate::graphs::{planted::overlapping, reference};

#[test]
fn the_optimum_is_the_reference() {
    for case in &reference::LOGISTIC {
        let (train, labels) = reference::train(case.num_classes);
        let expected = case.parameters.concat();
        let num_rows = case.parameters.len() as f64;
        for (tolerance, error) in [(1e-12, 1e-7), (LogisticRegression::TOLERANCE, 1e-5)] {
            let mut found = LogisticRegression::fit_to(&train, &labels, case.c, tolerance).parameters;
            // Only differences between intercepts matter; the reference has a mean of 0.
            if case.num_classes > 2 {
                let mean = found.iter().skip(3).step_by(4).sum::<f64>() / num_rows;
                found.iter_mut().skip(3).step_by(4).for_each(|intercept| *intercept -= mean);
            }
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < error, "C {}: {found} for {expected}", case.c);
            }
        }
    }
}

#[test]
fn gradient_and_hessian_are_the_derivatives_of_the_value() {
    for num_classes in [2, 3] {
        let (vectors, labels) = overlapping(12, num_classes, 5);
        let num_rows = if num_classes == 2 { 1 } else { num_classes as usize };
        let objective = CrossEntropy {
            vectors: &vectors,
            targets: labels.iter().map(|&label| label as usize).collect(),
            num_rows,
            c: 0.7,
        };
        let point: Vec<f64> = (0..num_rows * 5).map(|i| 0.3 * (i as f64).sin()).collect();
        let direction: Vec<f64> = (0..num_rows * 5).map(|i| (1.7 * i as f64).cos()).collect();
        let at = |step: f64| -> Vec<f64> { point.iter().zip(&direction).map(|(x, d)| x + step * d).collect() };
        let (gradient, curvature) = objective.gradient(&point);
        let step = 1e-5;
        let slope = (objective.value(&at(step)) - objective.value(&at(-step))) / (2.0 * step);
        assert!(
            (dot(&gradient, &direction) - slope).abs() < 1e-8,
            "{num_classes} classes: {slope}"
        );
        let [above, below] = [step, -step].map(|step| objective.gradient(&at(step)).0);
        let product = objective.hessian_times(&curvature, &direction);
        for ((above, below), product) in above.iter().zip(&below).zip(product) {
            assert!(
                ((above - below) / (2.0 * step) - product).abs() < 1e-7,
                "{num_classes} classes"
            );
        }
    }
}

#[test]
fn expected_counts_of_classes_are_their_counts() {
    // The gradient with respect to the intercepts, which have no penalty, is zero.
    for (num_classes, c) in [(2, 1e-3), (2, 1e2), (3, 1e-3), (3, 1e2)] {
        let (vectors, mut labels) = overlapping(30, num_classes, 6);
        labels[..4].fill(1);
        let model = LogisticRegression::fit_to(&vectors, &labels, c, 1e-12);
        let sums = vectors
            .rows()
            .map(|row| probabilities(&model.logits(row)))
            .fold(vec![0.0; 3], |mut sums, probabilities| {
                add(&mut sums[..probabilities.len()], 1.0, &probabilities);
                sums
            });
        let count = |class: u32| labels.iter().filter(|&&label| label == class).count() as f64;
        let expected = if num_classes == 2 {
            vec![count(1)]
        } else {
            vec![count(0), count(1), count(2)]
        };
        for (sum, count) in sums.into_iter().zip(expected) {
            assert!((sum - count).abs() < 1e-6, "{sum} of {count}");
        }
    }
}

#[test]
fn two_classes_are_a_softmax_with_twice_the_penalty() {
    // Rows w / 2 and -w / 2 have the same probabilities and half the penalty, so C / 2 and a third class without samples give the
    // same.
    let (vectors, labels) = overlapping(30, 2, 7);
    let binary = LogisticRegression::fit_to(&vectors, &labels, 2.0, 1e-12);
    let objective = CrossEntropy {
        vectors: &vectors,
        targets: labels.iter().map(|&label| label as usize).collect(),
        num_rows: 2,
        c: 1.0,
    };
    let softmax = minimise(&objective, 10, 1e-12, &Interrupt::default()).unwrap();
    for (at, parameter) in binary.parameters.iter().enumerate() {
        assert!((softmax[5 + at] - softmax[at] - parameter).abs() < 1e-7);
    }
}

#[test]
fn huge_logits_stay_finite() {
    for logits in [vec![1e300], vec![-1e300], vec![1e300, -1e300, 0.0]] {
        assert!(probabilities(&logits).iter().all(|p| p.is_finite()));
        assert!(loss(&logits, 0).is_finite() && loss(&logits, 1).is_finite());
    }
    assert_eq!([loss(&[1e300], 0), loss(&[1e300], 1)], [1e300, 0.0]);
}

#[test]
fn separable_classes_are_told_apart_at_any_c() {
    let vectors = Vectors::new(vec![-3.0, -2.0, 0.5, 1.0, 8.0, 9.0], 1);
    for c in [1.0, 1e6] {
        let model = LogisticRegression::fit(&vectors, &[5, 5, 2, 2, 9, 9], c);
        let found: Vec<u32> = vectors.rows().map(|row| model.predict(row)).collect();
        assert_eq!(found, [5, 5, 2, 2, 9, 9], "C {c}");
    }
}

#[test]
fn a_single_class_is_always_predicted() {
    let model = LogisticRegression::fit(&Vectors::new(vec![1.0, 2.0], 1), &[7, 7], 1.0);
    assert_eq!(model.predict(&[-1.0]), 7);
}
