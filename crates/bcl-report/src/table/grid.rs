//! Aligned columns; if the terminal is too narrow, further columns continue in blocks below.

use super::style::TextStyle;
use bcl_data::printable;

/// Gap between columns.
const GAP: &str = "  ";
/// Names are never cut shorter than this.
const SHORTEST_NAME: usize = 12;
/// Separates a mean from its interval.
const PLUS_MINUS: &str = " ± ";

/// A table cell.
pub(super) struct Cell {
    pub(super) text: String,
    /// Whether it is the best of its column.
    pub(super) best: bool,
}

impl Cell {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            best: false,
        }
    }
}

/// A column with a header of two lines.
pub(super) struct Column {
    header: [String; 2],
    cells: Vec<Cell>,
}

impl Column {
    pub(super) fn new(header: [&str; 2], cells: impl Iterator<Item = Cell>) -> Self {
        let mut cells: Vec<Cell> = cells.collect();
        // Align a mean without an interval with the means, not with the intervals.
        let tail = |text: &str| text.split_once(PLUS_MINUS).map(|(_, tail)| width(PLUS_MINUS) + width(tail));
        if let Some(longest) = cells.iter().filter_map(|cell| tail(&cell.text)).max() {
            for cell in &mut cells {
                let missing = longest - tail(&cell.text).unwrap_or(0);
                cell.text.extend(std::iter::repeat_n(' ', missing));
            }
        }
        Self {
            header: header.map(printable),
            cells,
        }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(&cell.text));
        cells.chain(self.header.iter().map(|text| width(text))).max().unwrap_or(0)
    }
}

/// A column of names and columns of values.
pub(super) struct Grid {
    names: Column,
    columns: Vec<Column>,
}

impl Grid {
    pub(super) fn new(mut names: Column) -> Self {
        for cell in &mut names.cells {
            cell.text = printable(&cell.text);
        }
        Self {
            names,
            columns: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, column: Column) {
        self.columns.push(column);
    }

    /// Renders the grid within the width of the style, with an empty line at the end.
    pub(super) fn render(&self, style: &TextStyle) -> String {
        let limit = style.width.unwrap_or(usize::MAX);
        let widest = self
            .columns
            .iter()
            .map(|column| column.width() + GAP.len())
            .max()
            .unwrap_or(0);
        let room_for_names = limit.saturating_sub(widest).max(SHORTEST_NAME);
        let name_width = self.names.width().min(room_for_names);

        let mut text = String::new();
        let mut rest = &self.columns[..];
        while !rest.is_empty() {
            let mut used = name_width;
            let fitting = rest
                .iter()
                .take_while(|column| {
                    used += GAP.len() + column.width();
                    used <= limit
                })
                .count()
                .max(1);
            let (block, later) = rest.split_at(fitting);
            text += &self.block(name_width, block, style);
            rest = later;
        }
        text
    }

    fn block(&self, name_width: usize, columns: &[Column], style: &TextStyle) -> String {
        let mut lines = Vec::new();
        for header in 0..2 {
            let name = padded_right(&self.names.header[header], name_width);
            let titles = columns
                .iter()
                .map(|column| padded_left(&column.header[header], column.width()));
            lines.push(std::iter::once(name).chain(titles).collect::<Vec<_>>().join(GAP));
        }
        lines.push("─".repeat(lines[1].chars().count()));
        for (row, name) in self.names.cells.iter().enumerate() {
            let mut line = padded_right(&shortened(&name.text, name_width), name_width);
            for column in columns {
                let cell = &column.cells[row];
                let padded = padded_left(&cell.text, column.width());
                line += GAP;
                line += &if style.bold && cell.best { bold(&padded) } else { padded };
            }
            lines.push(line);
        }
        lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect::<String>() + "\n"
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn padded_right(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

fn padded_left(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

/// Makes the text bold, but not the spaces around it.
fn bold(padded: &str) -> String {
    let text = padded.trim();
    padded.replacen(text, &format!("\u{1b}[1m{text}\u{1b}[0m"), 1)
}

/// Shortens a long name in the middle: its start names the table, its end the variant.
fn shortened(text: &str, limit: usize) -> String {
    let length = width(text);
    if length <= limit {
        return text.to_owned();
    }
    let head = (limit - 1) / 2;
    let tail = limit - 1 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}
