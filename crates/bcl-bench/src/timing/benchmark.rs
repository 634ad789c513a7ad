//! Measurements as a table and as JSON.

use super::{Environment, Spread};
use bcl_backend::Backend;
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// All measurements of a verb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// The verb.
    pub verb: String,
    /// Machine and build.
    pub environment: Environment,
    /// Sizes that all cases share and that their names do not mention. Times with other settings are not comparable.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// One entry per case.
    pub measurements: Vec<Measurement>,
    /// Lines below the table.
    pub notes: Vec<String>,
}

/// The time of one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the case.
    pub name: String,
    /// Its time over all turns, if it was measured.
    pub seconds: Option<Spread>,
    /// Its time relative to the first case of its group, over rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Spread>,
    /// Times of its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Time of the first turn, which compiles kernels on a GPU.
    #[serde(default)]
    pub first_seconds: Option<f64>,
    /// Number of turns.
    #[serde(default)]
    pub repetitions: usize,
    /// Peak memory of the first turn above the memory before it in MiB, of the process or of the GPU that computes; `None` if the system does not
    /// report it.
    #[serde(default)]
    pub extra_mib: Option<f64>,
    /// Floating-point operations by definition over the median time, in GFLOP/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gflops: Option<f64>,
    /// Why there are no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A part of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its time over all turns.
    pub seconds: Spread,
}

impl Benchmark {
    /// A benchmark without measurements so far.
    pub fn new(verb: &str, threads: usize, backend: &Backend) -> Self {
        Self {
            verb: verb.to_owned(),
            environment: Environment::read(threads).on(backend.info()),
            settings: BTreeMap::new(),
            measurements: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Measurement {
    pub(super) fn skipped(name: String, note: String) -> Self {
        let note = Some(note);
        Self {
            name,
            note,
            ..Self::default()
        }
    }

    /// A part by its name.
    fn part(&self, name: &str) -> Option<Spread> {
        self.parts.iter().find(|part| part.name == name).map(|part| part.seconds)
    }
}

/// A time with three digits, in a suitable unit.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (1e3 * s, "ms"),
        s if s >= 1e-6 => (1e6 * s, "µs"),
        s => (1e9 * s, "ns"),
    };
    let digits = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

/// What a column shows of a measurement.
type Cell = Box<dyn Fn(&Measurement) -> Option<String>>;

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |of: fn(&Measurement) -> Option<f64>, digits: usize| -> Cell {
            Box::new(move |one| of(one).map(|value| format!("{value:.digits$}")))
        };
        let time = |of: fn(&Measurement) -> Option<f64>| -> Cell { Box::new(move |one: &Measurement| of(one).map(duration)) };
        let mut columns: Vec<(&str, Cell)> = vec![
            ("time", time(|one| Some(one.seconds?.median))),
            ("least", time(|one| Some(one.seconds?.least))),
            ("most", time(|one| Some(one.seconds?.most))),
        ];
        let mut parts: Vec<&str> = Vec::new();
        for part in self.measurements.iter().flat_map(|one| &one.parts) {
            if !parts.contains(&&*part.name) {
                parts.push(&part.name);
            }
        }
        for part in parts {
            let name = part.to_owned();
            columns.push((part, Box::new(move |one| Some(duration(one.part(&name)?.median)))));
        }
        columns.extend([
            ("ratio", number(|one| Some(one.ratio?.median), 2)),
            ("least ratio", number(|one| Some(one.ratio?.least), 2)),
            ("most ratio", number(|one| Some(one.ratio?.most), 2)),
            ("first", time(|one| one.first_seconds)),
            ("MiB", number(|one| one.extra_mib, 1)),
            ("GFLOP/s", number(|one| one.gflops, 0)),
        ]);
        columns.retain(|(_, cell)| self.measurements.iter().any(|one| cell(one).is_some()));
        let header = columns.iter().map(|(name, _)| Column::number(*name));
        let rows = self.measurements.iter().map(|one| {
            let cells = columns.iter().map(|(_, cell)| cell(one).unwrap_or_else(|| "-".to_owned()));
            [one.name.clone()].into_iter().chain(cells).collect::<Vec<_>>()
        });
        Table::new([Column::text("case")].into_iter().chain(header), rows).fmt(f)?;
        writeln!(f)?;
        for Measurement { name, note, .. } in &self.measurements {
            if let Some(note) = note {
                writeln!(f, "{name}: {note}")?;
            }
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))?;
        let environment = &self.environment;
        write!(f, "{}, {environment}, {} threads.", environment.backend, environment.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_in_the_unit_that_suits_it() {
        let shown = [2.5, 0.0123, 0.9999, 1.234e-4, 5e-9].map(duration);
        assert_eq!(shown, ["2.50 s", "12.3 ms", "1000 ms", "123 µs", "5.00 ns"]);
    }

    #[test]
    fn only_what_was_measured_has_a_column_and_what_was_skipped_has_a_note() {
        let measured = Measurement {
            seconds: Some(Spread::of(&[1e-3, 2e-3, 4e-3])),
            repetitions: 3,
            gflops: Some(50.0),
            note: None,
            ..Measurement::skipped("mass [8, 6]".to_owned(), String::new())
        };
        let skipped = Measurement::skipped("mass [9, 9]".to_owned(), "skipped: too large".to_owned());
        let benchmark = Benchmark {
            verb: "kernels".to_owned(),
            environment: Environment::read(1),
            settings: BTreeMap::new(),
            measurements: vec![measured, skipped],
            notes: vec!["A note.".to_owned()],
        };
        let text = benchmark.to_string();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect();
        assert_eq!(lines[0], ["case", "time", "least", "most", "GFLOP/s"], "{text}");
        assert_eq!(lines[1], ["mass [8, 6]", "2.00 ms", "1.00 ms", "4.00 ms", "50"], "{text}");
        assert_eq!(lines[2], ["mass [9, 9]", "-", "-", "-", "-"], "{text}");
        assert!(text.contains("mass [9, 9]: skipped: too large\nA note.\nflex, "), "{text}");
        let json = serde_json::to_string(&benchmark).expect("plain data");
        assert_eq!(serde_json::from_str::<Benchmark>(&json).expect("the same"), benchmark);
    }
}
