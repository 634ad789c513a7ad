//! The section for curves over a parameter.

use super::table::set;
use crate::tables::Sensitivity;
use bcl_report::page::{self, Cells, Figure, escape};

/// Renders the section of one set of curves.
pub(super) fn html(curves: &Sensitivity, id: &str) -> String {
    let chart = curves.chart().to_svg(&format!("{id}-chart")).unwrap_or_default();
    let caption = format!("{} on the test set, mean and 95 % interval over seeds.", curves.metric);
    let figure = Figure::new(&format!("{} over {}", curves.metric, curves.parameter), chart, &caption).wide();
    let legend = page::legend(
        curves
            .curves
            .iter()
            .enumerate()
            .map(|(index, curve)| (index, curve.row.as_str())),
    );
    let intro = curves.tables.first().map(|(_, table)| table.protocol()).unwrap_or_default();
    let figures = page::section("Curves", &intro, &legend, std::iter::once(figure));
    let table = format!(
        "<section>\n{}</section>\n",
        set(&escape(&curves.metric), Cells::Numbers, &curves.parts())
    );
    let verdicts = page::notes(curves.tables.iter().map(|(value, table)| {
        let text = table.verdict.join(" ");
        format!("{} {value}: {}", escape(&curves.parameter), escape(&text))
    }));
    format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n<p class=\"headline\">{}</p>\n{figures}{table}{verdicts}<section>\n<p class=\"intro\"><code>{}</code></p>\n</section>\n</section>\n",
        escape(&curves.title),
        escape(&curves.verdict().join(" ")),
        escape(&curves.command)
    )
}
