//! Cells of tables of results.

use super::figure::swatch;
use super::view::DataView;
use crate::comparison::text::figure;
use crate::markup::{breakable, escape};
use crate::metric_names::decimals;
use crate::{Choice, DataTable, Row, RowKind};

/// The name of a row, with the colour of its recipe if there are several.
pub(super) fn row_header(of: &Row, view: &DataView) -> String {
    let recipe = view
        .recipes
        .iter()
        .find(|recipe| recipe.name == of.name && of.kind == RowKind::Recipe);
    match recipe {
        Some(recipe) if view.recipes.len() > 1 => swatch(recipe.colour) + &breakable(&of.name),
        Some(_) => breakable(&of.name),
        None => format!("<span class=\"baseline\">{}</span>", escape(&of.name)),
    }
}

/// A cell of the table. In a column with intervals, a value without one is aligned with the means.
pub(super) fn cell(results: &DataTable, of: &Row, choice: Choice, metric: &str) -> String {
    let has_interval = |row: &Row| {
        row.figures(choice)
            .get(metric)
            .is_some_and(|interval| interval.half_width.is_some())
    };
    let text = strong_if(results.is_best(of, choice, metric), figure(of.figures(choice), metric, false));
    if !has_interval(of) && results.rows.iter().any(has_interval) {
        format!(
            "{text}<span class=\"room\" aria-hidden=\"true\"> ± {:.*}</span>",
            decimals(metric),
            0.0
        )
    } else {
        text
    }
}

/// Marks a text if it is the best.
pub(super) fn strong_if(best: bool, text: String) -> String {
    if best { format!("<strong>{text}</strong>") } else { text }
}
