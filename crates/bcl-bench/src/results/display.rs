//! Prints results as a table.

use super::{Case, Results};
use bcl_report::{Column, Table};
use std::fmt;

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

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = ["median", "least", "most", "rounds"].map(Column::number);
        let columns = [Column::text("name")].into_iter().chain(numbers);
        Table::new(columns, self.cases.iter().map(Case::cells)).fmt(f)?;
        writeln!(f)?;
        let environment = &self.environment;
        write!(
            f,
            "Times of {}, {}, {environment}, {} threads.",
            self.kind, environment.backend, environment.threads
        )
    }
}

impl Case {
    fn cells(&self) -> Vec<String> {
        let interval = match self.interval() {
            Some(interval) => interval.map(duration),
            None => ["-", "-"].map(str::to_owned),
        };
        [self.name.clone(), duration(self.median())]
            .into_iter()
            .chain(interval)
            .chain([self.seconds.len().to_string()])
            .collect()
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
}
