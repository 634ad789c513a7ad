//! The table of probes: all metrics of image encoders, next to untrained baselines.

use super::result_cells::{cell, row_header};
use super::table::{Cells, head, row, table};
use super::view::Page;
use crate::Choice;
use crate::markup::{each, escape};
use crate::metric_names::evaluation;

/// The table, followed by notes on its columns.
pub(super) fn html(page: &Page, index: usize) -> String {
    let (view, results) = (&page.data[index], &page.complete.tables[index]);
    let metrics = &results.metrics;
    let groups: Vec<&[String]> = metrics.chunk_by(|a, b| evaluation(a).name == evaluation(b).name).collect();
    let group_head = each(&groups, |group| {
        format!(
            "<th scope=\"colgroup\" colspan=\"{}\">{}</th>",
            group.len(),
            escape(&evaluation(&group[0]).name)
        )
    });
    let body = each(&results.rows, |of| {
        let figures = metrics.iter().map(|metric| cell(results, of, Choice::Validation, metric));
        row(&row_header(of, view), figures)
    });
    let title = if view.data.size.can_be_evaluated() {
        "Probes"
    } else {
        "Features"
    };
    let notes = each(&groups, |group| {
        let evaluation = evaluation(&group[0]);
        format!("<li>{}: {}</li>\n", escape(&evaluation.name), escape(evaluation.about))
    });
    format!(
        "<h4>{title}</h4>\n{}<ul class=\"notes\">\n{notes}</ul>\n",
        table(
            title,
            Cells::Numbers,
            &format!(
                "<tr><th scope=\"col\" rowspan=\"2\">recipe</th>{group_head}</tr>\n{}",
                head(metrics.iter().map(|metric| escape(metric)))
            ),
            &body
        )
    )
}
