//! A table of all runs that can be sorted, filtered and drawn.
//!
//! The script adds the controls, so that without it the page has the table alone. It takes all it shows from the table and from the values
//! beside it, and loads nothing.

use super::settings::flattened;
use super::table::{Cells, head, row, table};
use super::view::{DataView, Page, RecipeView};
use crate::markup::{breakable, escape};
use crate::result::RunResult;
use crate::units::duration;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const SCRIPT: &str = include_str!("explore.js");
/// The most settings in the table; the controls offer all of them.
const MOST_SETTINGS: usize = 6;

/// The section; empty for a single run.
pub(super) fn section(page: &Page) -> String {
    let runs: Vec<Listed> = page.data.iter().flat_map(listed).collect();
    if runs.len() < 2 {
        return String::new();
    }
    let keys = differing(&runs);
    let metrics: BTreeSet<&str> = runs
        .iter()
        .flat_map(|run| run.result.validation.metrics.keys())
        .map(String::as_str)
        .collect();
    let metrics: Vec<&str> = metrics.into_iter().collect();
    let values = json!({
        "metrics": metrics,
        "shown": page.comparison.metrics,
        "keys": keys,
        "runs": runs.iter().map(|run| run.values(&metrics, &keys)).collect::<Vec<_>>(),
    });
    // `<` could end the element.
    let values = values.to_string().replace('<', "\\u003c");
    format!(
        "<section id=\"explore\">\n<h2>All runs</h2>\n{}<script type=\"application/json\" id=\"explore-values\">{values}</script>\n\
         <script>\n{SCRIPT}</script>\n</section>\n",
        rows(page, &runs, &keys)
    )
}

/// A run with its recipe.
struct Listed<'a> {
    data: &'a str,
    name: &'a str,
    colour: usize,
    result: &'a RunResult,
    settings: BTreeMap<String, String>,
}

fn listed<'a>(view: &'a DataView<'a>) -> impl Iterator<Item = Listed<'a>> {
    let of_recipe = move |recipe: &'a RecipeView<'a>| {
        let of_run = move |result: &'a RunResult| Listed {
            data: &view.data.name,
            name: &recipe.name,
            colour: recipe.colour,
            result,
            settings: flattened(&result.recipe),
        };
        recipe.runs.iter().map(move |(result, _)| of_run(result))
    };
    view.recipes.iter().flat_map(of_recipe)
}

/// The settings whose values differ between runs.
fn differing(runs: &[Listed]) -> Vec<String> {
    let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.settings.keys()).collect();
    let differs = |key: &&String| runs.iter().any(|run| run.settings.get(*key) != runs[0].settings.get(*key));
    keys.into_iter().filter(differs).cloned().collect()
}

impl Listed<'_> {
    /// What the script knows of the run.
    fn values(&self, metrics: &[&str], keys: &[String]) -> Value {
        let metric = |metric: &&str| self.result.validation.metrics.get(*metric).map(|value| rounded(*value));
        json!({
            "recipe": self.name,
            "data": self.data,
            "colour": self.colour % 8,
            "seed": self.result.seed,
            "epoch": self.result.validation.epoch,
            "seconds": rounded(self.result.wall_seconds),
            "metrics": metrics.iter().map(metric).collect::<Vec<_>>(),
            "keys": keys.iter().map(|key| self.settings.get(key)).collect::<Vec<_>>(),
        })
    }
}

/// Six significant digits are more than a chart shows.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn rows(page: &Page, runs: &[Listed], keys: &[String]) -> String {
    let metrics = &page.comparison.metrics;
    let has_several = page.data.len() > 1;
    let keys = &keys[..keys.len().min(MOST_SETTINGS)];
    let data = has_several.then(|| "data".to_owned());
    let names = ["recipe".to_owned()].into_iter().chain(data);
    let names = names
        .chain(["seed".to_owned()])
        .chain(metrics.iter().map(|name| escape(name)));
    let names = names
        .chain(["epoch".to_owned(), "time".to_owned()])
        .chain(keys.iter().map(|key| escape(key)));
    let body: String = runs
        .iter()
        .map(|run| {
            let figure = |metric: &String| {
                run.result
                    .validation
                    .metrics
                    .get(metric)
                    .map_or("–".to_owned(), |value| format!("{value:.4}"))
            };
            let data = has_several.then(|| escape(run.data));
            let cells = data
                .into_iter()
                .chain([run.result.seed.to_string()])
                .chain(metrics.iter().map(figure));
            let cells = cells.chain([run.result.validation.epoch.to_string(), duration(run.result.wall_seconds)]);
            let settings = keys
                .iter()
                .map(|key| run.settings.get(key).map_or("–".to_owned(), |value| escape(value)));
            row(&breakable(run.name), cells.chain(settings))
        })
        .collect();
    table("All runs", Cells::Text, &head(names), &body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn section_of(runs: &[(RunResult, Vec<crate::result::EpochRecord>)]) -> String {
        section(&Page::new(runs))
    }

    fn values(section: &str) -> Value {
        let (_, rest) = section.split_once("id=\"explore-values\">").expect("values");
        serde_json::from_str(rest.split_once("</script>").expect("closed").0).expect("JSON")
    }

    #[test]
    fn every_run_is_a_row_with_its_figures_and_the_settings_that_differ() {
        let section = section_of(&sample::runs());
        assert_eq!(section.matches("<th scope=\"row\">").count(), 9);
        assert!(section.contains("<th scope=\"col\">loss.kind</th>") && !section.contains("optimizer.kind"));
        let values = values(&section);
        assert_eq!(
            (values["keys"].clone(), values["runs"].as_array().map(Vec::len)),
            (json!(["loss.kind"]), Some(9))
        );
        let metrics = values["metrics"].as_array().expect("metrics");
        assert!(metrics.contains(&json!("ndcg@20")));
        assert_eq!(values["runs"][8]["metrics"].as_array().map(Vec::len), Some(metrics.len()));
    }

    #[test]
    fn a_single_run_has_no_such_table() {
        assert_eq!(section_of(&sample::runs()[..1]), "");
    }

    #[test]
    fn no_text_of_a_run_can_end_the_script() {
        let attack = "</script><b>";
        let mut runs = sample::runs();
        runs[0].0.recipe["loss"]["note"] = attack.into();
        runs[0].0.name = attack.to_owned();
        let section = section_of(&runs);
        assert!(!section.contains("<b>"), "{section}");
        assert_eq!(section.matches("</script>").count(), 2);
        assert!(
            values(&section).to_string().contains("</script><b>"),
            "the text itself is kept"
        );
    }
}
