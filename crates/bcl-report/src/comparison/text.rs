//! Renders a comparison as text for the terminal.

use super::{Choice, Comparison, DataTable, Intervals, RowKind};
use crate::metric_names::decimals;
use crate::result::DataSize;
use crate::terminal::{Cell, Column, Table, TextStyle};
use crate::units::{classes_in_words, count};

#[cfg(test)]
mod tests;

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
            text += &(table.row_table().render(style) + "\n");
            if let Some(first) = table.differences.first() {
                let title = format!("Difference from {}, paired by seed", first.reference);
                text += &(style.wrapped(&title) + "\n");
                text += &(table.difference_table().render(style) + "\n");
            }
        }
        for line in self.legend() {
            text += &style.wrapped(&line);
        }
        if text.is_empty() { "No runs.\n".to_owned() } else { text }
    }
}

impl DataTable {
    fn row_table(&self) -> Table {
        let mut grid = Grid::new(self.rows.iter().map(|row| row.name.as_str()));
        grid.push(
            ["", "seeds"],
            self.rows.iter().map(|row| match row.kind {
                RowKind::Recipe => row.seeds.len().to_string().into(),
                RowKind::Baseline => "".into(),
            }),
        );
        for choice in Choice::ALL.into_iter().filter(|choice| self.has(*choice)) {
            for metric in &self.metrics {
                let texts = aligned(self.rows.iter().map(|row| figure(row.figures(choice), metric, false)));
                let cells = texts.into_iter().zip(&self.rows).map(|(text, row)| {
                    if self.is_best(row, choice, metric) {
                        Cell::bold(text)
                    } else {
                        text.into()
                    }
                });
                grid.push([self.title(choice), metric], cells);
            }
        }
        grid.table()
    }

    fn difference_table(&self) -> Table {
        let mut grid = Grid::new(self.differences.iter().map(|difference| difference.name.as_str()));
        grid.push(
            ["", "seeds"],
            self.differences
                .iter()
                .map(|difference| difference.seeds.len().to_string().into()),
        );
        for choice in Choice::ALL.into_iter().filter(|choice| self.has(*choice)) {
            for metric in self.metrics.iter().filter(|metric| self.is_compared(choice, metric)) {
                let texts = self
                    .differences
                    .iter()
                    .map(|difference| figure(difference.figures(choice), metric, true));
                grid.push([self.title(choice), metric], aligned(texts).into_iter().map(Cell::from));
            }
        }
        grid.table()
    }
}

/// A table that is filled column by column, with headers of two lines.
struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Grid {
    fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self {
            columns: vec![Column::text("\nrecipe")],
            rows: names.map(|name| vec![name.into()]).collect(),
        }
    }

    fn push(&mut self, [above, below]: [&str; 2], cells: impl Iterator<Item = Cell>) {
        self.columns.push(Column::number(format!("{above}\n{below}")));
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    fn table(self) -> Table {
        Table::new(self.columns, self.rows).ruled()
    }
}

/// Pads means without an interval, so that they are aligned with the means, not with the intervals.
fn aligned(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    let tail = |text: &str| text.find(" ± ").map_or(0, |place| text[place..].chars().count());
    let longest = texts.iter().map(|text| tail(text)).max().unwrap_or(0);
    for text in &mut texts {
        text.extend(std::iter::repeat_n(' ', longest - tail(text)));
    }
    texts
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
        DataSize::Graphs {
            graphs,
            classes,
            nodes,
            edges,
            ..
        } => format!(
            "{}, {} graphs, {} nodes, {} edges",
            classes_in_words(classes),
            count(graphs),
            count(nodes),
            count(edges)
        ),
    }
}

/// The text of a value, or a dash if it is missing.
pub(crate) fn figure(figures: &Intervals, metric: &str, signed: bool) -> String {
    figures
        .get(metric)
        .map_or("–".to_owned(), |interval| interval.text(decimals(metric), signed))
}
