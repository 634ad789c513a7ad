//! The HTML report of one or more runs, as one self-contained page.

mod calibration;
mod curves;
mod detection;
mod explore;
pub(super) mod figure;
mod folds;
pub(super) mod forest;
pub(super) mod gallery;
mod headline;
mod probes;
mod result_cells;
mod results;
mod runs;
mod settings;
mod showcase;
pub(super) mod table;
#[cfg(test)]
mod tests;
mod view;
mod weights;

use super::chart::{PALETTE, STYLE};
use super::markup::{each, escape};
use super::page_path::identity;
use super::units::{classes_in_words, count, duration, numbers};
use crate::left_out;
use crate::result::{DataSize, EpochRecord, RunResult};
use bcl_files::{FileError, sha256, write_whole};
use std::path::Path;
use view::{Page, RecipeView};

/// Number of runs up to which the facts at the top list the epoch of each.
const LISTED_EPOCHS: usize = 10;

/// Typography and layout.
const LAYOUT: &str = include_str!("style.css");

/// Renders the report of `runs`: results, curves, weights, calibration, features, environment and recipes.
///
/// The page is self-contained (no fonts or requests, and of several runs one inline script, without which it stays readable), follows the reader's light or dark mode, and fits a phone.
pub fn render_html(runs: &[(RunResult, Vec<EpochRecord>)]) -> String {
    let page = Page::new(runs);
    let title = title(&page);
    let mut body = String::new();
    for (index, (view, table)) in page.parts().enumerate() {
        let id = format!("data{index}");
        if page.data.len() > 1 {
            body += &["<h2>", &escape(&view.data.name), "</h2>\n"].concat();
        }
        body += &headline::html(&page, index);
        body += &forest::html(view, table);
        body += &results::section(&page, index);
        body += &curves::section(view, &id);
        body += &weights::section(view, &id);
        body += &detection::section(view, &id);
        body += &calibration::section(view, &id);
        body += &showcase::section(view, &id);
    }
    body += &explore::section(&page);
    body += &runs::section(&page);
    body += &settings::section(&page);
    if body.is_empty() {
        body += "<p class=\"headline\">No runs.</p>\n";
    }
    document_of(&fingerprint(runs), "bcl-train report", &title, &facts(&page), &body)
}

/// SHA-256 of the results on a page, independent of their order.
fn fingerprint(runs: &[(RunResult, Vec<EpochRecord>)]) -> String {
    let mut results: Vec<String> = runs
        .iter()
        .map(|(result, _)| serde_json::to_string(result).expect("a result is plain data"))
        .collect();
    results.sort();
    sha256(results.join("\n").as_bytes())
}

/// Builds a whole page from the kind of report, the title, the facts below the title, and the body. All except `kind` are markup.
pub fn document(kind: &str, title: &str, facts: &str, body: &str) -> String {
    document_of(kind, kind, title, facts, body)
}

/// Like [`document`], and also stores the identity `shows` in the page's head. [`free_path`](crate::page::free_path) only replaces
/// pages with the same identity.
pub fn document_of(shows: &str, kind: &str, title: &str, facts: &str, body: &str) -> String {
    let kind = escape(kind);
    let identity = identity(&escape(shows));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n{identity}\n<title>{title}</title>\n<style>\n{PALETTE}{LAYOUT}{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<p class=\"kind\">{kind}</p>\n<h1>{title}</h1>\n{facts}</header>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// Writes the report of `runs` to `path`. A file that is already there is replaced only once the new page is complete.
///
/// # Errors
/// Returns an error that names the file if it cannot be written.
pub fn write_html(path: &Path, runs: &[(RunResult, Vec<EpochRecord>)]) -> Result<(), FileError> {
    write_whole(path, render_html(runs).as_bytes())
}

/// The name of the recipe, or the number of recipes, as markup.
fn title(page: &Page) -> String {
    let recipes: Vec<&RecipeView> = page.recipes().collect();
    match recipes[..] {
        [] => "No runs".to_owned(),
        [recipe] => escape(&recipe.name),
        _ => format!("Comparison of {} recipes", recipes.len()),
    }
}

/// The facts that the runs share, below the title.
fn facts(page: &Page) -> String {
    let mut facts: Vec<(&str, String)> = Vec::new();
    if let [view] = &page.data[..] {
        let data = view.data;
        let parts = |train, test| format!("{} training, {} test", count(train), count(test));
        match data.size {
            DataSize::Interactions {
                users,
                items,
                train,
                test,
            } => {
                facts.push((
                    "data",
                    format!("{}, {} users, {} items", data.name, count(users), count(items)),
                ));
                facts.push(("interactions", parts(train, test)));
                let report = &view.recipes[0].result().left_out.unwrap_or_default();
                facts.extend(left_out::left_out(report).map(|text| ("left out", text)));
                facts.extend(left_out::untrained(report, test).map(|text| ("not in train", text)));
            }
            DataSize::Images {
                classes,
                train,
                test,
                skipped,
            } => {
                facts.push(("data", format!("{}, {}", data.name, classes_in_words(classes))));
                facts.push(("images", parts(train, test)));
                if skipped > 0 {
                    facts.push(("skipped", format!("{} broken image files", count(skipped))));
                }
            }
            DataSize::Graphs {
                graphs,
                classes,
                nodes,
                edges,
                features,
            } => {
                facts.push(("data", format!("{}, {}", data.name, classes_in_words(classes))));
                facts.push((
                    "graphs",
                    format!("{}, {} nodes, {} edges", count(graphs), count(nodes), count(edges)),
                ));
                facts.push(("features per node", count(features)));
            }
        }
    }
    let recipes: Vec<&RecipeView> = page.recipes().collect();
    if let [recipe] = recipes[..] {
        let result = recipe.result();
        facts.push(("model", format!("{}, {}", result.encoder, result.loss)));
        let epochs: Vec<usize> = recipe.runs.iter().map(|(run, _)| run.validation.epoch).collect();
        facts.push((if epochs.len() == 1 { "epoch" } else { "epochs" }, epochs_in_words(&epochs)));
    }
    let results = || recipes.iter().flat_map(|recipe| &recipe.runs).map(|(result, _)| *result);
    if results().next().is_some() {
        let mut seeds: Vec<u64> = results().map(|result| result.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        facts.push((if seeds.len() == 1 { "seed" } else { "seeds" }, numbers(&seeds)));
        facts.push(("wall time", duration(results().map(|result| result.wall_seconds).sum())));
    }
    let items = each(facts, |(name, text)| {
        format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(&text))
    });
    format!("<dl class=\"facts\">\n{items}</dl>\n")
}

/// The chosen epoch of each run, or their range if there are many runs.
fn epochs_in_words(epochs: &[usize]) -> String {
    match (epochs.iter().min(), epochs.iter().max()) {
        (Some(least), Some(most)) if epochs.len() > LISTED_EPOCHS => format!("{least} to {most}"),
        _ => epochs.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    }
}
