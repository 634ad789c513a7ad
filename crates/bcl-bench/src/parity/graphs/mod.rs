//! Compares graph encoders, losses of nodes against graphs, and both together with an independent implementation.
//!
//! Errors are relative to the largest entry of an array, and absolute where the reference is all zeros: a bias before batch normalisation
//! has no gradient in train mode.

mod encoders;
mod gradients;
mod losses;
mod modules;

use super::{
    precision::{Arithmetic, Precision},
    result::{GRADIENT, OUTPUT, ParityResult, Quantity},
};
use bcl_backend::Backend;
use bcl_golden::{Deviation, GoldenError, Gradient, GraphFile};
use std::path::Path;

/// The largest relative errors; `PyTorch` in f32 stays within a tenth of these.
struct Tolerances {
    forward: f64,
    gradient: f64,
    loss: f64,
    official: f64,
    pipeline: f64,
    /// Where the reference is all zeros: the largest absolute error.
    zero: f64,
}

impl Tolerances {
    fn of(precision: Precision) -> Self {
        match precision {
            Precision::F64 => Self {
                forward: 1e-9,
                gradient: 1e-9,
                loss: 1e-9,
                official: 1e-9,
                pipeline: 1e-9,
                zero: 1e-12,
            },
            Precision::F32 => Self {
                forward: 5e-6,
                gradient: 1e-4,
                loss: 1e-5,
                official: 5e-5,
                pipeline: 5e-5,
                zero: 1e-5,
            },
        }
    }
}

/// Compares everything in a file on a backend, in precisions that it supports. `name` is only the name in the result.
///
/// # Errors
/// Returns an error that names the case if something in the file is missing or wrong.
pub fn compare(file: &GraphFile, name: &Path, precisions: &[Precision], backend: &Backend) -> Result<ParityResult, GoldenError> {
    let mut result = ParityResult::new(name, backend.info());
    for &precision in precisions {
        let arithmetic = Arithmetic {
            precision,
            device: backend.training_device(),
        };
        for case in &file.encoders {
            encoders::compare(file, case, &arithmetic, &mut result).map_err(|problem| file.error(&case.id, problem))?;
        }
        for case in &file.cases {
            losses::compare(file, case, &arithmetic, &mut result).map_err(|problem| file.error(&case.id, problem))?;
        }
        for pipeline in &file.pipelines {
            losses::compare_pipeline(file, pipeline, &arithmetic, &mut result)
                .map_err(|problem| file.error(&pipeline.id, problem))?;
        }
    }
    Ok(result)
}

fn output(name: impl Into<String>, found: &[f64], expected: &[f64], tolerance: f64) -> Quantity {
    Quantity::new(name, OUTPUT, Deviation::of_array(found, expected), tolerance)
}

fn gradient(name: &str, found: &[f64], expected: &Gradient, tolerance: f64, tolerances: &Tolerances) -> Quantity {
    let deviation = Deviation::of_gradient(found, expected);
    let is_zero = matches!(expected, Gradient::Full(values) if values.iter().all(|&value| value == 0.0));
    let (relative, tolerance) = if is_zero {
        (deviation.absolute, tolerances.zero)
    } else {
        (deviation.relative, tolerance)
    };
    let deviation = Deviation { relative, ..deviation };
    Quantity::new(format!("gradient of {name}"), GRADIENT, deviation, tolerance)
}
