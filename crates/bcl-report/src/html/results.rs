//! Tables of results.

use super::folds;
use super::probes;
use super::result_cells::{cell, row_header, strong_if};
use super::table::{Cells, head, row, table};
use super::view::{DataView, Page};
use crate::comparison::text::figure;
use crate::markup::{breakable, each, escape};
use crate::result::DataSize;
use crate::{Choice, DataTable, RowKind};

/// The selected metrics, the differences, the legend, and a collapsed table of all metrics.
pub(super) fn section(page: &Page, index: usize) -> String {
    let results = &page.comparison.tables[index];
    let legend = each(page.comparison.legend(), |line| format!("<li>{}</li>\n", escape(&line)));
    format!(
        "<section>\n<h3>Results</h3>\n{}{}<ul class=\"notes\">\n{legend}</ul>\n{}</section>\n",
        rows(results, &page.data[index]),
        differences(results),
        match page.data[index].data.size {
            DataSize::Interactions { .. } => all_figures(&page.complete.tables[index]),
            DataSize::Images { .. } => probes::html(page, index),
            DataSize::Graphs { .. } => probes::html(page, index) + &folds::html(page, index),
        },
    )
}

/// The columns: for each choice of epoch that recipes have, each metric.
fn columns(results: &DataTable) -> Vec<(Choice, &str)> {
    let choices = Choice::ALL.into_iter().filter(|choice| results.has(*choice));
    choices
        .flat_map(|choice| results.metrics.iter().map(move |metric| (choice, metric.as_str())))
        .collect()
}

/// The two header rows above recipes, seeds and metrics.
fn grouped_head(results: &DataTable, columns: &[(Choice, &str)]) -> String {
    let groups = each(columns.chunk_by(|(a, _), (b, _)| a == b), |group| {
        format!(
            "<th scope=\"colgroup\" colspan=\"{}\">{}</th>",
            group.len(),
            results.title(group[0].0)
        )
    });
    format!(
        "<tr><th scope=\"col\" rowspan=\"2\">recipe</th><th scope=\"col\" rowspan=\"2\">seeds</th>{groups}</tr>\n{}",
        head(columns.iter().map(|(_, metric)| escape(metric)))
    )
}

fn rows(results: &DataTable, view: &DataView) -> String {
    let columns = columns(results);
    let body = each(&results.rows, |of| {
        let seeds = match of.kind {
            RowKind::Recipe => of.seeds.len().to_string(),
            RowKind::Baseline => String::new(),
        };
        let figures = columns.iter().map(|&(choice, metric)| cell(results, of, choice, metric));
        row(&row_header(of, view), std::iter::once(seeds).chain(figures))
    });
    table("Results", Cells::Numbers, &grouped_head(results, &columns), &body)
}

fn differences(results: &DataTable) -> String {
    let Some(first) = results.differences.first() else {
        return String::new();
    };
    let mut columns = columns(results);
    columns.retain(|&(choice, metric)| results.is_compared(choice, metric));
    let body = each(&results.differences, |difference| {
        let seeds = difference.seeds.len().to_string();
        let figures = columns
            .iter()
            .map(|&(choice, metric)| figure(difference.figures(choice), metric, true));
        row(&breakable(&difference.name), std::iter::once(seeds).chain(figures))
    });
    format!(
        "<h4>Difference from {}, paired by seed</h4>\n{}",
        escape(&first.reference),
        table("Differences", Cells::Numbers, &grouped_head(results, &columns), &body)
    )
}

/// All metrics at the epoch chosen on the validation set: one row per metric, one column per recipe or baseline.
fn all_figures(results: &DataTable) -> String {
    let names = results.rows.iter().map(|of| breakable(&of.name));
    let body = each(&results.metrics, |metric| {
        let figures = results.rows.iter().map(|of| {
            let best = results.is_best(of, Choice::Validation, metric);
            strong_if(best, figure(&of.validation, metric, false))
        });
        row(&escape(metric), figures)
    });
    let head = head(std::iter::once(results.title(Choice::Validation).to_owned()).chain(names));
    format!(
        "<details>\n<summary>All metrics</summary>\n{}</details>\n",
        table("All metrics", Cells::Numbers, &head, &body)
    )
}
