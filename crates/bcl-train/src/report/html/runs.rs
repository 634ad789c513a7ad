//! Where the runs ran, and how long.

use super::view::Page;
use crate::report::markup::{breakable, escape};
use crate::report::units::{bytes, duration};
use crate::result::RunResult;

/// Backends on which equal seeds give equal bits.
const DETERMINISTIC_BACKENDS: [&str; 1] = ["flex"];

/// A table with a line per run.
pub(super) fn section(page: &Page) -> String {
    let results = || {
        page.recipes()
            .flat_map(|recipe| recipe.runs.iter().map(move |(result, _)| (recipe, *result)))
    };
    let mut body = String::new();
    for (recipe, result) in results() {
        let cells: String = cells(result)
            .iter()
            .map(|(_, text)| format!("<td>{}</td>", escape(text)))
            .collect();
        body += &format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", breakable(&recipe.name));
    }
    let Some((_, first)) = results().next() else {
        return String::new();
    };
    let names: String = cells(first)
        .iter()
        .map(|(name, _)| format!("<th scope=\"col\">{name}</th>"))
        .collect();
    let varies = results().any(|(_, result)| !DETERMINISTIC_BACKENDS.contains(&result.environment.backend.as_str()));
    let note = if varies {
        "<p class=\"intro\">On a GPU sums run in no fixed order, so a run repeated with the same seed may differ in the last digits \
         and, over many epochs, in more.</p>\n"
    } else {
        ""
    };
    format!(
        "<section>\n<h2>Environment</h2>\n{note}<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Environment\">\n\
         <table class=\"text\">\n<thead><tr><th scope=\"col\">recipe</th>{names}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n\
         </section>\n"
    )
}

fn cells(result: &RunResult) -> [(&'static str, String); 10] {
    let environment = &result.environment;
    let oracle = result
        .oracle
        .as_ref()
        .map_or("–".to_owned(), |chosen| chosen.epoch.to_string());
    [
        ("seed", result.seed.to_string()),
        ("epoch", result.validation.epoch.to_string()),
        ("oracle epoch", oracle),
        ("wall time", duration(result.wall_seconds)),
        ("an epoch", duration(result.epoch_seconds)),
        ("peak memory", result.peak_memory_bytes.map_or("–".to_owned(), bytes)),
        ("backend", environment.backend.clone()),
        ("device", environment.device.clone()),
        ("threads", environment.threads.to_string()),
        (
            "version",
            match &environment.git_revision {
                Some(revision) => format!("{} ({})", environment.version, revision.chars().take(10).collect::<String>()),
                None => environment.version.clone(),
            },
        ),
    ]
}
