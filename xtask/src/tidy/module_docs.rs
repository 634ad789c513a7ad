//! Every source file begins with a `//!` line that says what it is for.

use super::finding::Finding;
use super::tree::Tree;

/// Checks that each `.rs` file begins with a non-empty `//!` line.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in tree.with_extension("rs") {
        let text = tree.text(file)?.unwrap_or_default();
        let documented = text
            .strip_prefix("//!")
            .is_some_and(|rest| !rest.lines().next().unwrap_or("").trim().is_empty());
        if !documented {
            let remedy = "begin the file with a `//!` sentence that says what it is for";
            findings.push(Finding::new(file, 1, "this file has no module doc", remedy));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    #[test]
    fn a_file_that_begins_with_its_purpose_passes() {
        let fixture = Fixture::new(&[("a.rs", "//! Adds things.\n\nfn add() {}\n"), ("not-rust.txt", "fn")]);
        assert_eq!(check(&fixture.tree()).unwrap(), []);
    }

    #[test]
    fn a_missing_late_or_empty_doc_is_found() {
        let fixture = Fixture::new(&[
            ("a.rs", "fn f() {}\n"),
            ("b.rs", "\n//! Late.\n"),
            ("c.rs", "//!\n//! Second.\n"),
        ]);
        let expected = ["a", "b", "c"].map(|name| format!("{name}.rs:1: this file has no module doc"));
        assert_eq!(lines(&check(&fixture.tree()).unwrap()), expected);
    }
}
