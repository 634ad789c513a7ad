//! Charts as SVG, for HTML pages or as standalone files.
//!
//! A [`LineChart`] has two linear or logarithmic [`Axis`], [`Series`] of [`Point`]s with optional intervals, and [`Reference`] lines.
//! Charts contain no colours. CSS classes (`c0` … `c7` for series, `grid`, `tick`) take them from the page, or from the style inside a
//! standalone file, so the same chart works in light and dark themes. Every chart has a title and a description for screen readers,
//! and shows its values as tooltips.
//!
//! | to | use |
//! | --- | --- |
//! | write a chart to a file | [`LineChart::to_file`], [`write()`] |
//! | show differences with their intervals | [`ForestChart`] |
//! | embed a chart in an HTML page | [`LineChart::to_svg`]; the page's style must include [`PALETTE`] and [`STYLE`] |
//!
//! ```
//! use bcl_report::Interval;
//! use bcl_report::chart::{self, Axis, LineChart, Reference, Series, Shape};
//!
//! // A value over N, repeated three times each.
//! let repeated = [(16.0, [1.1, 1.0, 0.9]), (64.0, [0.26, 0.25, 0.24]), (256.0, [0.07, 0.06, 0.06])];
//! let measured = repeated.map(|(n, values)| (n, Interval::of(&values).unwrap()));
//! let law = repeated.map(|(n, _)| (n, 16.0 / n));
//!
//! let chart = LineChart::new(
//!     "Squared error over the number of negatives",
//!     "The squared error falls as 1/N.",
//!     Axis::logarithmic("negatives N", 2),
//!     Axis::logarithmic("mean squared error", 10),
//! )
//! .with_series([
//!     Series::new("measured, 95 %", Shape::MarkedLine, measured),
//!     Series::new("1/N", Shape::Line, law).with_colour(7).with_dash(1),
//! ])
//! .with_references([Reference { name: "wanted".to_owned(), value: 0.1 }]);
//!
//! let folder = tempfile::tempdir()?;
//! let file = chart.to_file().expect("there are points to draw");
//! chart::write(&folder.path().join("error.svg"), &file)?;
//! assert!(file.starts_with("<svg xmlns=") && file.contains(">negatives N</text>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod fan_chart;
mod feature_map;
mod forest_chart;
mod frame;
mod histogram_strip;
mod layout;
mod legend;
mod line_chart;
mod picture;
mod reference;
mod reliability;
mod scale;
mod series;
mod ticks;
mod tooltip;

pub use axis::Axis;
pub use forest_chart::{ForestChart, ForestGroup, ForestPanel};
pub use line_chart::LineChart;
pub use picture::write;
pub use reference::Reference;
pub use series::{Point, Series, Shape};

pub(super) use fan_chart::{FanChart, Quantiles};
pub(super) use feature_map::FeatureMap;
pub(super) use histogram_strip::HistogramStrip;
pub(super) use reliability::ReliabilityDiagram;

/// The colours of both themes, as CSS custom properties.
pub const PALETTE: &str = include_str!("palette.css");
/// The CSS rules of charts; they use the colours of [`PALETTE`].
pub const STYLE: &str = include_str!("charts.css");

/// Number of distinct colours; further series repeat them.
pub(super) const NUM_COLOURS: usize = 8;
/// Number of distinct dash patterns.
pub(super) const NUM_DASHES: usize = 4;

/// The CSS classes of a series: a colour and, for colour-blind readers, a dash pattern.
pub(super) fn series_class(series: usize) -> String {
    format!("c{} d{}", series % NUM_COLOURS, series % NUM_DASHES)
}
