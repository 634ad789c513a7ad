//! The result of a comparison, as tables and as JSON.

use super::precision::Precision;
use bcl_backend::DeviceInfo;
use bcl_golden::Deviation;
use bcl_report::{Column, Table};
use serde::Serialize;
use std::{fmt, path::Path};

/// The result of comparing one file.
#[derive(Debug, Serialize)]
pub struct ParityResult {
    /// Name of the file.
    pub file: String,
    /// Backend that computed.
    pub backend: String,
    /// Device that computed.
    pub device: String,
    /// Whether everything that was computed is within its tolerance.
    pub passed: bool,
    /// One row per table, precision and name.
    pub rows: Vec<Row>,
    /// All values beyond their tolerance, except those in `rounded`.
    pub failures: Vec<Excess>,
    /// Values beyond their tolerance only because f32 rounds similarities.
    pub rounded: Vec<Excess>,
    /// What was not computed.
    pub left_out: Vec<LeftOut>,
}

/// A table of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Estimators on scores; the cases of a row share a tolerance.
    Estimator,
    /// Rows of weights, by the column of the file and the code path that computed it.
    Weights,
    /// Losses of frameworks and of graph encoders; in f32, each case has its own tolerance.
    Loss,
    /// States over several steps.
    State,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Estimator, Self::Weights, Self::Loss, Self::State];

    /// The headers of the names, of the counts and of the largest errors.
    fn header(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Estimator => ("estimator", "cases", &["loss", "gradient", "Ng"]),
            Self::Weights => ("weights", "rows", &["worst"]),
            Self::Loss => ("loss", "cases", &["value", "gradient", "other results"]),
            Self::State => ("state", "traces", &["worst"]),
        }
    }
}

/// All cases of one name.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its table.
    pub table: Kind,
    /// Precision of the computation.
    pub precision: Precision,
    /// What was computed.
    pub name: String,
    /// Number of cases.
    pub cases: usize,
    /// Number of cases beyond the tolerance only because their similarities are rounded.
    pub rounded: usize,
    /// Number of other cases beyond their tolerance.
    pub failed: usize,
    /// Largest relative errors, in the order of the table's columns; `None` if there is nothing to compare.
    pub errors: Vec<Option<f64>>,
    /// Largest tolerance of a case.
    pub tolerance: f64,
}

/// A value beyond its tolerance.
#[derive(Debug, Serialize)]
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

/// A case or a trace that was not computed.
#[derive(Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// Precisions in which it was not computed.
    pub precisions: Vec<Precision>,
    /// The case or trace.
    pub place: String,
    /// The reason.
    pub reason: String,
}

/// A number or array of a case that was compared.
pub(super) struct Quantity {
    pub(super) name: String,
    /// The column of its error.
    pub(super) column: usize,
    pub(super) deviation: Deviation,
    pub(super) tolerance: f64,
}

/// Columns of losses.
pub(super) const VALUE: usize = 0;
pub(super) const GRADIENT: usize = 1;
pub(super) const OUTPUT: usize = 2;

impl Quantity {
    pub(super) fn new(name: impl Into<String>, column: usize, deviation: Deviation, tolerance: f64) -> Self {
        Self {
            name: name.into(),
            column,
            deviation,
            tolerance,
        }
    }

    pub(super) fn is_within(&self) -> bool {
        self.deviation.within(self.tolerance)
    }
}

impl ParityResult {
    pub(super) fn new(file: &Path, device: &DeviceInfo) -> Self {
        Self {
            file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            backend: device.backend.to_owned(),
            device: device.name.clone(),
            passed: true,
            rows: Vec::new(),
            failures: Vec::new(),
            rounded: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Adds a case to the row of its name, and all that is beyond its tolerance to the failures, or to what rounding explains.
    pub(super) fn record(
        &mut self,
        (table, precision, name): (Kind, Precision, &str),
        place: &str,
        quantities: &[Quantity],
        is_rounded: bool,
    ) {
        let beyond = quantities
            .iter()
            .filter(|quantity| !quantity.is_within())
            .map(|quantity| Excess {
                precision,
                place: place.to_owned(),
                quantity: quantity.name.clone(),
                relative_error: quantity.deviation.relative,
                tolerance: quantity.tolerance,
            });
        let beyond: Vec<Excess> = beyond.collect();
        let failed = !beyond.is_empty() && !is_rounded;
        if is_rounded {
            self.rounded.extend(beyond);
        } else {
            self.failures.extend(beyond);
        }
        self.passed &= !failed;
        let tolerance = quantities.iter().map(|quantity| quantity.tolerance).fold(0.0, f64::max);
        let known = |row: &Row| {
            let is_same = (row.table, row.precision, &*row.name) == (table, precision, name);
            is_same && (table != Kind::Estimator || row.tolerance == tolerance)
        };
        let row = found_or_new(&mut self.rows, known, || Row {
            table,
            precision,
            name: name.to_owned(),
            cases: 0,
            rounded: 0,
            failed: 0,
            errors: vec![None; table.header().2.len()],
            tolerance,
        });
        row.cases += 1;
        row.failed += usize::from(failed);
        row.rounded += usize::from(is_rounded);
        row.tolerance = row.tolerance.max(tolerance);
        for Quantity { column, deviation, .. } in quantities {
            let worst = row.errors[*column].get_or_insert(0.0);
            *worst = worst.max(deviation.relative);
        }
    }

    /// Records what was not computed, once for all precisions with the same reason.
    pub(super) fn leave_out(&mut self, precision: Precision, place: String, reason: String) {
        let known = |left_out: &LeftOut| left_out.place == place && left_out.reason == reason;
        let new = || LeftOut {
            precisions: Vec::new(),
            place: place.clone(),
            reason: reason.clone(),
        };
        found_or_new(&mut self.left_out, known, new).precisions.push(precision);
    }
}

/// The entry that is known, or a new one at the end.
fn found_or_new<T>(entries: &mut Vec<T>, known: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let index = entries.iter().position(known).unwrap_or_else(|| {
        entries.push(new());
        entries.len() - 1
    });
    &mut entries[index]
}

/// Number of failures printed; the JSON lists all.
const SHOWN: usize = 20;

impl fmt::Display for ParityResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in Kind::ALL {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.table == kind).collect();
            if !rows.is_empty() {
                let (name, count, errors) = kind.header();
                let rounded = (kind == Kind::Estimator).then_some("rounded");
                let numbers = [count]
                    .into_iter()
                    .chain(errors.iter().copied())
                    .chain(["tolerance"])
                    .chain(rounded);
                let names = ["dtype", name].map(Column::text).into_iter();
                let columns = names.chain(numbers.map(Column::number)).chain([Column::text("result")]);
                Table::new(columns, rows.into_iter().map(Row::cells)).fmt(f)?;
                writeln!(f)?;
            }
        }
        for rounded in &self.rounded {
            writeln!(f, "{rounded}; the rounding of its similarities to f32 explains it")?;
        }
        for LeftOut {
            precisions,
            place,
            reason,
        } in &self.left_out
        {
            let precisions: Vec<_> = precisions.iter().map(|precision| precision.name()).collect();
            writeln!(f, "{place} ({}) is not computed: {reason}", precisions.join(", "))?;
        }
        for failure in self.failures.iter().take(SHOWN) {
            writeln!(f, "{failure}")?;
        }
        if self.failures.len() > SHOWN {
            writeln!(f, "… and {} more failures; --json lists all", self.failures.len() - SHOWN)?;
        }
        let verdict = match (self.passed, self.left_out.len()) {
            (true, 0) => "all within tolerance".to_owned(),
            (true, count) => format!("all that was computed is within tolerance, {count} not computed"),
            (false, _) => "NOT within tolerance".to_owned(),
        };
        writeln!(
            f,
            "{} on {} ({}): {verdict}. The tables show the largest relative errors and tolerances;",
            self.file, self.backend, self.device
        )?;
        write!(f, "absolute differences below 1e-12 always pass.")
    }
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

impl Row {
    fn cells(&self) -> Vec<String> {
        let scientific = |value: f64| format!("{value:.1e}");
        let errors = self
            .errors
            .iter()
            .map(|error| error.map_or_else(|| "-".to_owned(), scientific));
        let rounded = (self.table == Kind::Estimator).then(|| self.rounded.to_string());
        let verdict = match self.failed {
            0 => "pass".to_owned(),
            failed => format!("{failed} FAIL"),
        };
        let names = [
            self.precision.name().to_owned(),
            self.name.replace('_', " "),
            self.cases.to_string(),
        ];
        let ends = [scientific(self.tolerance)].into_iter().chain(rounded).chain([verdict]);
        names.into_iter().chain(errors).chain(ends).collect()
    }
}
