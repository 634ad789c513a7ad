//! Compares losses, gradients and weights with an independent implementation.
//!
//! A reference file contains views of batches, cases (an estimator, its parameters, its loss and its gradients in f64) and rows
//! of scores with their Bayesian weights. [`compare`] computes all of it again in the requested precisions, and reports how far
//! off each estimator is. The file may contain any shapes, any parameters and any number of cases.
//!
//! Errors are relative: of a loss or an `Ng` to itself, of a gradient to the largest entry of its array. If the file only has a
//! summary of a gradient, its norm is compared to itself, its first entries to the largest entry, and its probes to the norm.
//! Differences below 1e-12 always pass. In f32, a case may also exceed its tolerance because its similarities are rounded: if
//! the estimator's own error is within the tolerance or smaller than the effect of the rounding, the case counts as `rounded`,
//! and the result lists it.

mod compute;
pub mod frameworks;
mod golden;
pub mod graphs;
mod precision;
mod result;
mod verdict;
mod weights;

pub use bcl_golden::GoldenError;
pub use golden::Golden;
pub use precision::Precision;
pub use result::{Excess, Kind, LeftOut, ParityResult, Row};

use bcl_backend::Backend;
use golden::Case;
use precision::Arithmetic;
use std::path::Path;
use verdict::Verdict;

/// Compares everything in a reference file on a backend, in precisions that it supports. `file` is only the name in the result.
pub fn compare(golden: &Golden, file: &Path, precisions: &[Precision], backend: &Backend) -> ParityResult {
    let mut result = ParityResult::new(file, backend.info());
    for &precision in precisions {
        let device = backend.device();
        let arithmetic = Arithmetic { precision, device };
        for case in &golden.cases {
            compare_case(golden, case, &arithmetic, &mut result);
        }
        for (row, posterior) in &golden.weights {
            weights::compare(row, posterior, &arithmetic, &mut result);
        }
    }
    result
}

fn compare_case(golden: &Golden, case: &Case, arithmetic: &Arithmetic, result: &mut ParityResult) {
    let precision = arithmetic.precision;
    let views = &golden.views[&case.reference.shape];
    let computed = compute::compute(case, views, arithmetic);
    let found = verdict::quantities(&computed, case, views, precision);
    let verdict = verdict::of_case(case, views, arithmetic, &computed, &found);
    let name = golden::display_name(&case.config);
    let row = (Kind::Estimator, precision, &*name);
    result.record(
        row,
        &format!("case {}", case.reference.id),
        &found,
        verdict == Verdict::Rounded,
    );
}
