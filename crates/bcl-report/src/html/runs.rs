//! Where the runs ran and how long they took.

use super::table::{Cells, head, row, table};
use super::view::Page;
use crate::markup::{breakable, escape};
use crate::result::RunResult;
use crate::units::{bytes, duration};

/// Backends on which runs with equal seeds are bit-identical.
const DETERMINISTIC_BACKENDS: [&str; 1] = ["flex"];

/// A table with one row per run.
pub(super) fn section(page: &Page) -> String {
    let Some(first) = page.recipes().next() else {
        return String::new();
    };
    let mut body = String::new();
    let mut is_deterministic = true;
    for recipe in page.recipes() {
        for (result, _) in &recipe.runs {
            body += &row(&breakable(&recipe.name), cells(result).map(|(_, text)| escape(&text)));
            is_deterministic &= DETERMINISTIC_BACKENDS.contains(&result.environment.backend.as_str());
        }
    }
    let names = cells(first.result()).map(|(name, _)| name.to_owned());
    let head = head(std::iter::once("recipe".to_owned()).chain(names));
    let note = if is_deterministic {
        ""
    } else {
        "<p class=\"intro\">On a GPU, sums have no fixed order, so repeating a run with the same seed may change the last digits \
         and, over many epochs, more.</p>\n"
    };
    format!(
        "<section>\n<h2>Environment</h2>\n{note}{}</section>\n",
        table("Environment", Cells::Text, &head, &body)
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
        ("time per epoch", duration(result.epoch_seconds)),
        ("peak memory", result.peak_memory_bytes.map_or("–".to_owned(), bytes)),
        ("backend", environment.backend.clone()),
        (
            "device",
            match &environment.driver {
                Some(driver) => format!("{} ({driver})", environment.device),
                None => environment.device.clone(),
            },
        ),
        (
            "threads",
            match environment.processes {
                1 => environment.threads.to_string(),
                processes => format!("{} in each of {processes} processes", environment.threads),
            },
        ),
        (
            "version",
            match &environment.git_revision {
                Some(revision) => format!("{} ({})", environment.version, revision.chars().take(10).collect::<String>()),
                None => environment.version.clone(),
            },
        ),
    ]
}
