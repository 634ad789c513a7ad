//! Recipe names are unique, because the name is also the folder of the recipe's runs.

use super::finding::Finding;
use super::tree::Tree;
use anyhow::Context;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;
use toml::Spanned;

#[derive(Deserialize)]
struct Recipe {
    name: Option<Spanned<String>>,
}

/// Checks that no two files in `recipes/` have the same name.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut first_with: HashMap<String, &Path> = HashMap::new();
    for file in tree.with_extension("toml").filter(|file| file.starts_with("recipes")) {
        let text = tree.text(file)?.unwrap_or_default();
        let recipe: Recipe = toml::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?;
        let Some(name) = recipe.name else { continue };
        let line = text[..name.span().start].lines().count();
        let name = name.into_inner();
        if let Some(first) = first_with.get(&name) {
            let what = format!("the name {name:?} is taken by {}", first.display());
            findings.push(Finding::new(
                file,
                line,
                what,
                "choose another name: the runs of both would share a folder",
            ));
        } else {
            first_with.insert(name, file);
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    #[test]
    fn different_names_pass() {
        let fixture = Fixture::new(&[
            ("recipes/a.toml", "name = \"a\"\n"),
            ("recipes/b/a.toml", "name = \"b/a\"\n[data]\nname = \"a\"\n"),
            ("datasets/a.toml", "name = \"a\"\n"),
        ]);
        assert_eq!(check(&fixture.tree()).unwrap(), []);
    }

    #[test]
    fn a_name_that_is_taken_is_found() {
        let fixture = Fixture::new(&[
            ("recipes/a.toml", "name = \"mf\"\n"),
            ("recipes/b.toml", "# The same.\nseed = 1\nname = \"mf\"\n"),
        ]);
        let expected = "recipes/b.toml:3: the name \"mf\" is taken by recipes/a.toml";
        assert_eq!(lines(&check(&fixture.tree()).unwrap()), [expected]);
    }
}
