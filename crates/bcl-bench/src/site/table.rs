//! The section for one table.

use crate::tables::{Parts, RowResult, TableResult};
use bcl_report::{
    Interval,
    chart::{Axis, LineChart, Series, Shape},
    page::{self, Cells, Figure, escape},
};

/// Renders a table, from the verdict to the details.
pub(super) fn html(table: &TableResult, id: &str) -> String {
    let verdict: String = table.verdict.iter().map(|sentence| escape(sentence) + " ").collect();
    let parts = [
        format!("<h2>{}</h2>\n<p class=\"headline\">{verdict}</p>\n", escape(&table.title)),
        format!(
            "<section>\n<p class=\"intro\">{}</p>\n</section>\n",
            escape(&table.protocol())
        ),
        plot(table),
        differences(table),
        format!(
            "<section>\n<h3>Test metrics</h3>\n{}</section>\n",
            set("test metrics", Cells::Numbers, &table.main())
        ),
        list("Cautions", &table.cautions()),
        details("Pairs", &set("paired differences", Cells::Numbers, &table.compared())),
        details("Settings that were tested", &set("settings", Cells::Text, &table.tuned())),
        table.budgets().map_or(String::new(), |budgets| {
            details(
                "Expected best of fewer trials, on held-out training data",
                &set("budgets", Cells::Numbers, &budgets),
            )
        }),
        details("Trials", &trials(table, id)),
        list("Deviations from the paper", &table.deviations),
        place(table),
    ];
    format!("<section id=\"{id}\">\n{}</section>\n", parts.concat())
}

/// A plot with one point and interval per row, and the baselines.
fn plot(table: &TableResult) -> String {
    let rows = table.rows.iter().enumerate();
    let rows = rows.filter_map(|(index, row)| Some((row.name.as_str(), Some(index), *row.figures.get(&table.select_by)?)));
    let baselines = table.baselines.iter().filter_map(|(name, figures)| {
        let figure = *figures.get(&table.select_by)?;
        Some((name.as_str(), None, Interval::of(&[figure])?))
    });
    let all: Vec<_> = rows.chain(baselines).collect();
    format!(
        "<section>\n<h3>{} on the test set</h3>\n<p class=\"intro\">Mean and 95\u{a0}% interval over seeds. The axis does not start at 0.</p>\n{}</section>\n",
        escape(&table.select_by),
        page::forest(&all)
    )
}

/// A plot of each row minus InfoNCE, and of the supervised loss minus InfoNCE: what could be gained. Empty if rows are compared otherwise.
fn differences(table: &TableResult) -> String {
    if !table.is_against_reference() {
        return String::new();
    }
    let pairs = table.pairs.iter().enumerate().map(|(index, pair)| (pair, Some(index)));
    let headroom = table.headroom.iter().map(|headroom| (&headroom.paired, None));
    let all: Vec<(String, Option<usize>, Interval)> = pairs
        .chain(headroom)
        .map(|(pair, colour)| (format!("{} - {}", pair.row, pair.other), colour, pair.interval()))
        .collect();
    let all: Vec<_> = all
        .iter()
        .map(|(name, colour, interval)| (&**name, *colour, *interval))
        .collect();
    format!(
        "<section>\n<h3>{} minus InfoNCE</h3>\n<p class=\"intro\">Mean and 95\u{a0}% interval of the differences by seed. The supervised loss, which leaves out all false \
         negatives, shows what could be gained.</p>\n{}</section>\n",
        escape(&table.select_by),
        page::forest(&all)
    )
}

/// Renders a table; the first cell of each row is its name.
pub(super) fn set(label: &str, cells: Cells, parts: &Parts) -> String {
    let rows = page::each(&parts.rows, |row| {
        page::row(&escape(&row[0]), row[1..].iter().map(|cell| escape(cell)))
    });
    page::table(label, cells, &page::head(parts.header.iter().map(|name| escape(name))), &rows)
}

/// The metric of every trial on held-out data, over each parameter that all rows share. It shows how much tuning matters.
fn trials(table: &TableResult, id: &str) -> String {
    let Some(first) = table.rows.first() else {
        return String::new();
    };
    let shared = first
        .space
        .0
        .keys()
        .filter(|key| table.rows.iter().all(|row| row.space.0.contains_key(*key)));
    let figures = shared.enumerate().filter_map(|(index, key)| {
        let chart = LineChart::new(
            format!("{} over {key}", table.select_by),
            "One point per trial, on held-out training data",
            Axis::logarithmic(key, 10),
            Axis::linear(&table.select_by),
        );
        let series = table
            .rows
            .iter()
            .map(|row| Series::new(&row.name, Shape::Dots, points(row, key)));
        let svg = chart
            .with_series(series)
            .with_decimals(4)
            .to_svg(&format!("{id}-trials{index}"))?;
        Some(Figure::new(
            key,
            svg,
            "Every trial on held-out training data, at the largest number of epochs it was trained for.",
        ))
    });
    let legend = page::legend(table.rows.iter().enumerate().map(|(index, row)| (index, row.name.as_str())));
    page::section("On held-out training data", "", &legend, figures)
}

/// Pairs of parameter and metric, one per trial, sorted by parameter. For a trial that was trained for longer, only the last
/// metric counts.
fn points(row: &RowResult, key: &str) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = row
        .trials
        .iter()
        .filter(|trial| {
            !row.trials
                .iter()
                .any(|other| other.number == trial.number && other.epochs > trial.epochs)
        })
        .filter_map(|trial| Some((trial.values.get(key)?.as_float()?, trial.figure?)))
        .collect();
    points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    points
}

fn details(summary: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<details>\n<summary>{summary}</summary>\n{content}</details>\n")
}

fn list(heading: &str, sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let notes = page::notes(sentences.iter().map(|sentence| escape(sentence)));
    format!("<section>\n<h3>{heading}</h3>\n{notes}</section>\n")
}

/// The command, the data, and the environment of a table.
fn place(table: &TableResult) -> String {
    let environment = &table.environment;
    let revision = environment.git_revision.as_ref().map(|revision| format!(" ({revision})"));
    format!(
        "<section>\n<p class=\"intro\"><code>{}</code><br>{}, bcl {}{}, {} on {}</p>\n</section>\n",
        escape(&table.command),
        escape(&table.data.name),
        escape(&environment.version),
        escape(&revision.unwrap_or_default()),
        escape(&environment.backend),
        escape(&environment.device)
    )
}
