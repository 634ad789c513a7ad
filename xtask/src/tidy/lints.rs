//! Every crate inherits the workspace lints.

use super::finding::Finding;
use super::tree::Tree;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Checks that each `Cargo.toml` with a package says `[lints] workspace = true`. Packages outside the workspace cannot.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let excluded = excluded(tree)?;
    let is_excluded = |file: &Path| excluded.iter().any(|folder| file.starts_with(folder));
    for file in tree.files().filter(|file| file.ends_with("Cargo.toml") && !is_excluded(file)) {
        let text = tree.text(file)?.unwrap_or_default();
        let manifest: toml::Table = text.parse().with_context(|| format!("cannot read {}", file.display()))?;
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")) == Some(&true.into());
        if manifest.contains_key("package") && !inherits {
            let what = "this crate does not inherit the workspace lints";
            findings.push(Finding::new(file, 1, what, "add `[lints]` with `workspace = true`"));
        }
    }
    Ok(findings)
}

/// The folders that the workspace excludes.
fn excluded(tree: &Tree) -> anyhow::Result<Vec<PathBuf>> {
    let Some(root) = tree.files().find(|file| *file == Path::new("Cargo.toml")) else {
        return Ok(Vec::new());
    };
    let text = tree.text(root)?.unwrap_or_default();
    let manifest: toml::Table = text.parse().context("cannot read Cargo.toml")?;
    let folders = manifest.get("workspace").and_then(|workspace| workspace.get("exclude"));
    let folders = folders.and_then(toml::Value::as_array).into_iter().flatten();
    Ok(folders.filter_map(|folder| Some(PathBuf::from(folder.as_str()?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    #[test]
    fn workspace_lints_pass_and_a_virtual_manifest_needs_none() {
        let fixture = Fixture::new(&[
            ("Cargo.toml", "[workspace]\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n[lints]\nworkspace = true\n"),
            ("b/Cargo.toml", "lints.workspace = true\n[package]\nname = \"b\"\n"),
        ]);
        assert_eq!(check(&fixture.tree()).unwrap(), []);
    }

    #[test]
    fn a_crate_outside_the_workspace_has_lints_of_its_own() {
        let fixture = Fixture::new(&[
            ("Cargo.toml", "[workspace]\nexclude = [\"a/b\"]\n"),
            ("a/b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ]);
        assert_eq!(check(&fixture.tree()).unwrap(), []);
    }

    #[test]
    fn a_crate_without_workspace_lints_is_found() {
        let fixture = Fixture::new(&[
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\n[lints]\nworkspace = false\n"),
        ]);
        let what = "this crate does not inherit the workspace lints";
        assert_eq!(
            lines(&check(&fixture.tree()).unwrap()),
            [format!("a/Cargo.toml:1: {what}"), format!("b/Cargo.toml:1: {what}")]
        );
    }
}
