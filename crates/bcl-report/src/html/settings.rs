//! The recipes: a table of the settings that differ, and each recipe in full.

use super::table::{Cells, head, row, table};
use super::view::{Page, RecipeView};
use crate::markup::{breakable, each, escape};
use serde_json::Value;
use std::collections::BTreeMap;

/// Keys that always differ between recipes or seeds and are not settings.
const IDENTITY: [&str; 2] = ["name", "seed"];

/// The table of differences and the recipes as TOML.
pub(super) fn section(page: &Page) -> String {
    let recipes: Vec<&RecipeView> = page.recipes().collect();
    let open = if recipes.len() == 1 { " open" } else { "" };
    let full = each(&recipes, |recipe| {
        let result = recipe.result();
        format!(
            "<details{open}>\n<summary>{} <span class=\"hash\">{}</span></summary>\n<pre tabindex=\"0\">{}</pre>\n</details>\n",
            escape(&recipe.name),
            escape(&result.recipe_hash.chars().take(12).collect::<String>()),
            escape(&toml(&result.recipe))
        )
    });
    if full.is_empty() {
        return full;
    }
    format!("<section>\n<h2>Recipes</h2>\n{}{full}</section>\n", differing(&recipes))
}

/// The recipe as TOML, or as JSON if TOML cannot represent it.
fn toml(recipe: &Value) -> String {
    toml::to_string(recipe).unwrap_or_else(|_| format!("{recipe:#}"))
}

/// A table of the keys whose values differ between recipes.
fn differing(recipes: &[&RecipeView]) -> String {
    let settings: Vec<BTreeMap<String, String>> = recipes.iter().map(|recipe| flattened(&recipe.result().recipe)).collect();
    let mut keys: Vec<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|key| settings.iter().any(|other| other.get(*key) != settings[0].get(*key)));
    if keys.is_empty() {
        return String::new();
    }
    let names = recipes.iter().map(|recipe| breakable(&recipe.name));
    let head = head(std::iter::once("key".to_owned()).chain(names));
    let body = each(keys, |key| {
        let value = |settings: &BTreeMap<String, String>| settings.get(key).map_or("–".to_owned(), |value| escape(value));
        row(&escape(key), settings.iter().map(value))
    });
    format!(
        "<h4>Settings that differ</h4>\n{}",
        table("Settings that differ", Cells::Text, &head, &body)
    )
}

/// Flattens nested settings: `{"loss": {"beta": 0.8}}` becomes `loss.beta` and `0.8`.
pub(super) fn flattened(recipe: &Value) -> BTreeMap<String, String> {
    fn visit(prefix: &str, value: &Value, settings: &mut BTreeMap<String, String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let path = if prefix.is_empty() {
                        key.clone()
                    } else {
                        format!("{prefix}.{key}")
                    };
                    if !IDENTITY.contains(&path.as_str()) {
                        visit(&path, value, settings);
                    }
                }
            }
            Value::String(text) => {
                settings.insert(prefix.to_owned(), text.clone());
            }
            other => {
                settings.insert(prefix.to_owned(), other.to_string());
            }
        }
    }
    let mut settings = BTreeMap::new();
    visit("", recipe, &mut settings);
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_settings_get_dotted_keys_without_name_and_seed() {
        let settings =
            flattened(&json!({"name": "a", "seed": 1, "loss": {"beta": 0.8, "kind": "bayesian"}, "data": {"name": "b"}}));
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            settings,
            [("data.name", "b"), ("loss.beta", "0.8"), ("loss.kind", "bayesian")]
        );
    }

    #[test]
    fn a_recipe_reads_as_toml_and_as_json_where_that_fails() {
        assert_eq!(
            toml(&json!({"loss": {"beta": 0.8}, "seed": 1})),
            "seed = 1\n\n[loss]\nbeta = 0.8\n"
        );
        assert!(toml(&json!({"a": null, "b": [null]})).contains("null"));
    }
}
