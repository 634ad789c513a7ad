//! Reads the results of training runs, compares them over seeds, and shows them as terminal tables, SVG charts and HTML reports.
//!
//! `bcl-train` writes one folder per run: the resolved recipe (`recipe.toml`), one record per epoch (`metrics.jsonl`), the result
//! (`result.json`), the metrics of each user or graph (`users.csv`, `graphs.csv`), and for images and graphs pictures of the learned
//! features (`showcase.json`). This crate defines the schema of these files and
//! does everything that needs no tensors: it does not depend on Burn and builds in seconds.
//!
//! Compare all runs below a folder, in the terminal and as an HTML page:
//!
//! ```no_run
//! use bcl_report::{Comparison, TextStyle, find_runs, read_run, write_html};
//! use std::path::{Path, PathBuf};
//!
//! let found = find_runs(&[PathBuf::from("runs")])?;
//! let runs = found.runs.iter().map(|folder| read_run(folder)).collect::<Result<Vec<_>, _>>()?;
//!
//! let comparison = Comparison::with_default_metrics(runs.iter().map(|(result, _)| result));
//! print!("{}", comparison.to_text(&TextStyle::of_stdout()));
//!
//! write_html(Path::new("report.html"), &runs)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | find and read runs | [`find_runs`], [`read_run`] |
//! | read the metrics of each user or graph | [`SampleMetrics`] |
//! | work with the result and the epochs of a run | [`result::RunResult`], [`result::EpochRecord`] |
//! | average over seeds, with 95 % confidence intervals | [`Interval`] |
//! | compare recipes, paired by seed | [`Comparison`], and its text, JSON and CSV forms |
//! | say what a recommender left out of its data | [`left_out`] |
//! | see whether an image encoder has collapsed | [`collapse::collapse`] |
//! | make an HTML report of runs | [`render_html`], [`write_html`] |
//! | build another page in the same style | [`page`] |
//! | print a table in the terminal | [`Table`] |
//! | draw a chart as SVG | [`chart::LineChart`] |
//! | write arrays for NumPy | [`npy`] |
//!
//! # Invariants
//! - A page is self-contained: it loads no script, style, font or image.
//! - Text from outside (names, recipes) is escaped wherever it enters a page; its control characters are escaped wherever it enters the
//!   terminal ([`bcl_files::printable`]).
//! - Nothing here influences training: the reported epoch is chosen during the run.

pub mod chart;
pub mod collapse;
mod comparison;
mod error;
mod few_labels;
mod find;
pub mod histogram;
mod html;
mod interval;
pub mod left_out;
pub mod live;
mod markup;
pub mod metric_names;
pub mod npy;
pub mod page;
mod page_path;
mod read;
pub mod result;
#[cfg(test)]
mod sample;
mod sample_metrics;
mod showcase;
mod terminal;
mod units;

pub use comparison::{Choice, Comparison, DataTable, Difference, Intervals, Row, RowKind};
pub use error::ReportError;
pub use few_labels::few_labels_probe;
pub use find::{FoundRuns, Skipped, find_runs};
pub use html::{render_html, write_html};
pub use interval::{CONFIDENCE, Interval, t_bound, t_test};
pub use metric_names::{all_metrics, default_metrics};
pub use read::read_run;
pub use sample_metrics::{SampleKind, SampleMetrics};
pub use showcase::{Cluster, MAP_FILE, MapPoint, NearImage, NeighbourRow, Showcase, Thumbnail};
pub use terminal::{Cell, Column, Table, TextStyle};
