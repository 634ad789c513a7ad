//! Text for the terminal: tables with aligned columns, and wrapped sentences.

mod style;
mod table;

pub use style::TextStyle;
pub use table::{Cell, Column, Table};
