//! Curves over a parameter.

use crate::tables::Sensitivity;
use bcl_train::report::page::{self, Cells, Figure, escape};

/// The section of some curves.
pub(super) fn html(curves: &Sensitivity, id: &str) -> String {
    let chart = curves.chart().to_svg(&format!("{id}-chart")).unwrap_or_default();
    let caption = format!("{} on test, mean and 95 % interval over seeds.", curves.metric);
    let figure = Figure::new(&format!("{} over {}", curves.metric, curves.parameter), chart, &caption).wide();
    let legend = page::legend(
        curves
            .curves
            .iter()
            .enumerate()
            .map(|(index, curve)| (index, curve.row.as_str())),
    );
    let intro = curves.tables.first().map(|(_, table)| table.protocol()).unwrap_or_default();
    let mut body = page::section("Curves", &intro, &legend, std::iter::once(figure));
    body += &table(curves);
    let verdicts = page::notes(curves.tables.iter().map(|(value, table)| {
        let text = table.verdict.join(" ");
        format!("{} {value}: {}", escape(&curves.parameter), escape(&text))
    }));
    format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n<p class=\"headline\">{}</p>\n{body}{verdicts}<p class=\"intro\"><code>{}</code></p>\n</section>\n",
        escape(&curves.title),
        escape(&curves.verdict().join(" ")),
        escape(&curves.command)
    )
}

fn table(curves: &Sensitivity) -> String {
    let head = page::head(
        std::iter::once(escape("row")).chain(
            curves
                .tables
                .iter()
                .map(|(value, _)| format!("{} {value}", escape(&curves.parameter))),
        ),
    );
    let rows = curves.curves.iter().map(|curve| {
        let cells = curves.tables.iter().map(|(value, _)| {
            let point = curve.points.iter().find(|(at, _)| at == value);
            point.map(|(_, figure)| figure.to_string()).unwrap_or_default()
        });
        page::row(&escape(&curve.row), cells)
    });
    page::table(&escape(&curves.metric), Cells::Figures, &head, &rows.collect::<String>())
}
