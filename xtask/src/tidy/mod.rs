//! `cargo xtask tidy`: the rules of the project that the compiler does not check.
//!
//! Each file is one kind of rule: a function from the file tree (or from `cargo metadata`) to findings. A finding says
//! where the problem is, what it is and how to fix it.

mod arrows;
mod circles;
mod features;
mod finding;
mod hygiene;
mod links;
mod lints;
mod metadata;
mod module_docs;
mod purity;
mod readme;
mod recipes;
mod tree;

#[cfg(test)]
mod fixture;

use crate::root;
use finding::Finding;
use metadata::Metadata;
use std::path::Path;
use std::process::ExitCode;
use tree::Tree;

/// Checks the whole workspace and exits with code 1 if there is any finding.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    match report(&root::workspace_root())? {
        0 => Ok(ExitCode::SUCCESS),
        _ => Ok(ExitCode::FAILURE),
    }
}

/// Prints each finding about the workspace in `root` and returns their number.
pub(crate) fn report(root: &Path) -> anyhow::Result<usize> {
    let findings = findings(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: nothing found"),
        1 => println!("tidy: 1 finding"),
        many => println!("tidy: {many} findings"),
    }
    Ok(findings.len())
}

fn findings(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let tree = Tree::of_git(root)?;
    let metadata = Metadata::read(root)?;
    let mut findings = [
        arrows::check(&metadata),
        circles::check(&tree)?,
        features::check(root)?,
        links::check(&tree)?,
        lints::check(&tree)?,
        module_docs::check(&tree)?,
        purity::check(&tree)?,
        readme::check(&tree)?,
        recipes::check(&tree)?,
        hygiene::check(&tree)?,
    ]
    .concat();
    findings.sort();
    Ok(findings)
}
