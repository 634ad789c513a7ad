//! Tables with aligned columns.

use super::TextStyle;
use bcl_files::{printable, printable_lines};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};
use std::{fmt, mem};

/// Spaces between columns.
const GAP: u16 = 2;
/// Columns of text are not wrapped to fewer characters.
const NARROWEST: u16 = 12;
/// Marks of bold text until the columns are laid out. They take no width, and no data contain them, because [`printable`] escapes them.
const BOLD: [char; 2] = ['\u{2066}', '\u{2069}'];

/// A table for the terminal.
///
/// If the terminal is too narrow, text is wrapped, and further columns continue in blocks below that repeat the first column. Numbers are
/// never broken. Control characters in cells are escaped.
///
/// `{}` formats without a limit, and `{:80}` within 80 characters.
///
/// ```
/// use bcl_report::{Column, Table};
///
/// let table = Table::new(
///     [Column::text("loss"), Column::number("ms")],
///     [["info_nce", "8.5"], ["bayesian", "10.25"]],
/// );
/// assert_eq!(table.to_string(), "loss         ms\ninfo_nce    8.5\nbayesian  10.25\n");
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    ruled: bool,
}

/// The header and the layout of a column.
#[derive(Debug, Clone)]
pub struct Column {
    header: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Verbatim,
    Number,
}

/// A table cell.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    bold: bool,
}

impl Column {
    /// A left-aligned column, which may be wrapped.
    pub fn text(header: impl Into<String>) -> Self {
        let (header, kind) = (header.into(), Kind::Text);
        Self { header, kind }
    }

    /// A left-aligned column of commands, addresses and the like, which are never wrapped, so that they can be copied.
    pub fn verbatim(header: impl Into<String>) -> Self {
        let kind = Kind::Verbatim;
        Self {
            kind,
            ..Self::text(header)
        }
    }

    /// A right-aligned column, which is never wrapped.
    pub fn number(header: impl Into<String>) -> Self {
        let kind = Kind::Number;
        Self {
            kind,
            ..Self::text(header)
        }
    }
}

impl Column {
    /// Columns of text, followed by columns of numbers.
    pub fn list<T: Into<String>>(texts: impl IntoIterator<Item = T>, numbers: impl IntoIterator<Item = T>) -> Vec<Self> {
        let texts = texts.into_iter().map(Self::text);
        texts.chain(numbers.into_iter().map(Self::number)).collect()
    }
}

impl Cell {
    /// A cell that is bold where the terminal and [`TextStyle`] allow it.
    pub fn bold(text: impl Into<String>) -> Self {
        let (text, bold) = (text.into(), true);
        Self { text, bold }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        let (text, bold) = (text.into(), false);
        Self { text, bold }
    }
}

impl Table {
    /// Creates a table. The header is left out if all its cells are empty, and may have several lines.
    ///
    /// # Panics
    /// Panics if there is no column, or a row has another number of cells.
    pub fn new<R>(columns: impl IntoIterator<Item = Column>, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item: Into<Cell>>,
    {
        let columns: Vec<Column> = columns.into_iter().collect();
        assert!(!columns.is_empty(), "a table needs a column");
        let row = |row: R| {
            let cells: Vec<Cell> = row.into_iter().map(Into::into).collect();
            assert_eq!(cells.len(), columns.len(), "cells of a row, and columns");
            cells
        };
        Self {
            rows: rows.into_iter().map(row).collect(),
            columns,
            ruled: false,
        }
    }

    /// Draws a line below the header.
    #[must_use]
    pub fn ruled(self) -> Self {
        Self { ruled: true, ..self }
    }

    /// Renders the table within the width of the style. Every line ends with a line break, and an empty line separates blocks. A table
    /// without rows and headers gives an empty text.
    pub fn render(&self, style: &TextStyle) -> String {
        // Without any cell, the crate that lays out the columns counts none.
        if self.rows.is_empty() && !self.has_header() {
            return String::new();
        }
        let limit = style.width.map_or(u16::MAX, |width| u16::try_from(width).unwrap_or(u16::MAX));
        let least = self.least_widths(limit);
        let blocks = self.blocks(&least, limit).into_iter().map(|block| {
            let mut table = self.layout(&block, &least);
            table.set_width(limit);
            table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
        });
        let text = blocks.collect::<Vec<String>>().join("\n");
        let [begin, end] = if style.bold { ["\u{1b}[1m", "\u{1b}[0m"] } else { ["", ""] };
        text.replace(BOLD[0], begin).replace(BOLD[1], end)
    }

    fn has_header(&self) -> bool {
        self.columns.iter().any(|column| !column.header.is_empty())
    }

    /// The width below which each column is not wrapped. The first column gives way only to the widest of the others.
    fn least_widths(&self, limit: u16) -> Vec<u16> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let full = self.layout(&all, &[]).column_max_content_widths();
        let wraps = |column: usize| self.columns[column].kind == Kind::Text;
        let least = |column: usize| {
            if wraps(column) {
                full[column].min(NARROWEST)
            } else {
                full[column]
            }
        };
        let mut widths: Vec<u16> = all.into_iter().map(least).collect();
        if wraps(0) {
            let widest = widths[1..].iter().max().map_or(0, |widest| GAP + widest);
            widths[0] = full[0].min(limit.saturating_sub(widest).max(NARROWEST));
        }
        widths
    }

    /// The columns of each block: the first one and as many of the others as fit, but at least one.
    fn blocks(&self, least: &[u16], limit: u16) -> Vec<Vec<usize>> {
        let mut blocks = Vec::new();
        let (mut block, mut used) = (vec![0], least[0]);
        for column in 1..self.columns.len() {
            let width = GAP + least[column];
            if block.len() > 1 && used.saturating_add(width) > limit {
                blocks.push(mem::replace(&mut block, vec![0]));
                used = least[0];
            }
            used = used.saturating_add(width);
            block.push(column);
        }
        blocks.push(block);
        blocks
    }

    /// Hands some of the columns to the crate that lays them out.
    fn layout(&self, columns: &[usize], least: &[u16]) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        let rule = if self.ruled {
            LineStyle::none().fill('─')
        } else {
            LineStyle::none()
        };
        table.load_style(TableStyle::new().header_separator(rule));
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if self.has_header() {
            table.set_header(columns.iter().map(|&column| printable_lines(&self.columns[column].header)));
        }
        table.add_rows(self.rows.iter().map(|row| columns.iter().map(|&column| row[column].shown())));
        for (laid_out, &column) in table.column_iter_mut().zip(columns) {
            laid_out.set_padding((if column == 0 { 0 } else { GAP }, 0));
            match self.columns[column].kind {
                Kind::Text => {
                    let width = least.get(column).copied().unwrap_or_default();
                    laid_out.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
                }
                Kind::Verbatim | Kind::Number => {
                    laid_out.set_constraint(ColumnConstraint::ContentWidth);
                }
            }
            if self.columns[column].kind == Kind::Number {
                laid_out.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }
}

impl Cell {
    fn shown(&self) -> String {
        let text = printable(&self.text);
        if !self.bold {
            return text;
        }
        // Spaces that align the text stay outside.
        let words = text.trim_end();
        format!("{}{words}{}{}", BOLD[0], BOLD[1], &text[words.len()..])
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, bold) = (f.width(), false);
        f.write_str(&self.render(&TextStyle { width, bold }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str) -> Table {
        let columns = [Column::text("name"), Column::number("ms"), Column::text("about")];
        Table::new(columns, [[name, "1.5", "a sentence of several words"], ["b", "10.25", ""]])
    }

    #[test]
    fn numbers_are_right_aligned_and_wide_characters_count_twice() {
        let text = table("木木").to_string();
        let expected = "name     ms  about\n木木    1.5  a sentence of several words\nb     10.25\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn text_is_wrapped_and_numbers_are_not() {
        let text = format!("{:30}", table("a"));
        assert!(text.contains("1.5  a sentence of\n"), "{text}");
        assert!(text.contains("\n             several words\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 30), "{text}");
    }

    #[test]
    fn columns_that_do_not_fit_continue_below_the_first() {
        let columns = [Column::text(""), Column::number("left"), Column::number("right")];
        let table = Table::new(columns, [["row", "1234567890", "2345678901"]]);
        let expected = "           left\nrow  1234567890\n\n          right\nrow  2345678901\n";
        assert_eq!(format!("{table:20}"), expected);
    }

    #[test]
    fn a_command_stays_on_one_line() {
        let command = "cargo run -p bcl-train -- --backend wgpu";
        let table = Table::new([Column::text(""), Column::verbatim("")], [["wgpu", command]]);
        assert_eq!(format!("{table:20}"), format!("wgpu  {command}\n"));
    }

    #[test]
    fn a_rule_is_as_wide_as_the_table() {
        let table = Table::new([Column::text("a"), Column::number("b")], [["name", "1"]]).ruled();
        assert_eq!(table.to_string(), "a     b\n───────\nname  1\n");
    }

    #[test]
    fn a_table_without_rows_has_its_header_if_any_and_no_further_text() {
        let empty = |header: &str| Table::new([Column::text(header), Column::number("")], [[""; 2]; 0]);
        for table in [empty(""), empty("").ruled()] {
            assert_eq!(table.to_string(), "");
            assert_eq!(format!("{table:1}"), "");
        }
        assert_eq!(empty("name").to_string(), "name\n");
    }

    #[test]
    fn bold_and_control_characters_are_those_of_the_style_and_of_the_data() {
        let table = Table::new([Column::text("")], [[Cell::bold("\u{1b}[2J\u{2066}")]]);
        assert_eq!(table.to_string(), "\\u{1b}[2J\\u{2066}\n");
        let bold = table.render(&TextStyle { width: None, bold: true });
        assert_eq!(bold, "\u{1b}[1m\\u{1b}[2J\\u{2066}\u{1b}[0m\n");
    }
}
