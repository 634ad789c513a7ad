//! The largest deviations of several ranks from one, as a table.

use std::collections::BTreeMap;

/// The larger of two deviations. NaN counts as infinitely far away; `f64::max` would drop it.
pub(crate) fn larger(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() {
        f64::INFINITY
    } else {
        one.max(other)
    }
}

/// The largest deviation of each row, such as an estimator, in each column, such as `3 ranks, f64`.
#[derive(Debug, Default)]
pub(crate) struct Deviations {
    columns: Vec<String>,
    rows: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Deviations {
    pub(crate) fn add(&mut self, row: &str, column: &str, deviation: f64) {
        if !self.columns.iter().any(|name| name == column) {
            self.columns.push(column.to_owned());
        }
        let largest = self
            .rows
            .entry(row.to_owned())
            .or_default()
            .entry(column.to_owned())
            .or_default();
        *largest = larger(*largest, deviation);
    }

    /// Prints Markdown, which `cargo test -- --nocapture` shows.
    pub(crate) fn print(&self, heading: &str) {
        let mut lines = vec![
            format!("| {heading} | {} |", self.columns.join(" | ")),
            format!("|{}", " --- |".repeat(self.columns.len() + 1)),
        ];
        for (row, of_row) in &self.rows {
            let cells = self
                .columns
                .iter()
                .map(|column| of_row.get(column).map_or_else(String::new, |found| format!("{found:.1e}")));
            lines.push(format!("| {row} | {} |", cells.collect::<Vec<_>>().join(" | ")));
        }
        // In one piece: other tests print, too.
        println!("\n{}\n", lines.join("\n"));
    }
}
