//! The result of a comparison, as tables and as JSON.

use super::{precision::Precision, verdict::Verdict};
use bcl_backend::DeviceInfo;
use bcl_golden::Deviation;
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::{fmt, path::Path};

/// The result of comparing one file.
#[derive(Debug, Serialize, Deserialize)]
pub struct ParityResult {
    /// Name of the file.
    pub file: String,
    /// Backend that computed.
    pub backend: String,
    /// Device that computed.
    pub device: String,
    /// Whether everything is within its tolerance.
    pub passed: bool,
    /// One row per precision and estimator.
    pub estimators: Vec<EstimatorRow>,
    /// One row per precision and column of the weight rows.
    pub weights: Vec<WeightsRow>,
    /// All values beyond their tolerance, except those in `rounded`.
    pub failures: Vec<Excess>,
    /// Values beyond their tolerance only because f32 rounds similarities.
    pub rounded: Vec<Excess>,
}

/// All cases of one estimator that share a tolerance.
#[derive(Debug, Serialize, Deserialize)]
pub struct EstimatorRow {
    /// Precision of the computation.
    pub precision: Precision,
    /// Name of the estimator.
    pub estimator: String,
    /// Allowed relative error.
    pub tolerance: f64,
    /// Number of cases.
    pub cases: usize,
    /// Number of cases beyond the tolerance only because their similarities are rounded.
    pub rounded: usize,
    /// Number of other cases beyond the tolerance.
    pub failed: usize,
    /// Largest relative error of a loss.
    pub loss: f64,
    /// Largest relative error of a gradient.
    pub gradient: f64,
    /// Largest relative error of an `Ng`, which is only compared in f64.
    pub negative_mass: Option<f64>,
}

/// All rows of weights, for one column of the file.
#[derive(Debug, Serialize, Deserialize)]
pub struct WeightsRow {
    /// Precision of the computation.
    pub precision: Precision,
    /// The column, and the code path that computed it.
    pub column: String,
    /// Allowed relative error.
    pub tolerance: f64,
    /// Number of rows.
    pub rows: usize,
    /// Number of rows beyond the tolerance.
    pub failed: usize,
    /// Largest relative error.
    pub worst: f64,
}

/// A value beyond its tolerance.
#[derive(Debug, Serialize, Deserialize)]
pub struct Excess {
    /// Precision of the computation.
    pub precision: Precision,
    /// The case or row.
    pub place: String,
    /// The quantity that is off.
    pub quantity: String,
    /// Relative error found.
    pub relative_error: f64,
    /// Allowed relative error.
    pub tolerance: f64,
}

impl ParityResult {
    pub(super) fn new(file: &Path, device: &DeviceInfo) -> Self {
        Self {
            file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            backend: device.backend.to_owned(),
            device: device.name.clone(),
            passed: true,
            estimators: Vec::new(),
            weights: Vec::new(),
            failures: Vec::new(),
            rounded: Vec::new(),
        }
    }

    /// The row of an estimator at a tolerance, created on first use.
    pub(super) fn estimator(&mut self, precision: Precision, estimator: String, tolerance: f64) -> &mut EstimatorRow {
        let known = self
            .estimators
            .iter()
            .position(|row| row.precision == precision && row.estimator == estimator && row.tolerance == tolerance);
        let index = known.unwrap_or_else(|| {
            self.estimators.push(EstimatorRow {
                precision,
                estimator,
                tolerance,
                cases: 0,
                rounded: 0,
                failed: 0,
                loss: 0.0,
                gradient: 0.0,
                negative_mass: None,
            });
            self.estimators.len() - 1
        });
        &mut self.estimators[index]
    }

    /// The row of a column of weights, created on first use.
    pub(super) fn weights(&mut self, precision: Precision, column: &'static str) -> &mut WeightsRow {
        let known = self
            .weights
            .iter()
            .position(|row| row.precision == precision && row.column == column);
        let index = known.unwrap_or_else(|| {
            self.weights.push(WeightsRow {
                precision,
                column: column.to_owned(),
                tolerance: precision.weight_tolerance(),
                rows: 0,
                failed: 0,
                worst: 0.0,
            });
            self.weights.len() - 1
        });
        &mut self.weights[index]
    }

    /// Records a value beyond its tolerance.
    pub(super) fn note(&mut self, excess: Excess, verdict: Verdict) {
        if verdict == Verdict::Rounded {
            self.rounded.push(excess);
        } else {
            self.passed = false;
            self.failures.push(excess);
        }
    }
}

impl Excess {
    pub(super) fn new(
        precision: Precision,
        place: String,
        quantity: impl Into<String>,
        deviation: Deviation,
        tolerance: f64,
    ) -> Self {
        Self {
            precision,
            place,
            quantity: quantity.into(),
            relative_error: deviation.relative,
            tolerance,
        }
    }
}

/// Number of failures printed; the JSON lists all.
const SHOWN: usize = 20;

impl fmt::Display for ParityResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.estimators.is_empty() {
            let numbers = ["cases", "loss", "gradient", "Ng", "tolerance", "rounded"];
            let columns = columns("estimator", &numbers);
            Table::new(columns, self.estimators.iter().map(EstimatorRow::cells)).fmt(f)?;
            writeln!(f)?;
        }
        if !self.weights.is_empty() {
            let columns = columns("weights", &["rows", "worst", "tolerance"]);
            Table::new(columns, self.weights.iter().map(WeightsRow::cells)).fmt(f)?;
            writeln!(f)?;
        }
        for rounded in &self.rounded {
            writeln!(f, "{rounded}; the rounding of its similarities to f32 explains it")?;
        }
        write_failures(f, &self.failures)?;
        let verdict = if self.passed {
            "all within tolerance"
        } else {
            "NOT within tolerance"
        };
        writeln!(
            f,
            "{} on {} ({}): {verdict}. The tables show the largest relative errors;",
            self.file, self.backend, self.device
        )?;
        write!(f, "absolute differences below 1e-12 always pass.")
    }
}

/// Writes the first failures, one per line.
pub(super) fn write_failures(f: &mut fmt::Formatter<'_>, failures: &[Excess]) -> fmt::Result {
    for failure in failures.iter().take(SHOWN) {
        writeln!(f, "{failure}")?;
    }
    if failures.len() > SHOWN {
        writeln!(f, "… and {} more failures; --json lists all", failures.len() - SHOWN)?;
    }
    Ok(())
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            precision,
            place,
            quantity,
            relative_error,
            tolerance,
        } = self;
        write!(
            f,
            "{place}, {}: the {quantity} is off by {relative_error:.1e}, more than {tolerance:.1e}",
            precision.name()
        )
    }
}

impl EstimatorRow {
    fn cells(&self) -> Vec<String> {
        vec![
            self.precision.name().to_owned(),
            self.estimator.clone(),
            self.cases.to_string(),
            scientific(self.loss),
            scientific(self.gradient),
            self.negative_mass.map_or_else(|| "-".to_owned(), scientific),
            scientific(self.tolerance),
            self.rounded.to_string(),
            verdict(self.failed),
        ]
    }
}

impl WeightsRow {
    fn cells(&self) -> Vec<String> {
        vec![
            self.precision.name().to_owned(),
            self.column.clone(),
            self.rows.to_string(),
            scientific(self.worst),
            scientific(self.tolerance),
            verdict(self.failed),
        ]
    }
}

/// The columns of a table: precision, name, numbers and the result.
pub(super) fn columns(name: &str, numbers: &[&str]) -> Vec<Column> {
    let names = ["dtype", name].map(Column::text);
    let numbers = numbers.iter().copied().map(Column::number);
    names.into_iter().chain(numbers).chain([Column::text("result")]).collect()
}

pub(super) fn scientific(value: f64) -> String {
    format!("{value:.1e}")
}

pub(super) fn verdict(failed: usize) -> String {
    if failed == 0 {
        "pass".to_owned()
    } else {
        format!("{failed} FAIL")
    }
}
