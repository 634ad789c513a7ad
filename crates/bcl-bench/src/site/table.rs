//! The section of one table.

use crate::tables::{RowResult, TableResult};
use bcl_train::report::{
    Interval,
    chart::{Axis, LineChart, Series, Shape},
    page::{self, Cells, Figure, escape},
};

/// Everything about a table: what wins first, how it was found last.
pub(super) fn html(table: &TableResult, id: &str) -> String {
    let verdict: String = table.verdict.iter().map(|sentence| escape(sentence) + " ").collect();
    let parts = [
        format!("<h2>{}</h2>\n<p class=\"headline\">{verdict}</p>\n", escape(&table.title)),
        format!(
            "<section>\n<p class=\"intro\">{}</p>\n</section>\n",
            escape(&table.protocol())
        ),
        plot(table),
        main(table),
        details("Pairs", &pairs(table)),
        details("Settings that were tested", &settings(table)),
        details("Trials", &trials(table, id)),
        list("Where this departs from the paper", &table.deviations),
        place(table),
    ];
    format!("<section id=\"{id}\">\n{}</section>\n", parts.concat())
}

/// Every row as a point with its interval, beside baselines.
fn plot(table: &TableResult) -> String {
    let rows = table.rows.iter().enumerate();
    let rows = rows.filter_map(|(index, row)| Some((row.name.as_str(), Some(index), *row.figures.get(&table.select_by)?)));
    let baselines = table.baselines.iter().filter_map(|(name, figures)| {
        let figure = *figures.get(&table.select_by)?;
        Some((name.as_str(), None, Interval::of(&[figure])?))
    });
    let all: Vec<_> = rows.chain(baselines).collect();
    format!(
        "<section>\n<h3>{} on test</h3>\n<p class=\"intro\">Mean and 95\u{a0}% interval over seeds. The axis does not start at 0.</p>\n{}</section>\n",
        escape(&table.select_by),
        page::forest(&all)
    )
}

/// The figures, with those of the paper where it prints any.
fn main(table: &TableResult) -> String {
    let is_printed = |metric: &String| table.rows.iter().any(|row| row.printed.contains_key(metric));
    let mut names = vec!["row".to_owned()];
    for metric in &table.metrics {
        names.push(escape(metric));
        if is_printed(metric) {
            names.push("paper".to_owned());
        }
    }
    let cells = |figure: &dyn Fn(&String) -> Option<String>, printed: &dyn Fn(&String) -> Option<f64>| {
        let mut cells = Vec::new();
        for metric in &table.metrics {
            cells.push(figure(metric).unwrap_or_default());
            if is_printed(metric) {
                cells.push(printed(metric).map(|figure| format!("{figure:.4}")).unwrap_or_default());
            }
        }
        cells
    };
    let rows = table.rows.iter().map(|row| {
        let figure = |metric: &String| row.figures.get(metric).map(Interval::to_string);
        page::row(&escape(&row.name), cells(&figure, &|metric| row.printed.get(metric).copied()))
    });
    let baselines = table.baselines.iter().map(|(name, figures)| {
        let figure = |metric: &String| figures.get(metric).map(|figure| format!("{figure:.4}"));
        page::row(
            &format!("<span class=\"baseline\">{}</span>", escape(name)),
            cells(&figure, &|_| None),
        )
    });
    let body: String = rows.chain(baselines).collect();
    let figures = page::table("figures on test", Cells::Figures, &page::head(names), &body);
    format!("<section>\n<h3>Figures</h3>\n{figures}</section>\n")
}

fn pairs(table: &TableResult) -> String {
    let head = page::head(["pair", "difference", "p", "p, Holm", ""].map(str::to_owned));
    let p = |value: Option<f64>| value.map(|p| format!("{p:.4}")).unwrap_or_default();
    let rows = table.pairs.iter().map(|pair| {
        let verdict = if pair.is_significant() {
            "<strong>differ</strong>"
        } else {
            "tie"
        };
        let cells = [pair.difference.to_string(), p(pair.p), p(pair.p_holm), verdict.to_owned()];
        page::row(&format!("{} − {}", escape(&pair.row), escape(&pair.other)), cells)
    });
    page::table("paired differences", Cells::Figures, &head, &rows.collect::<String>())
}

fn settings(table: &TableResult) -> String {
    let head = page::head(["row", "settings", "epochs"].map(str::to_owned));
    let rows = table.rows.iter().map(|row| {
        let tuned: Vec<String> = row.tuned.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let tuned = if tuned.is_empty() {
            "those of the recipe".to_owned()
        } else {
            tuned.join(", ")
        };
        let epochs: Vec<String> = row.epochs.iter().map(usize::to_string).collect();
        page::row(&escape(&row.name), [escape(&tuned), epochs.join(", ")])
    });
    page::table("settings", Cells::Text, &head, &rows.collect::<String>())
}

/// The held-out figure of every trial over each parameter that all rows share: how much tuning matters.
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
            "One point a trial, on held-out training data",
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
            "Every trial, at the most epochs it was trained for, on held-out training data.",
        ))
    });
    let legend = page::legend(table.rows.iter().enumerate().map(|(index, row)| (index, row.name.as_str())));
    page::section("Trials", "", &legend, figures)
}

/// A parameter and the figure of each trial, by the former; of one that went on for longer, the last.
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
    format!(
        "<h3>{heading}</h3>\n{}",
        page::notes(sentences.iter().map(|sentence| escape(sentence)))
    )
}

/// With what, on what and where it was made.
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
