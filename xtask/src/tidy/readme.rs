//! The README is one page, and every page of the guide is linked from it and back.

use super::finding::Finding;
use super::links::Document;
use super::tree::Tree;
use std::path::Path;

const README: &str = "README.md";
const GUIDE: &str = "docs/guide";
const MOST_LINES: usize = 130;

/// Checks the length of the README, and the links between it and the guide.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let readme = Path::new(README);
    if !tree.files().any(|file| file == readme) {
        return Ok(Vec::new());
    }
    let mut findings = Vec::new();
    let text = tree.text(readme)?.unwrap_or_default();
    let num_lines = text.lines().count();
    if num_lines > MOST_LINES {
        let what = format!("the README has {num_lines} lines, and one page has at most {MOST_LINES}");
        let remedy = format!("move what goes into depth to {GUIDE}/ and link to it");
        findings.push(Finding::new(readme, MOST_LINES + 1, what, remedy));
    }
    let leads_to =
        |document: &Document, from: &Path, to: &Path| document.links.iter().any(|link| link.target(from).as_deref() == Some(to));
    let front = Document::parse(&text);
    for page in tree.with_extension("md").filter(|file| file.starts_with(GUIDE)) {
        if !leads_to(&front, readme, page) {
            let remedy = format!("add it to the list of pages in {README}");
            findings.push(Finding::new(page, 1, "the README does not link to this page", remedy));
        }
        if !leads_to(&Document::parse(&tree.text(page)?.unwrap_or_default()), page, readme) {
            let remedy = format!("begin it with a line that links to ../../{README}");
            findings.push(Finding::new(page, 1, "this page does not link back to the README", remedy));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    #[test]
    fn a_short_readme_and_a_linked_guide_pass() {
        let fixture = Fixture::new(&[
            (
                README,
                &format!("[start](docs/guide/start.md)\n{}", "x\n".repeat(MOST_LINES - 1)),
            ),
            ("docs/guide/start.md", "[bcl](../../README.md)\n"),
            ("docs/results/long.md", &"x\n".repeat(1000)),
        ]);
        assert_eq!(check(&fixture.tree()).unwrap(), []);
    }

    #[test]
    fn a_readme_longer_than_a_page_is_found() {
        let fixture = Fixture::new(&[(README, &"x\n".repeat(MOST_LINES + 2))]);
        let expected = "README.md:131: the README has 132 lines, and one page has at most 130";
        assert_eq!(lines(&check(&fixture.tree()).unwrap()), [expected]);
    }

    #[test]
    fn a_page_of_the_guide_without_links_is_found() {
        let fixture = Fixture::new(&[(README, "# bcl\n"), ("docs/guide/start.md", "# Start\n")]);
        assert_eq!(
            lines(&check(&fixture.tree()).unwrap()),
            [
                "docs/guide/start.md:1: the README does not link to this page",
                "docs/guide/start.md:1: this page does not link back to the README"
            ]
        );
    }
}
