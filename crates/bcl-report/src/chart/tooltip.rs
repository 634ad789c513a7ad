//! Tooltips along the horizontal axis.

use super::scale::Scale;
use super::series::{Point, Series};
use std::fmt::Write;

/// Maximum number of columns. With more values, neighbours share a column, which would otherwise be narrower than a pixel.
const MOST_COLUMNS: usize = 400;

/// The tooltips of a chart.
pub(super) struct Tooltips<'a> {
    pub(super) x_name: &'a str,
    pub(super) series: &'a [Series],
    pub(super) decimals: Option<usize>,
}

impl Tooltips<'_> {
    /// One tooltip per x value, in ascending order, with the values of all series at that x.
    pub(super) fn columns(&self, x: &Scale) -> Vec<(f64, String)> {
        let points = self.named().flat_map(|series| &series.points);
        let mut columns: Vec<f64> = points.map(|point| point.x).filter(|value| x.holds(*value)).collect();
        columns.sort_by(f64::total_cmp);
        columns.dedup();
        let stride = columns.len().div_ceil(MOST_COLUMNS).max(1);
        columns.iter().step_by(stride).map(|&x| (x, self.text(x))).collect()
    }

    fn text(&self, x: f64) -> String {
        let mut text = format!("{} {}", self.x_name, significant(x));
        for series in self.named() {
            if let Some(point) = series.points.iter().find(|point| point.x == x) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\n{}: {}", series.name, self.value(point));
            }
        }
        text
    }

    fn value(&self, point: &Point) -> String {
        let number = |value: f64| match self.decimals {
            Some(decimals) => format!("{value:.decimals$}"),
            None => significant(value),
        };
        match point.interval {
            Some((low, high)) => format!("{} ({} to {})", number(point.y), number(low), number(high)),
            None => number(point.y),
        }
    }

    fn named(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| series.is_named())
    }
}

/// Formats with four significant digits, without trailing zeros; whole numbers keep all digits.
fn significant(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e9 {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::Shape;
    use super::*;

    #[test]
    fn numbers_have_four_significant_digits() {
        let texts = [0.5, 259.0456, 0.012_345, 1_027_370.0, 12_345.6, 1.2e-7, 0.0, -2.5].map(significant);
        assert_eq!(texts, ["0.5", "259", "0.01235", "1027370", "12346", "1.200e-7", "0", "-2.5"]);
    }

    #[test]
    fn a_text_names_every_series_that_has_a_value_there() {
        let point = Point {
            x: 16.0,
            y: 2.0,
            interval: Some((1.5, 2.5)),
        };
        let series = [
            Series::new("a", Shape::MarkedLine, [point]),
            Series::new("b", Shape::Line, [(16.0, 0.25), (32.0, 0.125)]),
            Series::new("hidden", Shape::Faint, [(64.0, 9.0)]),
        ];
        let tooltips = Tooltips {
            x_name: "N",
            series: &series,
            decimals: None,
        };
        let columns = tooltips.columns(&Scale::between(16.0, 32.0));
        let expected = [(16.0, "N 16\na: 2 (1.5 to 2.5)\nb: 0.25"), (32.0, "N 32\nb: 0.125")];
        assert_eq!(columns, expected.map(|(x, text)| (x, text.to_owned())));
    }

    #[test]
    fn curves_of_many_points_share_columns() {
        let series = [Series::new("a", Shape::Line, (0..1000).map(|x| (f64::from(x), 0.0)))];
        let tooltips = Tooltips {
            x_name: "",
            series: &series,
            decimals: None,
        };
        assert!(tooltips.columns(&Scale::between(0.0, 1000.0)).len() <= MOST_COLUMNS);
    }
}
