//! Figures that texts quote from tables.
//!
//! In a section that links to tables, numbers with four decimals must follow from one of them, or from a TOML file that it links to: a mean with its interval
//! as a whole, other numbers singly. A wrong number that stands alone may equal another figure of its tables by chance. A link to a file that does not
//! exist is a problem, too: it may be the table of the numbers.

use super::{Collection, markdown};
use crate::tables::{Paired, TableResult};
use bcl_report::Interval;
use serde::Serialize;
use serde_json::Value;
use std::{
    fmt::Display,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

/// Half a unit of the last of four decimals, and a little for rounding.
const HALF_UNIT: f64 = 0.5e-4 + 1e-9;

/// The figures of a text that follow from none of the tables that their section links to.
///
/// # Errors
/// Returns an error if a table cannot be read.
pub(super) fn unfounded(text: &str, path: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for section in markdown::sections(text) {
        let mut figures = Figures::default();
        for link in &section.links {
            figures.add_linked(&markdown::beside(path, link))?;
        }
        if !figures.are_of_tables {
            continue;
        }
        let quoted = section.blocks.iter().flat_map(|block| quoted(block));
        found.extend(quoted.filter(|(_, values)| !figures.contain(values)).map(|(text, _)| {
            format!(
                "{text} in the section `{}` follows from none of the tables that it links to",
                section.title
            )
        }));
    }
    Ok(found)
}

/// The links of a text to files that do not exist, among those to files that `is_checked`.
pub(super) fn missing_links(text: &str, path: &Path, is_checked: impl Fn(&Path) -> bool) -> Vec<String> {
    let is_missing = |link: &str| {
        let target = markdown::beside(path, link);
        // Paths with escapes such as %20 are left to browsers.
        !is_on_the_web(link) && !link.contains('%') && !target.exists() && is_checked(&target)
    };
    let missing = |section: markdown::Section| {
        let links = section.links.into_iter().filter(|link| is_missing(link));
        let problem = |link| format!("the section `{}` links to {link}, which does not exist", section.title);
        links.map(problem).collect::<Vec<_>>()
    };
    markdown::sections(text).into_iter().flat_map(missing).collect()
}

/// Whether an address begins with a scheme, such as `https:`.
fn is_on_the_web(address: &str) -> bool {
    address.split('/').next().is_some_and(|first| first.contains(':'))
}

/// The figures that a section may quote.
#[derive(Default)]
struct Figures {
    are_of_tables: bool,
    /// Single numbers, means with half the widths of their intervals, and means with both ends.
    entries: Vec<Vec<f64>>,
}

impl Figures {
    /// Adds the figures of the tables that a link leads to, or of a TOML file, such as the one with the figures that papers print.
    fn add_linked(&mut self, target: &Path) -> Result<(), String> {
        if let Some(folder) = folder_of_tables(target) {
            let linked = Collection::read(&folder)?;
            linked.all_tables().for_each(|table| self.add_table(table));
            self.are_of_tables = true;
        } else if target.is_file() && target.extension().is_some_and(|extension| extension == "toml") {
            let problem = |problem: &dyn Display| format!("{}: {problem}", target.display());
            let text = fs::read_to_string(target).map_err(|error| problem(&error))?;
            let read: Value = toml::from_str(&text).map_err(|error| problem(&error))?;
            self.add_numbers(&read);
        }
        Ok(())
    }

    /// Adds what a table says of its rows and pairs, and the differences between the means of its rows and baselines. Nobody quotes single seeds.
    fn add_table(&mut self, table: &TableResult) {
        for row in &table.rows {
            row.figures.values().for_each(|figure| self.add_interval(figure));
            self.add_numbers(&(&row.tuned, &row.weights, &row.printed, row.best_trial()));
        }
        table.pairs.iter().for_each(|pair| self.add_pair(pair));
        for headroom in &table.headroom {
            self.add_pair(&headroom.paired);
            self.add_numbers(&headroom.recovered);
        }
        self.add_numbers(&table.baselines);
        let metric = &table.select_by;
        let rows = table.rows.iter().filter_map(|row| Some(row.figures.get(metric)?.mean));
        let baselines = table.baselines.values().filter_map(|baseline| baseline.get(metric));
        let means: Vec<f64> = rows.chain(baselines.copied()).collect();
        self.entries
            .extend(means.iter().flat_map(|a| means.iter().map(move |b| vec![a - b])));
    }

    fn add_pair(&mut self, pair: &Paired) {
        self.add_interval(&pair.difference);
        self.add_interval(&pair.interval());
        let alone = [pair.p, pair.p_holm, pair.resolvable];
        self.entries.extend(alone.into_iter().flatten().map(|number| vec![number]));
    }

    fn add_interval(&mut self, interval: &Interval) {
        let mean = interval.mean;
        self.entries.push(vec![mean]);
        if let Some((half_width, (low, high))) = interval.half_width.zip(interval.bounds()) {
            self.entries
                .extend([vec![half_width], vec![mean, half_width], vec![mean, low, high]]);
        }
    }

    /// Adds all numbers, each alone.
    fn add_numbers(&mut self, data: &impl Serialize) {
        let mut values = vec![serde_json::to_value(data).expect("plain data")];
        while let Some(value) = values.pop() {
            match value {
                Value::Number(number) => self.entries.extend(number.as_f64().map(|number| vec![number])),
                Value::Array(inner) => values.extend(inner),
                Value::Object(inner) => values.extend(inner.into_iter().map(|(_, value)| value)),
                _ => {}
            }
        }
    }

    /// Whether these values, rounded and without signs, are an entry.
    fn contain(&self, quoted: &[f64]) -> bool {
        let is_near = |(a, b): (&f64, &f64)| (a.abs() - b).abs() <= HALF_UNIT;
        let mut entries = self.entries.iter().filter(|entry| entry.len() == quoted.len());
        entries.any(|entry| entry.iter().zip(quoted).all(is_near))
    }
}

/// The folder with the tables that a link leads to.
fn folder_of_tables(target: &Path) -> Option<PathBuf> {
    let is_of_table = |file: &Path| file.file_stem().is_some_and(|stem| stem == "table" || stem == "sensitivity");
    let holds_tables = |folder: &Path| folder.join("table.json").is_file() || folder.join("sensitivity.json").is_file();
    let folder = match target {
        folder if folder.is_dir() => folder,
        file if is_of_table(file) => file.parent()?,
        _ => return None,
    };
    let below = || fs::read_dir(folder).into_iter().flatten().flatten();
    (holds_tables(folder) || below().any(|entry| holds_tables(&entry.path()))).then(|| folder.to_owned())
}

/// The numbers of a text with exactly four decimals, without signs; `mean ± half width` and `mean (low to high)` together.
fn quoted(text: &str) -> Vec<(String, Vec<f64>)> {
    let numbers = four_decimals(text);
    let mut rest = &numbers[..];
    let mut found = Vec::new();
    while let [first, others @ ..] = rest {
        let between = |number: usize| text[rest[number].end..rest[number + 1].start].trim_end_matches(['-', '−']);
        let together = match others {
            [_, last, ..] if between(0) == " (" && between(1) == " to " && text[last.end..].starts_with(')') => 3,
            [_, ..] if between(0) == " ± " => 2,
            _ => 1,
        };
        let (quote, left) = rest.split_at(together);
        let values = quote
            .iter()
            .map(|range| text[range.clone()].parse().expect("digits"))
            .collect();
        let end = quote[together - 1].end + usize::from(together == 3);
        found.push((text[first.start..end].to_owned(), values));
        rest = left;
    }
    found
}

/// Where a text has numbers with four decimals.
fn four_decimals(text: &str) -> Vec<Range<usize>> {
    let is_of_number = |character: char| character.is_ascii_digit() || character == '.';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_of_number).map(|offset| at + offset) {
        let length = text[start..].find(|character| !is_of_number(character));
        at = length.map_or(text.len(), |length| start + length);
        let number = text[start..at].trim_end_matches('.');
        let is_one = |(whole, decimals): (&str, &str)| !whole.is_empty() && decimals.len() == 4 && !decimals.contains('.');
        if number.split_once('.').is_some_and(is_one) {
            found.push(start..start + number.len());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_no_linked_table_has_is_found() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let page = docs.join("page.md");
        let table = "results/tables/ml-100k-mf/table.md";
        let problems = |quoted: &str| {
            let text = format!("# A\n\n0.9999 of nothing.\n\n## B\n\nInfoNCE has {quoted} ([file]({table}), `0.9999`).\n");
            unfounded(&text, &page).unwrap()
        };
        let json = fs::read(docs.join(table).with_extension("json")).unwrap();
        let read: TableResult = serde_json::from_slice(&json).unwrap();
        let [mean, other] = [0, 1].map(|row| read.rows[row].figures["ndcg@20"]);
        for founded in [
            format!("{:.4}", mean.mean),
            format!("**{:.4}** ± {:.4}", mean.mean, mean.half_width.unwrap()),
        ] {
            assert_eq!(problems(&founded), Vec::<String>::new(), "{founded}");
        }
        // Each number is in the table, but not together.
        let mixed = format!("{:.4} ± {:.4}", mean.mean, other.half_width.unwrap());
        for unfounded in ["0.9998", &mixed] {
            let problems = problems(unfounded);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains(unfounded) && problems[0].contains("`B`"), "{problems:?}");
        }
        // A section without links is not judged.
        assert!(unfounded("# A\n\n0.9998\n", &page).unwrap().is_empty());
    }

    #[test]
    fn a_link_to_a_missing_file_below_the_checked_folder_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("other.md", "# Other\n");
        write(
            "notes.md",
            "# A\n\n[other](other.md#b), [here](#b), [web](https://example.org/x), [up](../nope.md), <a@example.org>\n\n\
             ## B\n\n[table](c5/nope.md#c), NDCG is 0.9999.\n",
        );
        let problems = Collection::read(folder.path()).unwrap().check().unwrap();
        let page = folder.path().join("notes.md");
        let expected = format!(
            "{}: the section `B` links to c5/nope.md, which does not exist",
            page.display()
        );
        assert_eq!(problems, [expected]);
    }

    #[test]
    fn numbers_with_four_decimals_are_quoted_with_their_intervals() {
        let texts = |text| quoted(text).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        assert_eq!(
            texts("-0.0018 (-0.0042 to 0.0006), 0.1234 (0.4321), 0.4425 ± 0.0022; 1.2.3456, .1234, 0.12345 and 10.0006."),
            ["0.0018 (-0.0042 to 0.0006)", "0.1234", "0.4321", "0.4425 ± 0.0022", "10.0006"]
        );
        assert_eq!(quoted("0.1000 ± 0.0020")[0].1, [0.1, 0.002]);
    }
}
