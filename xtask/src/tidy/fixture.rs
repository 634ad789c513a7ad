//! Small file trees for testing the rules.

use super::metadata::Metadata;
use super::tree::Tree;
use crate::root;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A git repository in a temporary folder.
pub(crate) struct Fixture(TempDir);

impl Fixture {
    /// Creates a repository with these files, given as path and text.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let fixture = Self(TempDir::new().unwrap());
        root::stdout_of(root::git(fixture.0.path()).args(["init", "--quiet"])).unwrap();
        for (path, text) in files {
            fixture.write(path, text);
        }
        fixture
    }

    /// Creates a workspace with these crates, given as name and dependencies. Third-party crates go outside the workspace.
    pub(crate) fn workspace(crates: &[(&str, &[&str])]) -> Self {
        let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\nexclude = [\"vendor\"]\n";
        let fixture = Self::new(&[("Cargo.toml", workspace)]);
        let ours = |name: &str| ["bcl-", "xtask", "whole-"].iter().any(|prefix| name.starts_with(prefix));
        let folder = |name: &str| format!("{}/{name}", if ours(name) { "crates" } else { "vendor" });
        for (name, dependencies) in crates {
            let line = |dependency: &&str| format!("{dependency} = {{ path = \"../../{}\" }}", folder(dependency));
            let lines: Vec<_> = dependencies.iter().map(line).collect();
            let head = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n");
            let manifest = head + &lines.join("\n");
            fixture.write(&format!("{}/Cargo.toml", folder(name)), &manifest);
            fixture.write(&format!("{}/src/lib.rs", folder(name)), "");
        }
        fixture
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Absolute path of the file `path` of this tree.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Adds these files to git's index.
    pub(crate) fn git_add(&self, files: &[&str]) {
        root::stdout_of(root::git(self.0.path()).arg("add").args(files)).unwrap();
    }

    /// The files as the rules see them.
    pub(crate) fn tree(&self) -> Tree {
        Tree::of_git(self.0.path()).unwrap()
    }

    /// The crates as the rules see them.
    pub(crate) fn metadata(&self) -> Metadata {
        Metadata::read(self.0.path()).unwrap()
    }
}

/// The findings as text, without the remedies.
pub(crate) fn lines(findings: &[super::Finding]) -> Vec<String> {
    let first_line = |finding: &super::Finding| finding.to_string().lines().next().unwrap().to_owned();
    findings.iter().map(first_line).collect()
}
