//! Links within our documents lead to a file, a folder or a heading that exists.

use super::finding::Finding;
use super::tree::Tree;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// A link or picture in a Markdown text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The 1-based line of the link.
    pub(crate) line: usize,
    /// The address as written, such as `docs/guide/start.md#the-report`.
    pub(crate) address: String,
}

impl Link {
    /// The file or folder of the project that a link in `from` leads to, relative to the root.
    ///
    /// `None` for an address on the web, and for a path that leaves the project.
    pub(crate) fn target(&self, from: &Path) -> Option<PathBuf> {
        let (path, _) = self.parts();
        if self.is_web_address() {
            return None;
        }
        if path.is_empty() {
            return Some(from.to_path_buf());
        }
        let mut target = from.parent().map(Path::to_path_buf).unwrap_or_default();
        for component in Path::new(path).components() {
            match component {
                Component::Normal(name) => target.push(name),
                Component::CurDir => {}
                Component::ParentDir if target.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(target)
    }

    /// The path and the anchor, without the `#`.
    fn parts(&self) -> (&str, Option<&str>) {
        match self.address.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (&self.address, None),
        }
    }

    fn is_web_address(&self) -> bool {
        self.address.starts_with("//")
            || self
                .address
                .split_once(':')
                .is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric()))
    }
}

/// The links, pictures and anchors of a Markdown text.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// Links and pictures in reading order.
    pub(crate) links: Vec<Link>,
    /// What a `#` may name, with the number of earlier headings of the same text.
    anchors: BTreeMap<String, usize>,
}

impl Document {
    /// Parses a Markdown text.
    pub(crate) fn parse(markdown: &str) -> Self {
        let mut document = Self::default();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.add_link(markdown, &range, &dest_url);
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => document.add_heading(&heading.take().unwrap_or_default()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    for name in ["src", "href"] {
                        for address in attributes(&html, name) {
                            document.add_link(markdown, &range, address);
                        }
                    }
                    for name in ["id", "name"] {
                        let names = attributes(&html, name).into_iter().map(str::to_owned);
                        document.anchors.extend(names.map(|name| (name, 0)));
                    }
                }
                _ => {}
            }
        }
        document
    }

    fn add_link(&mut self, markdown: &str, range: &Range<usize>, address: &str) {
        self.links.push(Link {
            line: 1 + markdown[..range.start].matches('\n').count(),
            address: address.to_owned(),
        });
    }

    /// Adds the anchor of a heading: lower case, hyphens for spaces, no punctuation; `-1`, `-2`, … where a heading comes again.
    fn add_heading(&mut self, text: &str) {
        let keeps = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
        let anchor: String = text.trim().to_lowercase().chars().filter(keeps).collect();
        let anchor = anchor.replace(' ', "-");
        let earlier = *self
            .anchors
            .entry(anchor.clone())
            .and_modify(|count| *count += 1)
            .or_default();
        if earlier > 0 {
            self.anchors.insert(format!("{anchor}-{earlier}"), 0);
        }
    }
}

/// The values of an HTML attribute.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Checks the links of each Markdown file.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut documents = HashMap::new();
    for file in tree.with_extension("md") {
        documents.insert(file, Document::parse(&tree.text(file)?.unwrap_or_default()));
    }
    let exists = |path: &Path| tree.files().any(|file| file.starts_with(path));
    let mut findings = Vec::new();
    for (file, document) in &documents {
        for link in document.links.iter().filter(|link| !link.is_web_address()) {
            let address = &link.address;
            let at = |what: String, remedy: String| Finding::new(file, link.line, what, remedy);
            let Some(target) = link.target(file) else {
                let remedy = "link to a file of the project by a path relative to this file, or to a page by its https address";
                findings.push(at(format!("the link `{address}` leaves the project"), remedy.to_owned()));
                continue;
            };
            if !exists(&target) {
                let remedy = "correct the path, which is relative to the folder of this file, or remove the link";
                let what = format!("the link `{address}` leads nowhere: there is no {}", target.display());
                findings.push(at(what, remedy.to_owned()));
                continue;
            }
            if let (_, Some(anchor)) = link.parts()
                && let Some(document) = documents.get(&*target)
                && !document.anchors.contains_key(anchor)
            {
                let anchors: Vec<_> = document.anchors.keys().map(|anchor| format!("#{anchor}")).collect();
                let what = format!(
                    "the link `{address}` leads nowhere: {} has no heading `#{anchor}`",
                    target.display()
                );
                findings.push(at(what, format!("use one of its headings: {}", anchors.join(", "))));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let mut findings = check(&Fixture::new(files).tree()).unwrap();
        findings.sort();
        lines(&findings)
    }

    #[test]
    fn links_to_files_folders_headings_and_the_web_pass() {
        let guide = "# The guide\n\n[up](../../README.md#a-table-or-two) [here](#the-guide) [folder](..) <https://burn.dev>\n";
        let readme = "# A table, or two\n\n| a |\n| --- |\n| [guide](docs/guide/start.md#the-guide) |\n\n![chart](docs/chart.svg)\n\n\
                      `[no](link.md)` [mail](mailto:a@example.org)\n";
        let files = [
            ("README.md", readme),
            ("docs/guide/start.md", guide),
            ("docs/chart.svg", "<svg/>\n"),
        ];
        assert_eq!(findings(&files), [""; 0]);
    }

    #[test]
    fn a_link_to_a_missing_file_is_found_on_its_line() {
        let found = findings(&[
            ("docs/a.md", "# A\n\nSee [b](b.md),\n[c](../c.md) and ![d](d.png).\n"),
            ("c.md", "# C\n"),
        ]);
        let nowhere = |line, link, path| format!("docs/a.md:{line}: the link `{link}` leads nowhere: there is no {path}");
        assert_eq!(found, [nowhere(3, "b.md", "docs/b.md"), nowhere(4, "d.png", "docs/d.png")]);
    }

    #[test]
    fn links_in_html_and_by_reference_are_read() {
        let found = findings(&[(
            "a.md",
            "<img src=\"x.svg\" width=\"600\">\n\nA [page][1] and <a href=\"y.md\">y</a>.\n\n[1]: z.md\n",
        )]);
        let nowhere = |line, link| format!("a.md:{line}: the link `{link}` leads nowhere: there is no {link}");
        assert_eq!(found, [nowhere(1, "x.svg"), nowhere(3, "y.md"), nowhere(3, "z.md")]);
    }

    #[test]
    fn a_link_out_of_the_project_is_found() {
        let found = findings(&[("docs/a.md", "[up](../../b.md) and [root](/b.md)\n")]);
        let leaves = |link| format!("docs/a.md:1: the link `{link}` leaves the project");
        assert_eq!(found, [leaves("../../b.md"), leaves("/b.md")]);
    }

    #[test]
    fn a_missing_heading_is_found_and_the_remedy_lists_those_there_are() {
        let fixture = Fixture::new(&[
            ("a.md", "[b](b.md#two)\n"),
            (
                "b.md",
                "# One\n\n## τ+ = 1/C: the prior\n\n## One\n\n<a id=\"by-hand\"></a>\n",
            ),
        ]);
        let findings = check(&fixture.tree()).unwrap();
        assert_eq!(findings.len(), 1);
        let expected = "a.md:1: the link `b.md#two` leads nowhere: b.md has no heading `#two`\n    \
                        remedy: use one of its headings: #by-hand, #one, #one-1, #τ--1c-the-prior";
        assert_eq!(findings[0].to_string(), expected);
    }
}
