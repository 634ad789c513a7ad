//! Summarises a table in sentences.

use super::{Paired, RowResult};
use bcl_report::result::Metrics;
use std::collections::BTreeMap;

/// What wins and what ties, by a metric for which more is better.
pub(super) fn verdict(rows: &[RowResult], pairs: &[Paired], baselines: &BTreeMap<String, Metrics>, metric: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let figure = |row: &RowResult| row.figures.get(metric).map(|interval| interval.mean);
    let ranked: Vec<(&RowResult, f64)> = {
        let mut ranked: Vec<_> = rows.iter().filter_map(|row| Some((row, figure(row)?))).collect();
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        ranked
    };
    let Some(((best, top), others)) = ranked.split_first() else {
        return sentences;
    };
    if !others.is_empty() {
        let to_best = |row: &RowResult| {
            pairs.iter().find(|pair| {
                (pair.row == row.name && pair.other == best.name) || (pair.row == best.name && pair.other == row.name)
            })
        };
        let (behind, level): (Vec<&(&RowResult, f64)>, Vec<_>) = others
            .iter()
            .partition(|(row, _)| to_best(row).is_some_and(Paired::is_significant));
        sentences.push(if pairs.iter().all(|pair| pair.p.is_none()) {
            format!("{} has the highest mean; a single seed cannot tell rows apart.", best.name)
        } else if level.is_empty() {
            format!("{} wins: it differs from every other row.", best.name)
        } else {
            let verb = if level.len() == 1 { "ties with it" } else { "tie with it" };
            format!(
                "{} has the highest mean, and {} {verb}: the differences are not significant.",
                best.name,
                names(&level)
            )
        });
        if !behind.is_empty() {
            let verb = if behind.len() == 1 { "is" } else { "are" };
            sentences.push(format!("{} {verb} significantly worse than {}.", names(&behind), best.name));
        }
    }
    for (name, figures) in baselines {
        if let Some(baseline) = figures.get(metric) {
            let difference = baseline - top;
            let word = if difference > 0.0 { "above" } else { "below" };
            sentences.push(format!(
                "{name} ({baseline:.4}) is {:.4} {word} the best row.",
                difference.abs()
            ));
        }
    }
    sentences
}

fn names(rows: &[&(&RowResult, f64)]) -> String {
    let names: Vec<&str> = rows.iter().map(|(row, _)| row.name.as_str()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}
