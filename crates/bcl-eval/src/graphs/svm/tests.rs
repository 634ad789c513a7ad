//! Machines against reference values, optimality conditions and solutions in closed form.

use super::{smo::solve, *};
use crate::graphs::{
    Vectors,
    kernel::{dot, rbf_between},
    planted::overlapping,
    reference,
};
use bcl_data::Seed;
use rand::RngExt;

/// Tolerance of machines that are compared with exact solutions.
const EXACT: f64 = 1e-10;

/// How far the reference values may be off: LIBSVM stores kernels in f32.
const SINGLE: f64 = 1e-6;

fn solved(kernel: &Kernel, is_positive: &[bool], c: f64) -> Solution {
    solve(kernel, is_positive, c, EXACT, &Interrupt::default()).unwrap()
}

/// The dual objective `½ w'Kw - Σ_i |w_i|`.
fn objective(kernel: &Kernel, weights: &[f64]) -> f64 {
    let products = weights
        .iter()
        .enumerate()
        .map(|(sample, weight)| weight * dot(kernel.row(sample), weights) / 2.0 - weight.abs());
    products.sum()
}

/// The decisions on the training samples.
fn decisions(kernel: &Kernel, solution: &Solution) -> Vec<f64> {
    (0..kernel.len())
        .map(|sample| dot(kernel.row(sample), &solution.weights) + solution.intercept)
        .collect()
}

fn random_problem(seed: u64) -> (Kernel, Vec<bool>, f64) {
    let mut rng = Seed(seed).named("problem").rng();
    let (vectors, labels) = overlapping(rng.random_range(3..40), 2, seed);
    let is_positive = labels.iter().map(|&label| label == 0).collect();
    let kernel = if rng.random::<f64>() < 0.5 {
        Kernel::linear(&vectors)
    } else {
        Kernel::rbf(&vectors, 0.3)
    };
    (kernel, is_positive, 10.0_f64.powi(rng.random_range(-3..=2)))
}

#[test]
fn two_classes_have_the_reference_optimum() {
    let ((train, labels), test) = (reference::train(2), reference::test());
    let gamma = train.gamma_scale();
    // The reference counts class 1 as positive.
    let is_positive: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
    for case in &reference::BINARY_SVC {
        let (kernel, rows) = if case.is_rbf {
            (Kernel::rbf(&train, gamma), rbf_between(&test, &train, gamma))
        } else {
            let row = |one| train.rows().map(|other| dot(one, other)).collect();
            (Kernel::linear(&train), test.rows().map(row).collect())
        };
        let solution = solved(&kernel, &is_positive, case.c);
        let name = format!("rbf {}, C {}", case.is_rbf, case.c);
        assert!(
            (objective(&kernel, &solution.weights) - case.dual_objective).abs() < SINGLE,
            "{name}: {}",
            objective(&kernel, &solution.weights)
        );
        assert!(
            (solution.intercept - case.intercept).abs() < SINGLE,
            "{name}: {}",
            solution.intercept
        );
        let num_support = solution.weights.iter().filter(|weight| weight.abs() > 1e-8).count();
        assert_eq!(num_support, case.num_support, "{name}");
        let svc = Svc::fit_to(&kernel, &labels, case.c, EXACT);
        for (row, expected) in rows.iter().zip(case.decisions) {
            let found = dot(row, &solution.weights) + solution.intercept;
            assert!((found - expected).abs() < SINGLE, "{name}: {found} for {expected}");
            assert_eq!(svc.predict(row), u32::from(expected > 0.0));
        }
    }
}

#[test]
fn three_classes_have_the_reference_decisions_and_votes() {
    let ((train, labels), test) = (reference::train(3), reference::test());
    for case in &reference::MULTI_SVC {
        let gamma = train.gamma_scale();
        assert!((gamma - case.gamma).abs() < 1e-15);
        let rows = rbf_between(&test, &train, gamma);
        let exact = Svc::fit_to(&Kernel::rbf(&train, gamma), &labels, case.c, EXACT);
        let default = Svc::fit(&Kernel::rbf(&train, gamma), &labels, case.c);
        for ((row, expected), prediction) in rows.iter().zip(case.decisions).zip(case.predictions) {
            for (found, expected) in exact.decisions(row).into_iter().zip(expected) {
                assert!((found - expected).abs() < SINGLE, "{found} for {expected}");
            }
            for (found, expected) in default.decisions(row).into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 5e-3,
                    "{found} for {expected} at the default tolerance"
                );
            }
            assert_eq!([exact.predict(row), default.predict(row)], [prediction; 2]);
        }
    }
}

#[test]
fn primal_and_dual_objective_are_equal_at_the_optimum() {
    for seed in 0..200 {
        let (kernel, is_positive, c) = random_problem(seed);
        let solution = solved(&kernel, &is_positive, c);
        let found = decisions(&kernel, &solution);
        let without_intercept: Vec<f64> = found.iter().map(|decision| decision - solution.intercept).collect();
        let hinges = found
            .iter()
            .zip(&is_positive)
            .map(|(f, &positive)| (1.0 - if positive { *f } else { -f }).max(0.0));
        let primal = 0.5 * dot(&solution.weights, &without_intercept) + c * hinges.sum::<f64>();
        let scale = primal.abs().max(1e-3);
        assert!(
            (primal + objective(&kernel, &solution.weights)).abs() < 1e-6 * scale,
            "seed {seed}: {primal}, {}",
            objective(&kernel, &solution.weights)
        );
    }
}

#[test]
fn solutions_satisfy_the_optimality_conditions() {
    for seed in 0..200 {
        let (kernel, is_positive, c) = random_problem(seed);
        let solution = solved(&kernel, &is_positive, c);
        assert!(solution.weights.iter().sum::<f64>().abs() < 1e-9 * c.max(1.0));
        for ((decision, &weight), &positive) in decisions(&kernel, &solution).iter().zip(&solution.weights).zip(&is_positive) {
            let (margin, multiplier) = if positive { (*decision, weight) } else { (-decision, -weight) };
            assert!((0.0..=c).contains(&multiplier), "seed {seed}: {multiplier}");
            if multiplier < c {
                assert!(
                    margin > 1.0 - 1e-8,
                    "seed {seed}: a margin of {margin} needs a larger multiplier"
                );
            }
            if multiplier > 0.0 {
                assert!(margin < 1.0 + 1e-8, "seed {seed}: a margin of {margin} needs no multiplier");
            }
        }
    }
}

#[test]
fn no_point_of_a_grid_is_better_than_the_optimum() {
    // Three samples with multipliers a0 + a2 = a1, so two are free.
    let vectors = Vectors::new(vec![0.0, 0.7, 1.9], 1);
    let (kernel, signs, c) = (Kernel::rbf(&vectors, 1.0), [1.0, -1.0, 1.0], 0.8);
    let objective_at = |a: [f64; 3]| objective(&kernel, &[a[0] * signs[0], a[1] * signs[1], a[2] * signs[2]]);
    let steps = 400;
    let multiplier = |step: i32| c * f64::from(step) / f64::from(steps);
    let points = (0..=steps).flat_map(|one| (0..=steps - one).map(move |other| [one, one + other, other]));
    let best = points
        .map(|steps| objective_at(steps.map(multiplier)))
        .fold(f64::INFINITY, f64::min);
    let found = objective(&kernel, &solved(&kernel, &[true, false, true], c).weights);
    assert!(found <= best + 1e-12 && best - found < 1e-4, "{found}, {best}");
}

#[test]
fn two_points_have_the_solution_in_closed_form() {
    let kernel = Kernel::linear(&Vectors::new(vec![-1.0, 1.0], 1));
    // f(x) = w x. The margin is wide at w = 1, which needs multipliers of 1/2; a smaller C limits w to 2 C.
    for (c, slope) in [(10.0, 1.0), (0.5, 1.0), (0.2, 0.4)] {
        let solution = solved(&kernel, &[false, true], c);
        assert!((solution.weights[1] - slope / 2.0).abs() < 1e-12);
        assert!((solution.weights[0] + slope / 2.0).abs() < 1e-12);
        assert!(solution.intercept.abs() < 1e-12);
    }
}

#[test]
fn at_small_c_every_sample_has_the_largest_weight() {
    let (vectors, labels) = overlapping(20, 2, 1);
    let is_positive: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
    let solution = solved(&Kernel::rbf(&vectors, 0.5), &is_positive, 1e-4);
    for (weight, positive) in solution.weights.into_iter().zip(is_positive) {
        assert_eq!(weight, if positive { 1e-4 } else { -1e-4 });
    }
}

#[test]
fn equal_samples_of_both_classes_end_in_finite_weights() {
    let kernel = Kernel::rbf(&Vectors::new(vec![1.0; 10], 1), 1.0);
    let is_positive: Vec<bool> = (0..10).map(|sample| sample % 2 == 0).collect();
    let solution = solved(&kernel, &is_positive, 1e3);
    assert!(solution.weights.iter().all(|weight| weight.abs() <= 1e3));
    assert!(solution.intercept.abs() <= 1.0);
}

#[test]
fn the_order_of_samples_does_not_matter() {
    let (vectors, labels) = overlapping(60, 3, 2);
    let order: Vec<usize> = (0..60).map(|sample| sample * 23 % 60).collect();
    let kernel = Kernel::rbf(&vectors, 0.4);
    let svc = Svc::fit_to(&kernel, &labels, 10.0, EXACT);
    let reordered: Vec<u32> = order.iter().map(|&sample| labels[sample]).collect();
    let other = Svc::fit_to(&kernel.select(&order), &reordered, 10.0, EXACT);
    for sample in 0..60 {
        let row = kernel.row(sample);
        let reordered: Vec<f64> = order.iter().map(|&other| row[other]).collect();
        for (one, other) in svc.decisions(row).into_iter().zip(other.decisions(&reordered)) {
            assert!((one - other).abs() < 1e-7, "{one}, {other}");
        }
    }
}

#[test]
fn a_circle_of_votes_goes_to_the_lowest_class() {
    let machine = |pair, intercept| Machine {
        pair,
        support: Vec::new(),
        intercept,
    };
    // 4 beats 6, 6 beats 9, 9 beats 4.
    let svc = Svc {
        classes: vec![4, 6, 9],
        machines: vec![machine([0, 1], 1.0), machine([0, 2], -1.0), machine([1, 2], 1.0)],
    };
    assert_eq!(svc.predict(&[]), 4);
}

#[test]
fn a_single_class_is_always_predicted() {
    let vectors = Vectors::new(vec![1.0, 2.0], 1);
    assert_eq!(Svc::fit(&Kernel::linear(&vectors), &[7, 7], 1.0).predict(&[1.0, 2.0]), 7);
    assert_eq!(LinearSvc::fit(&vectors, &[7, 7], 1.0).predict(&[1.0]), 7);
}

#[test]
fn huge_labels_need_no_memory() {
    let vectors = Vectors::new(vec![-1.0, 1.0, 3.0], 1);
    let labels = [u32::MAX, 0, u32::MAX - 1];
    let svc = LinearSvc::fit(&vectors, &labels, 1e3);
    assert_eq!(svc.predict(&[-1.0]), u32::MAX);
    let svc = Svc::fit(&Kernel::rbf(&vectors, 1.0), &labels, 1e3);
    for (sample, label) in labels.into_iter().enumerate() {
        assert_eq!(svc.predict(Kernel::rbf(&vectors, 1.0).row(sample)), label);
    }
}

#[test]
fn an_interrupt_ends_the_training() {
    let (vectors, labels) = overlapping(60, 2, 3);
    let stop = Interrupt::when(|| true);
    assert!(Svc::fit_or_stop(&Kernel::linear(&vectors), &labels, 1.0, 1e-3, &stop).is_none());
    assert!(LinearSvc::fit_or_stop(&vectors, &labels, 1.0, 1e-3, &stop).is_none());
}
