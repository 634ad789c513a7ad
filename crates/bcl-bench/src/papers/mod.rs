//! Every table and figure of the papers: the command that makes it, what it needs, and what was run.

use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::fmt;

const BUILTIN: &str = include_str!("papers.toml");

/// The tables and figures of all papers, in the order of the papers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Papers {
    /// Bayesian Self-Supervised Contrastive Learning, with its revision note.
    pub bcl: Vec<Entry>,
    /// Contrastive Learning with Negative Sampling Correction.
    pub pucl: Vec<Entry>,
    /// Bayesian data augmentation for contrastive learning.
    pub bda: Vec<Entry>,
}

/// A table or a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What it is, such as `Table 3`.
    pub item: String,
    /// What it shows.
    pub shows: String,
    /// The command that makes it, if it has data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What the command needs.
    pub needs: String,
    /// The data sets to fetch before, by the names of `bcl-train data fetch`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub data: Vec<String>,
    /// The data sets that must be requested from their owners before.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub requested: Vec<String>,
    /// What was run for the results of the repository, with the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<String>,
    /// What the run says about the paper's claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}

impl Papers {
    /// The built-in list.
    ///
    /// # Panics
    /// Panics if the built-in list is broken, which a test rules out.
    pub fn builtin() -> Self {
        toml::from_str(BUILTIN).expect("the built-in list of tables and figures is read")
    }

    /// The papers with their names.
    pub fn each(&self) -> [(&'static str, &[Entry]); 3] {
        [
            ("Bayesian Self-Supervised Contrastive Learning (BCL)", &self.bcl),
            ("Contrastive Learning with Negative Sampling Correction (PUCL)", &self.pucl),
            ("Bayesian data augmentation (BDA)", &self.bda),
        ]
    }

    /// What was run and what was not, in a sentence.
    fn summary(&self) -> String {
        let entries = || self.each().into_iter().flat_map(|(_, entries)| entries);
        let made = entries().filter(|entry| entry.command.is_some()).count();
        let run = entries().filter(|entry| entry.here.is_some()).count();
        format!(
            "{run} of {made} commands were run for docs/results; times are rough, for two cores. Before a command with data: bcl-train data fetch NAME"
        )
    }
}

impl Papers {
    /// The list as a page for `docs/results`, with links from there.
    pub fn page(&self) -> String {
        let columns =
            "| item | shows | what our run says | command | run here | a full run needs |\n| --- | --- | --- | --- | --- | --- |";
        let tables = self.each().map(|(name, entries)| {
            let rows: Vec<String> = entries.iter().map(Entry::row).collect();
            format!("\n## {name}\n\n{columns}\n{}\n", rows.join("\n"))
        });
        format!(
            "[bcl](../../README.md) › [results](../guide/results.md) › the papers\n\n# Every table and figure of the papers\n\n`bcl-bench papers --markdown` \
             writes this page.\n\n{}.\n{}",
            self.summary(),
            tables.concat()
        )
    }
}

impl Entry {
    /// The row of a page.
    fn row(&self) -> String {
        let verdict = self.verdict.as_deref().unwrap_or_default();
        let command = self
            .command
            .as_ref()
            .map(|command| format!("`{command}`"))
            .unwrap_or_default();
        let here = self.here.as_deref().map_or_else(|| "no".to_owned(), linked);
        let needs = match &*self.all_data() {
            "" => self.needs.clone(),
            data => format!("{}; data: {data}", self.needs),
        };
        format!(
            "| {} | {} | {verdict} | {command} | {here} | {needs} |",
            self.item, self.shows
        )
    }

    /// The data sets, with or without a download.
    fn all_data(&self) -> String {
        [self.data.as_slice(), &self.requested].concat().join(", ")
    }
}

/// Makes links of the files of `docs/results` that a text names.
fn linked(text: &str) -> String {
    let word = |word: &str| {
        let path = word.trim_end_matches(',');
        let Some(below) = path.strip_prefix("docs/results/") else {
            return word.to_owned();
        };
        let name = below.trim_end_matches("/table.md").trim_end_matches(".md");
        let name = name.rsplit('/').next().unwrap_or(name);
        format!("[{name}]({below}){}", &word[path.len()..])
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Papers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, entries) in self.each() {
            writeln!(f, "{name}\n")?;
            let columns = ["item", "shows", "command", "needs", "data", "run here", "verdict"].map(Column::text);
            let row = |entry: &Entry| {
                vec![
                    entry.item.clone(),
                    entry.shows.clone(),
                    entry.command.clone().unwrap_or_default(),
                    entry.needs.clone(),
                    entry.all_data(),
                    entry.here.clone().unwrap_or_else(|| "no".to_owned()),
                    entry.verdict.clone().unwrap_or_default(),
                ]
            };
            Table::new(columns, entries.iter().map(row)).fmt(f)?;
            writeln!(f)?;
        }
        f.write_str(&self.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_of_results_exists() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let papers = Papers::builtin();
        let mut files = 0;
        for entry in papers.each().into_iter().flat_map(|(_, entries)| entries) {
            let named = entry.here.iter().flat_map(|here| here.split([' ', ',']));
            for file in named.filter(|word| word.starts_with("docs/")) {
                assert!(root.join(file).is_file(), "{}: there is no {file}", entry.item);
                files += 1;
            }
            assert!(
                entry.here.is_none()
                    || (entry.command.is_some() && entry.here.as_ref().is_some_and(|here| here.contains("docs/"))),
                "{}: what was run has a command and a file",
                entry.item
            );
        }
        assert!(files >= 10, "{files}");
    }

    #[test]
    fn the_page_is_what_the_program_writes_and_each_run_has_a_verdict() {
        let papers = Papers::builtin();
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let page = std::fs::read_to_string(root.join("docs/results/papers.md")).unwrap();
        assert!(
            page == papers.page(),
            "write docs/results/papers.md again: bcl-bench papers --markdown"
        );
        for entry in papers.each().into_iter().flat_map(|(_, entries)| entries) {
            assert_eq!(entry.here.is_some(), entry.verdict.is_some(), "{}", entry.item);
        }
    }

    #[test]
    fn every_numbered_table_and_figure_of_the_papers_is_listed() {
        let papers = Papers::builtin();
        let numbers = |entries: &[Entry], kind: &str| {
            let mut numbers: Vec<u32> = entries
                .iter()
                .filter(|entry| entry.item.starts_with(kind))
                .flat_map(|entry| {
                    let numbers = entry.item.split(|letter: char| !letter.is_ascii_digit());
                    // A later number in a name, as in "MovieLens-100K", is none of the paper.
                    numbers
                        .filter_map(|number| number.parse().ok())
                        .filter(|number| *number <= 10)
                        .collect::<Vec<u32>>()
                })
                .collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let to = |last: u32| (1..=last).collect::<Vec<u32>>();
        assert_eq!(numbers(&papers.bcl, "Table"), to(10));
        assert_eq!(numbers(&papers.bcl, "Figure"), to(10));
        assert_eq!(numbers(&papers.pucl, "Table"), to(2));
        assert_eq!(numbers(&papers.pucl, "Figure"), to(3));
        // Only its appendix is at hand.
        assert_eq!(
            (numbers(&papers.bda, "Table"), numbers(&papers.bda, "Figure")),
            (vec![6], vec![3])
        );
    }
}
