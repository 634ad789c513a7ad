//! Renders a comparison as text for the terminal.

mod grid;
mod style;
#[cfg(test)]
mod tests;

use super::comparison::{Choice, Comparison, DataTable, Intervals, RowKind};
use super::metric_names::decimals;
use super::units::{classes_in_words, count};
use crate::result::DataSize;
use grid::{Cell, Column, Grid};
pub use style::TextStyle;

impl Comparison {
    /// Renders the tables, the differences between recipes and the legend; the text ends with a line break.
    ///
    /// The best mean of a column is bold if the style allows it. If a table is wider than the terminal, its columns continue in blocks
    /// below.
    pub fn to_text(&self, style: &TextStyle) -> String {
        let mut text = String::new();
        for table in &self.tables {
            let title = format!("{}: {}", table.data.name, size(&table.data.size));
            text += &(style.wrapped(&title) + "\n");
            text += &self.row_grid(table).render(style);
            if let Some(first) = table.differences.first() {
                let title = format!("Difference from {}, paired by seed", first.reference);
                text += &(style.wrapped(&title) + "\n");
                text += &self.difference_grid(table).render(style);
            }
        }
        for line in self.legend() {
            text += &style.wrapped(&line);
        }
        if text.is_empty() { "No runs.\n".to_owned() } else { text }
    }

    fn row_grid(&self, table: &DataTable) -> Grid {
        let names = table.rows.iter().map(|row| Cell::plain(&row.name));
        let seeds = table.rows.iter().map(|row| match row.kind {
            RowKind::Recipe => Cell::plain(row.seeds.len().to_string()),
            RowKind::Baseline => Cell::plain(""),
        });
        let mut grid = Grid::new(Column::new(["", "recipe"], names));
        grid.push(Column::new(["", "seeds"], seeds));
        for choice in Choice::ALL.into_iter().filter(|choice| table.has(*choice)) {
            for metric in &self.metrics {
                let cells = table.rows.iter().map(|row| Cell {
                    text: figure(row.figures(choice), metric, false),
                    best: table.is_best(row, choice, metric),
                });
                grid.push(Column::new([choice.title(&table.data), metric], cells));
            }
        }
        grid
    }

    fn difference_grid(&self, table: &DataTable) -> Grid {
        let names = table.differences.iter().map(|difference| Cell::plain(&difference.name));
        let seeds = table
            .differences
            .iter()
            .map(|difference| Cell::plain(difference.seeds.len().to_string()));
        let mut grid = Grid::new(Column::new(["", "recipe"], names));
        grid.push(Column::new(["", "seeds"], seeds));
        for choice in Choice::ALL.into_iter().filter(|choice| table.has(*choice)) {
            for metric in self.metrics.iter().filter(|metric| table.is_compared(choice, metric)) {
                let differences = table.differences.iter();
                let cells = differences.map(|difference| Cell::plain(figure(difference.figures(choice), metric, true)));
                grid.push(Column::new([choice.title(&table.data), metric], cells));
            }
        }
        grid
    }
}

/// The size of a data set, as text.
fn size(size: &DataSize) -> String {
    match *size {
        DataSize::Interactions {
            users,
            items,
            train,
            test,
        } => format!(
            "{} users, {} items, {} training and {} test interactions",
            count(users),
            count(items),
            count(train),
            count(test)
        ),
        DataSize::Images {
            classes, train, test, ..
        } => format!(
            "{}, {} training and {} test images",
            classes_in_words(classes),
            count(train),
            count(test)
        ),
    }
}

/// The text of a value, or a dash if it is missing.
pub(super) fn figure(figures: &Intervals, metric: &str, signed: bool) -> String {
    figures
        .get(metric)
        .map_or("–".to_owned(), |interval| interval.text(decimals(metric), signed))
}
