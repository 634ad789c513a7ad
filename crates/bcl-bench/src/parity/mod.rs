//! Losses, gradients and weights against those of an independent implementation.
//!
//! A reference file holds views of batches, cases (an estimator, its parameters, its loss and its gradients in f64) and rows of scores
//! with their Bayesian weights. [`compare`] computes all of it again, in each precision asked for, and says how far each estimator is
//! off. Nothing is assumed about which shapes, parameters or how many cases there are.
//!
//! Errors are relative: of a loss or an `Ng` to itself, of a gradient to the largest entry of its array. Where the file only has a digest
//! of a gradient, its norm is compared to itself, its first entries to the largest entry, its probes to the norm. A difference below
//! 1e-12 passes whatever its relative size. In f32 a case may also be beyond its tolerance because its similarities are rounded: if what
//! the estimator adds to that is within the tolerance or smaller than the rounding, the case counts as `rounded`, and the report lists it.

mod arrays;
mod case;
mod compute;
mod deviation;
mod error;
mod golden;
mod judge;
mod named;
mod precision;
mod report;
mod weight_row;
mod weights;

pub use error::ParityError;
pub use golden::Golden;
pub use precision::Precision;
pub use report::{EstimatorRow, Excess, Report, WeightsRow};

use bcl_train::backend::Backend;
use case::Case;
use judge::{Deviations, Verdict};
use precision::Arithmetic;
use std::path::Path;

/// Compares everything in a reference file on a backend, in precisions that it has; `file` is only its name in the report.
pub fn compare(golden: &Golden, file: &Path, precisions: &[Precision], backend: &Backend) -> Report {
    let mut report = Report::new(file, backend.info());
    for &precision in precisions {
        let device = backend.device();
        let arithmetic = Arithmetic { precision, device };
        for case in &golden.cases {
            compare_case(golden, case, &arithmetic, &mut report);
        }
        for row in &golden.weights {
            weights::compare(row, &arithmetic, &mut report);
        }
    }
    report
}

fn compare_case(golden: &Golden, case: &Case, arithmetic: &Arithmetic, report: &mut Report) {
    let precision = arithmetic.precision;
    let views = &golden.views[&case.shape];
    let computed = compute::compute(case, views, arithmetic);
    let found = Deviations::of(&computed, case, views, precision);
    let verdict = judge::judge(case, views, arithmetic, &computed, &found);

    let tolerance = precision.tolerance(&case.config);
    for (quantity, deviation) in found.beyond(tolerance) {
        let excess = Excess::new(precision, format!("case {}", case.id), quantity, deviation, tolerance);
        report.note(excess, verdict);
    }
    let row = report.estimator(precision, named::display_name(&case.config), tolerance);
    row.cases += 1;
    row.rounded += usize::from(verdict == Verdict::Rounded);
    row.failed += usize::from(verdict == Verdict::Failed);
    row.loss = row.loss.max(found.loss.relative);
    row.gradient = row.gradient.max(found.gradient.relative);
    if let Some(mass) = found.negative_mass {
        row.negative_mass = Some(row.negative_mass.unwrap_or(0.0).max(mass.relative));
    }
}
