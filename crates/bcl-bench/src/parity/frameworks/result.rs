//! The result of a comparison, as tables and as JSON.

use super::super::{
    precision::Precision,
    result::{Excess, columns, scientific, verdict, write_failures},
};
use bcl_backend::DeviceInfo;
use bcl_report::Table;
use serde::{Deserialize, Serialize};
use std::{fmt, path::Path};

/// The result of comparing one file, of frameworks or of graphs.
#[derive(Debug, Serialize, Deserialize)]
pub struct FrameworksResult {
    /// Name of the file.
    pub file: String,
    /// Backend that computed.
    pub backend: String,
    /// Device that computed.
    pub device: String,
    /// Whether everything that was computed is within its tolerance.
    pub passed: bool,
    /// One row per precision and kind of loss.
    pub losses: Vec<LossRow>,
    /// One row per precision and kind of state.
    pub states: Vec<StateRow>,
    /// All values beyond their tolerance.
    pub failures: Vec<Excess>,
    /// What was not computed.
    pub left_out: Vec<LeftOut>,
}

/// All cases of one kind of loss.
#[derive(Debug, Serialize, Deserialize)]
pub struct LossRow {
    /// Precision of the computation.
    pub precision: Precision,
    /// Kind of loss.
    pub loss: String,
    /// Number of cases.
    pub cases: usize,
    /// Number of cases beyond their tolerance.
    pub failed: usize,
    /// Largest relative error of a loss.
    pub value: f64,
    /// Largest relative error of a further result, if there is any.
    pub outputs: Option<f64>,
    /// Largest relative error of a gradient.
    pub gradient: f64,
    /// Largest tolerance of a case; in f32, each has its own.
    pub tolerance: f64,
}

/// All traces of one kind of state.
#[derive(Debug, Serialize, Deserialize)]
pub struct StateRow {
    /// Precision of the computation.
    pub precision: Precision,
    /// Kind of state.
    pub state: String,
    /// Number of traces.
    pub traces: usize,
    /// Number of traces beyond the tolerance.
    pub failed: usize,
    /// Largest relative error.
    pub worst: f64,
    /// Allowed relative error.
    pub tolerance: f64,
}

/// A case or a trace that was not computed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Precisions in which it was not computed.
    pub precisions: Vec<Precision>,
    /// The case or trace.
    pub place: String,
    /// The reason.
    pub reason: String,
}

impl FrameworksResult {
    pub(in super::super) fn new(file: &Path, device: &DeviceInfo) -> Self {
        Self {
            file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            backend: device.backend.to_owned(),
            device: device.name.clone(),
            passed: true,
            losses: Vec::new(),
            states: Vec::new(),
            failures: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// The row of a kind of loss, created on first use.
    pub(super) fn loss(&mut self, precision: Precision, loss: &str) -> &mut LossRow {
        let known = |row: &LossRow| row.precision == precision && row.loss == loss;
        let new = || LossRow {
            precision,
            loss: loss.to_owned(),
            cases: 0,
            failed: 0,
            value: 0.0,
            outputs: None,
            gradient: 0.0,
            tolerance: 0.0,
        };
        found_or_new(&mut self.losses, known, new)
    }

    /// The row of a kind of state, created on first use.
    pub(super) fn state(&mut self, precision: Precision, state: &str, tolerance: f64) -> &mut StateRow {
        let known = |row: &StateRow| row.precision == precision && row.state == state;
        let new = || StateRow {
            precision,
            state: state.to_owned(),
            traces: 0,
            failed: 0,
            worst: 0.0,
            tolerance,
        };
        found_or_new(&mut self.states, known, new)
    }

    /// Records a value beyond its tolerance.
    pub(super) fn fail(&mut self, excess: Excess) {
        self.passed = false;
        self.failures.push(excess);
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

impl fmt::Display for FrameworksResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.losses.is_empty() {
            let columns = columns("loss", &["cases", "value", "gradient", "other results", "tolerance"]);
            Table::new(columns, self.losses.iter().map(LossRow::cells)).fmt(f)?;
            writeln!(f)?;
        }
        if !self.states.is_empty() {
            let columns = columns("state", &["traces", "worst", "tolerance"]);
            Table::new(columns, self.states.iter().map(StateRow::cells)).fmt(f)?;
            writeln!(f)?;
        }
        for left_out in &self.left_out {
            writeln!(f, "{left_out}")?;
        }
        write_failures(f, &self.failures)?;
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

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precisions: Vec<_> = self.precisions.iter().map(|precision| precision.name()).collect();
        write!(
            f,
            "{} ({}) is not computed: {}",
            self.place,
            precisions.join(", "),
            self.reason
        )
    }
}

impl LossRow {
    fn cells(&self) -> Vec<String> {
        vec![
            self.precision.name().to_owned(),
            self.loss.replace('_', " "),
            self.cases.to_string(),
            scientific(self.value),
            scientific(self.gradient),
            self.outputs.map_or_else(|| "-".to_owned(), scientific),
            scientific(self.tolerance),
            verdict(self.failed),
        ]
    }
}

impl StateRow {
    fn cells(&self) -> Vec<String> {
        vec![
            self.precision.name().to_owned(),
            self.state.replace('_', " "),
            self.traces.to_string(),
            scientific(self.worst),
            scientific(self.tolerance),
            verdict(self.failed),
        ]
    }
}
