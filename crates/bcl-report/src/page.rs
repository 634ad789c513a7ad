//! Building blocks of self-contained HTML pages for other programs' reports: one common style, light and dark, no external
//! resources.
//!
//! ```
//! use bcl_report::{Interval, page};
//!
//! let rows = [("InfoNCE", Some(0), Interval::of(&[0.44, 0.45]).unwrap()), ("EASE", None, Interval::of(&[0.45]).unwrap())];
//! let html = page::document("my report", "Recommenders", "", &page::forest(&rows));
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("InfoNCE"));
//! ```

pub use super::html::{
    document, document_of,
    figure::{Figure, legend, section},
    forest::forest,
    gallery::{Picture, PictureGroup, gallery},
    table::{Cells, head, row, table},
};
pub use super::markup::{each, escape, notes};
pub use super::page_path::free_path;
