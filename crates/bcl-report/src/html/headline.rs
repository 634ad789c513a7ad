//! The result in two or three sentences that claim no more than the data support.

use super::view::{DataView, Page, RecipeView};
use crate::collapse::collapse;
use crate::markup::{each, escape};
use crate::result::{ALIGNMENT, DataSize, LAST_LOSS, UNIFORMITY};
use crate::{DataTable, Interval, Row, RowKind, units};

/// The headline of a data set, as HTML.
pub(super) fn html(page: &Page, index: usize) -> String {
    let view = &page.data[index];
    // Uses the table of all metrics, because the metric that chose the epoch may not be among those shown.
    let table = &page.complete.tables[index];
    let collapsed = collapsed(view);
    if !view.data.size.can_be_evaluated() {
        return without_labels(table) + &collapsed;
    }
    let mut sentences = Vec::new();
    let Some((best, interval)) = highest(table, RowKind::Recipe, &view.metric) else {
        return collapsed;
    };
    let figure = format!(
        "{} <strong class=\"figure\">{interval}</strong> on the test set",
        escape(&view.metric)
    );
    let recipes = table.rows.iter().filter(|row| row.kind == RowKind::Recipe).count();
    if recipes == 1 {
        let when = if view.is_of_last_epoch() {
            "after the last epoch"
        } else {
            "at the epoch chosen on the validation set"
        };
        sentences.push(format!("{figure}, {when}."));
    } else {
        let name = escape(&best.name);
        sentences.push(format!("Best of {recipes} recipes: <strong>{name}</strong>, {figure}."));
        sentences.extend(against_reference(table, best, view));
    }
    if let Some((baseline, level)) = highest(table, RowKind::Baseline, &view.metric) {
        let distance = level.mean - interval.mean;
        let side = if distance > 0.0 { "ahead" } else { "behind" };
        sentences.push(format!(
            "The best baseline, {} ({level}), is {:.4} {side}.",
            escape(&baseline.name),
            distance.abs()
        ));
    }
    format!("<p class=\"headline\">{}</p>\n{collapsed}", sentences.join(" "))
}

/// A sentence per recipe whose features have collapsed in some run.
fn collapsed(view: &DataView) -> String {
    let of_recipe = |recipe: &RecipeView| {
        let runs = || recipe.runs.iter().map(|(result, _)| *result);
        let collapsed = || runs().filter_map(|run| Some((run.seed, collapse(&run.validation.metrics)?)));
        let (_, text) = collapsed().next()?;
        let seeds: Vec<u64> = collapsed().map(|(seed, _)| seed).collect();
        Some(format!(
            "<p class=\"headline\">The features of <strong>{}</strong> {} (seed {}).</p>\n",
            escape(&recipe.name),
            escape(&text),
            units::numbers(&seeds)
        ))
    };
    each(view.recipes.iter().filter_map(of_recipe), |sentence| sentence)
}

/// The headline without labelled test images or graph labels, which cannot say which features are better.
fn without_labels(table: &DataTable) -> String {
    let mut recipes = table.rows.iter().filter(|row| row.kind == RowKind::Recipe);
    let figures = match (recipes.next(), recipes.next()) {
        (Some(only), None) if !only.validation.is_empty() => {
            let figures: Vec<String> = [LAST_LOSS, ALIGNMENT, UNIFORMITY]
                .into_iter()
                .filter_map(|name| {
                    Some(format!(
                        "{name} <strong class=\"figure\">{}</strong>",
                        only.validation.get(name)?
                    ))
                })
                .collect();
            format!(" After the last epoch: {}.", figures.join(", "))
        }
        _ => String::new(),
    };
    let missing = match table.data.size {
        DataSize::Graphs { .. } => "No graph labels: the vectors of the graphs are not evaluated.",
        _ => "No labelled test images: the metrics describe the features, but do not measure their quality.",
    };
    format!("<p class=\"headline\">{missing}{figures}</p>\n")
}

fn highest<'a>(table: &'a DataTable, kind: RowKind, metric: &str) -> Option<(&'a Row, Interval)> {
    let rows = table.rows.iter().filter(|row| row.kind == kind);
    rows.filter_map(|row| Some((row, *row.validation.get(metric)?)))
        // The first row wins a tie.
        .reduce(|best, other| if other.1.mean > best.1.mean { other } else { best })
}

/// Compares the best recipe with the reference, the recipe with the `info_nce` loss.
fn against_reference(table: &DataTable, best: &Row, view: &DataView) -> Option<String> {
    let reference = escape(&table.differences.first()?.reference);
    let Some(difference) = table.differences.iter().find(|difference| difference.name == best.name) else {
        return (best.name == table.differences.first()?.reference).then(|| "No other recipe beats InfoNCE.".to_owned());
    };
    let interval = difference.validation.get(&view.metric)?;
    let text = interval.text(4, true);
    Some(match interval.bounds() {
        None => format!("Its difference from {reference} is {text} on a single seed, which may be chance."),
        Some((low, high)) if low <= 0.0 && high >= 0.0 => format!(
            "Its difference from {reference} is {text}; the interval includes 0, so these seeds cannot tell the two apart."
        ),
        Some(_) => format!("Its difference from {reference}, paired by seed, is {text}."),
    })
}
