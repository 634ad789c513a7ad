//! Charts as SVG, within a page or as files of their own.
//!
//! A [`LineChart`] has two [`Axis`] (linear or logarithmic), [`Series`] with an interval at each [`Point`] where there is one, and
//! [`Reference`] levels. It knows no colour: classes (`c0` … `c7` for series, `grid`, `tick`) take them from the page, or from the
//! style within a file, so the same chart serves light and dark. Every chart has a title and a description for screen readers, and
//! columns that show their values under the pointer.
//!
//! | to | see |
//! | --- | --- |
//! | draw a chart into a file | [`LineChart::to_file`], [`write()`] |
//! | draw a chart into an HTML page | [`LineChart::to_svg`]; the page's style holds [`PALETTE`] and [`STYLE`] |
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
pub use line_chart::LineChart;
pub use picture::write;
pub use reference::Reference;
pub use series::{Point, Series, Shape};

pub(super) use fan_chart::{FanChart, Quantiles};
pub(super) use feature_map::FeatureMap;
pub(super) use histogram_strip::HistogramStrip;
pub(super) use reliability::ReliabilityDiagram;

/// The colours of both themes, as custom properties of a style sheet.
pub const PALETTE: &str = include_str!("palette.css");
/// What the classes of charts mean, by the colours of [`PALETTE`].
pub const STYLE: &str = include_str!("charts.css");

/// Colours before they repeat.
pub(super) const NUM_COLOURS: usize = 8;
/// Dash patterns before they repeat.
pub(super) const NUM_DASHES: usize = 4;

/// The classes of a series: a colour and, for those who cannot tell colours apart, a dash pattern.
pub(super) fn series_class(series: usize) -> String {
    format!("c{} d{}", series % NUM_COLOURS, series % NUM_DASHES)
}
