//! The table of folds: the accuracy of a cross-validated classifier on each of them.

use super::table::{Cells, head, row, table};
use super::view::Page;
use crate::Interval;
use crate::markup::{each, escape};

const TITLE: &str = "Accuracy by fold";

/// The table, one row per run and classifier; empty if no run has folds.
pub(super) fn html(page: &Page, index: usize) -> String {
    let runs = page.data[index].recipes.iter().flat_map(|recipe| &recipe.runs);
    let rows: Vec<(String, &[f64])> = runs
        .flat_map(|(run, _)| {
            let of_run = format!("{}, seed {}", run.name, run.seed);
            let folds = run.folds.iter();
            folds.map(move |(classifier, folds)| (format!("{of_run}: {classifier}"), folds.as_slice()))
        })
        .collect();
    let most = rows.iter().map(|(_, folds)| folds.len()).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let names = ["run and classifier", "mean ± 95 %", "standard deviation"].map(str::to_owned);
    let names = names.into_iter().chain((1..=most).map(|fold| format!("fold {fold}")));
    let body = each(&rows, |(name, folds)| {
        let interval = Interval::of(folds);
        let summary = interval.map_or([String::new(), String::new()], |interval| {
            [interval.text(3, false), format!("{:.3}", deviation(folds, interval.mean))]
        });
        let accuracy = |fold: usize| folds.get(fold).map_or(String::new(), |accuracy| format!("{accuracy:.3}"));
        row(&escape(name), summary.into_iter().chain((0..most).map(accuracy)))
    });
    format!(
        "<details>\n<summary>{TITLE}</summary>\n{}<ul class=\"notes\">\n<li>Folds of a run share most of their training graphs, so they are \
         not independent, and the interval over them is too narrow. Compare recipes by the interval over seeds.</li>\n</ul>\n</details>\n",
        table(TITLE, Cells::Numbers, &head(names), &body)
    )
}

/// The standard deviation of the population, as papers print it.
fn deviation(values: &[f64], mean: f64) -> f64 {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / values.len() as f64).sqrt()
}
