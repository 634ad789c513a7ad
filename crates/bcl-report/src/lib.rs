//! What training runs leave behind: checked files, the schema of results, terminal tables, charts and HTML pages. No tensors.
//!
//! | to | see |
//! | --- | --- |
//! | read or write what a run leaves behind | [`result`] |
//! | write, check and lock files | [`files`] |
//! | find runs and read them | [`find_runs`], [`read_run`] |
//! | compare runs over seeds | [`Comparison`], [`Interval`] |
//! | draw a chart, make a page | [`chart`], [`page`], [`render_html`] |
//!
//! [`find_runs`] finds runs, [`read_run`] reads the folder of one, [`Comparison`] turns runs into rows with intervals over seeds, and
//! [`Comparison::to_text`], [`Comparison::to_json`] and [`Comparison::to_csv`] show them. [`render_html`] makes the one
//! self-contained page of a run or of several; [`chart`] draws further figures in the same style. A [`Showcase`] is what a run on
//! images has to show beside figures.
//!
//! # Invariants
//! - The page loads nothing: no script, style, font or image from anywhere.
//! - Text from outside (names, recipes) is escaped where it enters the page and its control characters where it enters the
//!   terminal ([`bcl_data::printable`]).
//! - Nothing here decides anything: epochs are chosen where runs are trained.

pub mod chart;
mod comparison;
mod error;
pub mod files;
mod find;
pub mod histogram;
mod html;
mod interval;
mod markup;
mod metric_names;
pub mod page;
mod page_path;
mod read;
pub mod result;
#[cfg(test)]
mod sample;
mod showcase;
mod table;
pub mod units;

pub use comparison::{Choice, Comparison, DataTable, Difference, Intervals, Row, RowKind};
pub use error::ReportError;
pub use find::{FoundRuns, Skipped, find_runs};
pub use html::{render_html, write_html};
pub use interval::{CONFIDENCE, Interval};
pub use metric_names::{all_metrics, default_metrics};
pub use read::read_run;
pub use showcase::{MAP_FILE, MapPoint, NearImage, NeighbourRow, Showcase, Thumbnail};
pub use table::TextStyle;
