//! Linear machines against reference values, solutions in closed form and their own objective.

use super::*;
use crate::graphs::{planted::overlapping, reference};
use bcl_data::Seed;
use rand::{Rng, RngExt};

#[test]
fn linear_machines_have_the_reference_weights() {
    for case in &reference::LINEAR_SVC {
        let (train, labels) = reference::train(case.num_classes);
        let exact = LinearSvc::fit_to(&train, &labels, case.c, 1e-12);
        let default = LinearSvc::fit(&train, &labels, case.c);
        assert_eq!(exact.machines.len(), case.parameters.len());
        for (machines, tolerance) in [(&exact.machines, 1e-7), (&default.machines, 1e-5)] {
            for (found, expected) in machines.iter().flatten().zip(case.parameters.iter().flatten()) {
                assert!((found - expected).abs() < tolerance, "C {}: {found} for {expected}", case.c);
            }
        }
    }
}

#[test]
fn a_linear_machine_of_two_points_has_the_solution_in_closed_form() {
    // w minimises w² / 2 + 2 C (1 - w)².
    for c in [1e-3, 1.0, 1e3] {
        let svc = LinearSvc::fit_to(&Vectors::new(vec![-1.0, 1.0], 1), &[0, 1], c, 1e-10);
        assert!((svc.machines[0][0] - 4.0 * c / (1.0 + 4.0 * c)).abs() < 1e-9);
        assert!(svc.machines[0][1].abs() < 1e-9);
    }
}

#[test]
fn no_small_step_improves_a_linear_machine() {
    for seed in 0..50 {
        let mut rng = Seed(seed).named("steps").rng();
        let (vectors, labels) = overlapping(40, 2, seed);
        let c = 10.0_f64.powi(rng.random_range(-3..=3));
        let svc = LinearSvc::fit_to(&vectors, &labels, c, 1e-12);
        // Written out again from the definition.
        let objective = |w: &[f64]| {
            let hinge = |(row, label): (&[f64], &u32)| {
                let decision: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + w[4];
                (1.0 - if *label == 1 { decision } else { -decision }).max(0.0).powi(2)
            };
            w.iter().map(|w| w * w).sum::<f64>() / 2.0 + c * vectors.rows().zip(&labels).map(hinge).sum::<f64>()
        };
        let best = objective(&svc.machines[0]);
        for _ in 0..100 {
            let length = 10.0_f64.powi(rng.random_range(-6..=0));
            let moved: Vec<f64> = svc.machines[0].iter().map(|w| w + length * normal(&mut rng)).collect();
            assert!(objective(&moved) > best - 1e-12 * best, "seed {seed}, C {c}");
        }
    }
}

#[test]
fn collinear_columns_and_a_large_c_still_converge() {
    let (vectors, labels) = overlapping(60, 2, 4);
    // Each column a second time, a million times smaller but for a tiny part of its own.
    let doubled = vectors.rows().enumerate().flat_map(|(sample, row)| {
        let shadow = row.iter().map(move |value| value * (1.0 + 1e-6 * (sample % 7) as f64));
        row.iter().copied().chain(shadow).collect::<Vec<_>>()
    });
    let doubled = Vectors::new(doubled.collect(), 8);
    let svc = LinearSvc::fit_to(&doubled, &labels, 1e3, 1e-8);
    let hits = doubled
        .rows()
        .zip(&labels)
        .filter(|(row, label)| svc.predict(row) == **label)
        .count();
    let plain = LinearSvc::fit_to(&vectors, &labels, 2e3, 1e-8);
    let expected = vectors
        .rows()
        .zip(&labels)
        .filter(|(row, label)| plain.predict(row) == **label)
        .count();
    assert!(hits.abs_diff(expected) <= 1, "{hits}, {expected}");
}

fn normal(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}
