//! Keeps large files, data and machine-specific paths out of the repository.

use super::finding::Finding;
use super::tree::Tree;
use std::path::Path;

const LARGEST_FILE: u64 = 1 << 20;

/// Top-level folders that exist on one developer's machine only.
const MACHINE_FOLDERS: &[&str] = &["work", "tmp", "home", "root"];

/// Checks the size, the folder and the text of each file.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in tree.files() {
        findings.extend(check_size(file, tree.size(file)?));
        findings.extend(check_place(file));
        findings.extend(check_paths(file, &tree.text(file)?.unwrap_or_default()));
    }
    Ok(findings)
}

fn check_size(file: &Path, bytes: u64) -> Option<Finding> {
    let what = format!("this file has {bytes} bytes; the limit is {LARGEST_FILE}");
    let remedy = "let `bcl-train data fetch` download it, or generate it in code";
    (bytes > LARGEST_FILE).then(|| Finding::new(file, 1, what, remedy))
}

fn check_place(file: &Path) -> Option<Finding> {
    let allowed = file
        .extension()
        .is_some_and(|extension| extension == "toml" || extension == "md");
    let remedy = "keep data out of git and let a manifest say where to download it";
    let what = "only .toml and .md files belong in datasets/";
    let is_inside = file.starts_with("datasets") || file.starts_with("crates/bcl-data/datasets");
    (is_inside && !allowed).then(|| Finding::new(file, 1, what, remedy))
}

fn check_paths(file: &Path, text: &str) -> Vec<Finding> {
    let lines = text.lines().zip(1..);
    let paths = lines.filter_map(|(line, number)| Some((machine_path(line)?, number)));
    let remedy = "use a path relative to the project, or take it from a flag";
    let finding = |(path, number)| Finding::new(file, number, format!("{path:?} exists on one machine only"), remedy);
    paths.map(finding).collect()
}

/// The first path in `line` that begins with a machine-specific folder.
fn machine_path(line: &str) -> Option<&str> {
    line.match_indices('/').find_map(|(start, _)| {
        // `target/tmp/` and `$HOME/work/` only continue a path that began before.
        let begins = !line[..start].ends_with(|c: char| c.is_alphanumeric() || "_-.~})]*>".contains(c));
        let path = &line[start..];
        let folder = path[1..].split('/').next().filter(|folder| path.len() > folder.len() + 1)?;
        let end = path
            .find(|c: char| c.is_whitespace() || "\"'`,;:)".contains(c))
            .unwrap_or(path.len());
        (begins && MACHINE_FOLDERS.contains(&folder)).then(|| &path[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    #[test]
    fn an_ordinary_tree_passes() {
        let fixture = Fixture::new(&[
            ("datasets/a.toml", "url = \"https://example.org/home/a.zip\"\n"),
            ("datasets/README.md", "Put it into data/tmp/ or $HOME/work/.\n"),
            ("src/lib.rs", "let share = work/total; // and/or\n"),
            ("full.bin", &"x".repeat(1 << 20)),
        ]);
        assert_eq!(check(&fixture.tree()).unwrap(), []);
    }

    #[test]
    fn a_large_file_is_found() {
        let fixture = Fixture::new(&[("weights.bin", &"x".repeat((1 << 20) + 1))]);
        let expected = "weights.bin:1: this file has 1048577 bytes; the limit is 1048576";
        assert_eq!(lines(&check(&fixture.tree()).unwrap()), [expected]);
    }

    #[test]
    fn data_beside_the_manifests_is_found() {
        let fixture = Fixture::new(&[("datasets/ratings.csv", "1,2\n")]);
        let expected = "datasets/ratings.csv:1: only .toml and .md files belong in datasets/";
        assert_eq!(lines(&check(&fixture.tree()).unwrap()), [expected]);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        for folder in MACHINE_FOLDERS {
            let fixture = Fixture::new(&[("notes.md", &format!("See\n`/{folder}/data/a.csv`.\n"))]);
            let expected = format!("notes.md:2: \"/{folder}/data/a.csv\" exists on one machine only");
            assert_eq!(lines(&check(&fixture.tree()).unwrap()), [expected]);
        }
    }
}
