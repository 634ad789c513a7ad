//! A figure and its data, as two files of the same name.

use bcl_files::FileError;
use bcl_report::Interval;
use bcl_report::chart::{self, LineChart};
use std::fmt::Write;
use std::path::Path;

/// A chart with its data.
#[derive(Debug)]
pub struct Drawing {
    /// Name of both files, without an extension.
    pub name: String,
    /// The chart.
    pub chart: LineChart,
    /// The data.
    pub csv: Csv,
}

impl Drawing {
    pub(super) fn new(name: impl Into<String>, chart: LineChart, csv: Csv) -> Self {
        let name = name.into();
        Self { name, chart, csv }
    }

    /// Writes `NAME.svg` and `NAME.csv` into `folder`.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        if let Some(svg) = self.chart.to_file() {
            chart::write(&folder.join(format!("{}.svg", self.name)), &svg)?;
        }
        chart::write(&folder.join(format!("{}.csv", self.name)), &self.csv.text)
    }
}

/// Rows of plain words and numbers, which need no quotes.
#[derive(Debug, Clone)]
pub struct Csv {
    text: String,
}

impl Csv {
    pub(super) fn new(header: &str) -> Self {
        Self {
            text: format!("{header}\n"),
        }
    }

    pub(super) fn row(&mut self, cells: &[&dyn std::fmt::Display]) {
        for (index, cell) in cells.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{comma}{cell}");
        }
        self.text.push('\n');
    }
}

impl std::fmt::Display for Csv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Mean, lower end and upper end of an interval, as three cells.
pub(super) fn cells(interval: &Interval) -> String {
    let (low, high) = interval.bounds().unwrap_or((interval.mean, interval.mean));
    format!("{},{low},{high}", interval.mean)
}

/// The header of [`cells`].
pub(super) fn columns(name: &str) -> String {
    format!("{name},{name}_low,{name}_high")
}

/// An interval with four significant digits, for the terminal.
pub(super) fn text(interval: &Interval) -> String {
    let magnitude = interval.mean.abs().max(1e-300).log10().floor();
    let number = |value: f64| {
        if (-4.0..7.0).contains(&magnitude) {
            let decimals = (3.0 - magnitude).max(0.0) as usize;
            format!("{value:.decimals$}")
        } else {
            format!("{value:.2e}")
        }
    };
    match interval.half_width {
        Some(half_width) => format!("{} ± {}", number(interval.mean), number(half_width)),
        None => number(interval.mean),
    }
}

/// A bound with so many decimals; one that is too large to mean anything in powers of ten.
pub(super) fn bound(value: f64, decimals: usize) -> String {
    if value < 1e4 {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_written_to_four_digits() {
        let of = |values: &[f64]| text(&Interval::of(values).expect("values"));
        assert_eq!(of(&[258.0, 260.0]), "259.0 ± 12.7");
        assert_eq!(of(&[0.012_34]), "0.01234");
        assert_eq!(of(&[1.5e22]), "1.50e22");
        assert_eq!(of(&[0.0]), "0.00e0");
    }

    #[test]
    fn a_drawing_is_two_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut csv = Csv::new("x,y");
        csv.row(&[&"a", &0.5]);
        let axis = chart::Axis::linear;
        let series = chart::Series::new("a", chart::Shape::Line, [(0.0, 1.0), (1.0, 2.0)]);
        let drawing = Drawing {
            name: "one".to_owned(),
            chart: LineChart::new("T", "D", axis("x"), axis("y")).with_series([series]),
            csv,
        };
        drawing.write(folder.path()).expect("two files");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
        assert_eq!(read("one.csv"), "x,y\na,0.5\n");
        assert!(read("one.svg").starts_with("<svg xmlns="));
        assert!(drawing.write(&folder.path().join("missing")).is_err());
    }
}
