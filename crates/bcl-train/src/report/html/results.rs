//! Tables of results.

use super::figure::swatch;
use super::view::{DataView, Page};
use crate::report::markup::{breakable, escape};
use crate::report::metric_names::decimals;
use crate::report::table::figure;
use crate::report::{Choice, Comparison, DataTable, Row, RowKind};

/// The chosen figures, the differences, the legend, and all figures behind a fold.
pub(super) fn section(page: &Page, index: usize) -> String {
    let view = &page.data[index];
    let table = &page.comparison.tables[index];
    let legend: String = page
        .comparison
        .legend()
        .iter()
        .map(|line| format!("<li>{}</li>\n", escape(line)))
        .collect();
    format!(
        "<section>\n<h3>Results</h3>\n{}{}<ul class=\"notes\">\n{legend}</ul>\n{}</section>\n",
        rows(&page.comparison, table, view),
        differences(&page.comparison, table),
        all_figures(&page.complete, index),
    )
}

/// A table that scrolls sideways where it does not fit.
fn scrolling(label: &str, table: &str) -> String {
    format!("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n<table>\n{table}</table>\n</div>\n")
}

/// The two lines of header over the figures.
fn header(comparison: &Comparison, choices: &[Choice], first: &str) -> String {
    let groups: String = choices
        .iter()
        .map(|choice| {
            format!(
                "<th scope=\"colgroup\" colspan=\"{}\">{}</th>",
                comparison.metrics.len(),
                choice.name()
            )
        })
        .collect();
    let metrics: String = choices
        .iter()
        .flat_map(|_| &comparison.metrics)
        .map(|metric| format!("<th scope=\"col\">{}</th>", escape(metric)))
        .collect();
    format!(
        "<thead>\n<tr><th scope=\"col\" rowspan=\"2\">{first}</th><th scope=\"col\" rowspan=\"2\">seeds</th>{groups}</tr>\n\
         <tr>{metrics}</tr>\n</thead>\n"
    )
}

fn choices(table: &DataTable) -> Vec<Choice> {
    Choice::ALL.into_iter().filter(|choice| table.has(*choice)).collect()
}

fn rows(comparison: &Comparison, table: &DataTable, view: &DataView) -> String {
    let choices = choices(table);
    let mut body = String::new();
    for row in &table.rows {
        let recipe = view
            .recipes
            .iter()
            .find(|recipe| recipe.name == row.name && row.kind == RowKind::Recipe);
        let swatch = match recipe {
            Some(recipe) if view.recipes.len() > 1 => swatch(recipe.colour),
            _ => String::new(),
        };
        let seeds = recipe.map_or(String::new(), |_| row.seeds.len().to_string());
        let class = if row.kind == RowKind::Baseline {
            " class=\"baseline\""
        } else {
            ""
        };
        body += &format!(
            "<tr{class}><th scope=\"row\">{swatch}{}</th><td>{seeds}</td>",
            breakable(&row.name)
        );
        for &choice in &choices {
            for metric in &comparison.metrics {
                body += &cell(table, row, choice, metric);
            }
        }
        body += "</tr>\n";
    }
    let header = header(comparison, &choices, "recipe");
    scrolling("Results", &format!("{header}<tbody>\n{body}</tbody>\n"))
}

/// A figure; without an interval in a column of intervals it stands under the means.
fn cell(table: &DataTable, row: &Row, choice: Choice, metric: &str) -> String {
    let interval_of = |row: &Row| row.figures(choice).get(metric).and_then(|interval| interval.half_width);
    let text = figure(row.figures(choice), metric, false);
    let room = if interval_of(row).is_none() && table.rows.iter().any(|other| interval_of(other).is_some()) {
        format!(
            "<span class=\"room\" aria-hidden=\"true\"> ± {:.*}</span>",
            decimals(metric),
            0.0
        )
    } else {
        String::new()
    };
    format!("<td>{}{room}</td>", strong_if(table.is_best(row, choice, metric), &text))
}

fn strong_if(best: bool, text: &str) -> String {
    if best {
        format!("<strong>{text}</strong>")
    } else {
        text.to_owned()
    }
}

fn differences(comparison: &Comparison, table: &DataTable) -> String {
    let Some(first) = table.differences.first() else {
        return String::new();
    };
    let choices = choices(table);
    let mut body = String::new();
    for difference in &table.differences {
        body += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td>",
            breakable(&difference.name),
            difference.seeds.len()
        );
        for &choice in &choices {
            for metric in &comparison.metrics {
                body += &format!("<td>{}</td>", figure(difference.figures(choice), metric, true));
            }
        }
        body += "</tr>\n";
    }
    let header = header(comparison, &choices, "recipe");
    format!(
        "<h4>Difference from {}, seed by seed</h4>\n{}",
        escape(&first.reference),
        scrolling("Differences", &format!("{header}<tbody>\n{body}</tbody>\n"))
    )
}

/// A line per figure and a column per row of the table, under the fair choice.
fn all_figures(complete: &Comparison, index: usize) -> String {
    let table = &complete.tables[index];
    let names: String = table
        .rows
        .iter()
        .map(|row| format!("<th scope=\"col\">{}</th>", breakable(&row.name)))
        .collect();
    let mut body = String::new();
    for metric in &complete.metrics {
        body += &format!("<tr><th scope=\"row\">{}</th>", escape(metric));
        for row in &table.rows {
            let text = figure(&row.validation, metric, false);
            body += &format!(
                "<td>{}</td>",
                strong_if(table.is_best(row, Choice::Validation, metric), &text)
            );
        }
        body += "</tr>\n";
    }
    let table = format!("<thead><tr><th scope=\"col\">validation</th>{names}</tr></thead>\n<tbody>\n{body}</tbody>\n");
    format!(
        "<details>\n<summary>All figures</summary>\n{}</details>\n",
        scrolling("All figures", &table)
    )
}
