//! Charts as inline SVG, without a colour of their own: classes (`c0` … `c7` for series, `grid`, `tick`) take them from the page,
//! so the same chart serves light and dark.
//!
//! A chart is drawn for about 330 to 400 pixels of width and scales with its column. Every chart has a title and a description for
//! screen readers, and columns that show their values under the pointer.

mod fan_chart;
mod feature_map;
mod frame;
mod histogram_strip;
mod line_chart;
mod reference;
mod reliability;
mod scale;

pub(super) use fan_chart::{FanChart, Quantiles};
pub(super) use feature_map::FeatureMap;
pub(super) use histogram_strip::HistogramStrip;
pub(super) use line_chart::{LineChart, Series, Shape};
pub(super) use reference::Reference;
pub(super) use reliability::ReliabilityDiagram;

/// The colours of both themes.
pub(super) const PALETTE: &str = include_str!("palette.css");
/// What the classes of charts mean.
pub(super) const CHARTS: &str = include_str!("charts.css");

/// Colours before they repeat.
pub(super) const NUM_COLOURS: usize = 8;
/// Dash patterns before they repeat.
pub(super) const NUM_DASHES: usize = 4;

/// The classes of a series: a colour and, for those who cannot tell colours apart, a dash pattern.
pub(super) fn series_class(series: usize) -> String {
    format!("c{} d{}", series % NUM_COLOURS, series % NUM_DASHES)
}
