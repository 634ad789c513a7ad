//! The recipes that come with the program, and what all recipes have in common.

use super::{GraphEncoderKind, ImageEncoderKind, from_data::recipe_for};
use crate::{Builtin, Document, Library, RecipeError, RecipeSource, Rules};
use bcl_core::EstimatorConfig;
use include_dir::{Dir, include_dir};
use std::sync::LazyLock;

/// The folder `recipes`, built into the program.
static FOLDER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../recipes");

/// The built-in recipes.
pub(super) static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let rules = Rules {
        listed: "; `bcl-train recipes` lists the built-in ones",
        hint,
        make_way,
        recipe_for,
    };
    Library::of_folder(&FOLDER, rules)
});

/// All built-in recipes, by name, without the bases that they extend.
pub fn built_in() -> &'static [Builtin] {
    LIBRARY.all()
}

/// Finds recipes by name or path, as [`Library::find`] describes.
///
/// ```
/// use bcl_recipe::find;
///
/// assert_eq!(find("quickstart/bayesian")?.len(), 1);
/// assert_eq!(find("table10/ml-100k")?.len(), 8);
/// assert_eq!(find("recipes/quickstart.toml")?.len(), 2);
/// # Ok::<(), bcl_recipe::RecipeError>(())
/// ```
///
/// # Errors
/// Returns an error if there is no such recipe, or the folder cannot be read or has none.
pub fn find(name: &str) -> Result<Vec<RecipeSource>, RecipeError> {
    LIBRARY.find(name)
}

/// What to write for a required key.
fn hint(key: &str) -> String {
    match key {
        "data" => "; set data.dataset (such as \"planted\"), data.train and data.test, data.file, or data.files".to_owned(),
        "loss" | "loss.kind" => {
            let kinds: Vec<String> = EstimatorConfig::all()
                .iter()
                .map(|config| format!("\"{}\"", config.name()))
                .collect();
            format!("; set loss.kind to one of {}", kinds.join(", "))
        }
        "encoder" | "encoder.kind" => {
            let [images, graphs] = [&ImageEncoderKind::KINDS, &GraphEncoderKind::KINDS].map(|kinds| kinds.join("\" or \""));
            format!("; set encoder.kind = \"{images}\" to train on images, \"{graphs}\" to train on graphs")
        }
        _ => String::new(),
    }
}

/// Drops the parent's `[data]` if the child names its data by another key, such as `file` instead of `dataset`, and the parent's generator
/// if the child's data are not generated.
fn make_way(parent: &mut Document, child: &Document) {
    let source = |document: &Document| {
        let keys = ["dataset", "train", "test", "file", "files", "images", "graphs"];
        let given = |key: &&str| document.value(&format!("data.{key}")).is_some();
        // Train and test belong together.
        keys.into_iter().find(given).map(|key| key.replace("test", "train"))
    };
    let (Some(former), Some(new)) = (source(parent), source(child)) else {
        return;
    };
    if former != new {
        parent.remove("data");
    } else if child.text("data.dataset").is_some_and(|dataset| dataset != "planted") {
        parent.remove("data.planted");
    }
}
