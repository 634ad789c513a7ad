//! Times of search as a table and as JSON.

use super::alternatives::Method;
use crate::{Spread, environment::Environment};
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchBenchmark {
    /// Machine and build.
    pub environment: Environment,
    /// Cosine from which two vectors are near-duplicates.
    pub threshold: f32,
    /// Number of rounds.
    pub rounds: usize,
    /// One entry per size and method.
    pub measurements: Vec<SearchMeasurement>,
}

/// The time of a method at a size.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchMeasurement {
    /// Number of vectors.
    pub rows: usize,
    /// Number of values per vector.
    pub dim: usize,
    /// The method.
    pub method: Method,
    /// Time in seconds, over the rounds; scaled up if fewer vectors were measured.
    pub seconds: Spread,
    /// Time divided by the time of the program's own method, per round.
    pub ratio: Spread,
    /// Most memory beside the vectors in MiB, if the system reports it; `None` for scaled times.
    pub extra_mib: Option<f64>,
    /// Number of vectors that were measured.
    pub measured: usize,
    /// Share of the near-duplicates of sampled vectors that were found.
    pub recall: Option<f64>,
}

impl fmt::Display for SearchBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = ["vectors", "values"].map(Column::number);
        let results = ["seconds", "ratio", "least", "most", "MiB", "recall"].map(Column::number);
        let columns = numbers
            .into_iter()
            .chain([Column::text("method")])
            .chain(results)
            .chain([Column::text("measured")]);
        Table::new(columns, self.measurements.iter().map(SearchMeasurement::cells)).fmt(f)?;
        write!(
            f,
            "\nMedians of {} rounds; the ratio is the time divided by the time of the program's own method in the same round. Near-duplicates have a \
             cosine of {} or more. {}, {} threads; loops have one.",
            self.rounds, self.threshold, self.environment, self.environment.threads
        )
    }
}

impl SearchMeasurement {
    fn cells(&self) -> Vec<String> {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let Spread { median, least, most } = self.ratio;
        let mut cells = vec![self.rows.to_string(), self.dim.to_string(), self.method.to_string()];
        cells.push(format!("{:.3}", self.seconds.median));
        cells.extend([median, least, most].map(|ratio| format!("{ratio:.2}")));
        cells.push(or_dash(self.extra_mib.map(|mib| format!("{mib:.0}"))));
        cells.push(or_dash(self.recall.map(|recall| format!("{recall:.4}"))));
        cells.push(if self.measured == self.rows {
            "all".to_owned()
        } else {
            format!("{}, scaled up", self.measured)
        });
        cells
    }
}
