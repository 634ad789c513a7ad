//! Recommendations for many users, or similar items of many items, written to a file.

use bcl_eval::ranking::RankedItem;
use bcl_files::{FileError, WholeFile};
use bcl_train::error::Error;
use serde::Serialize;
use std::{
    ffi::OsStr,
    io::{self, Write},
    path::Path,
};

/// Formats of a file of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListFormat {
    /// One row per recommended item.
    Csv,
    /// One JSON object per list.
    JsonLines,
}

impl ListFormat {
    /// The format that the extension of a file names.
    ///
    /// # Errors
    /// Returns an error that names the file and the known extensions.
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let extension = path.extension().map(OsStr::to_ascii_lowercase);
        match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::JsonLines),
            _ => Err(Error::Input(format!(
                "--out {}: the extension must be .csv or .jsonl, which names the format",
                path.display()
            ))),
        }
    }
}

/// What the lists are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Names {
    /// The column of the user or the item that a list is for.
    pub(super) key: &'static str,
    /// The column of the listed items.
    pub(super) value: &'static str,
    /// Whether items have titles.
    pub(super) titles: bool,
}

/// One line of [`ListFormat::JsonLines`].
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    key: std::collections::BTreeMap<&'static str, &'a str>,
    items: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    item: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    score: f32,
    rank: usize,
}

/// Writes lists one after the other; the file appears when it is [finished](Self::finish).
pub(super) struct Lists {
    names: Names,
    file: Writer,
    path: std::path::PathBuf,
}

enum Writer {
    Csv(Box<csv::Writer<WholeFile>>),
    JsonLines(WholeFile),
}

impl Lists {
    /// Starts a file in the format of its extension.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub(super) fn create(path: &Path, names: Names) -> Result<Self, Error> {
        let format = ListFormat::of(path)?;
        let file = WholeFile::create(path)?;
        let mut lists = Self {
            names,
            file: match format {
                ListFormat::Csv => Writer::Csv(Box::new(csv::Writer::from_writer(file))),
                ListFormat::JsonLines => Writer::JsonLines(file),
            },
            path: path.to_owned(),
        };
        if let Writer::Csv(writer) = &mut lists.file {
            let header = [names.key, names.value, "score", "rank", "title"];
            let columns = if names.titles { 5 } else { 4 };
            let written = writer.write_record(&header[..columns]).map_err(io::Error::from);
            written.map_err(FileError::io("write", path))?;
        }
        Ok(lists)
    }

    /// Writes one list. `shown` gives the id and the title of an item.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub(super) fn add<'a>(
        &mut self,
        key: &'a str,
        list: &[RankedItem],
        shown: impl Fn(u32) -> (&'a str, Option<&'a str>),
    ) -> Result<(), Error> {
        let written = match &mut self.file {
            Writer::Csv(writer) => add_rows(writer, self.names.titles, key, list, shown),
            Writer::JsonLines(file) => add_line(file, self.names.key, key, list, shown),
        };
        Ok(written.map_err(FileError::io("write", &self.path))?)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub(super) fn finish(self) -> Result<(), Error> {
        let file = match self.file {
            Writer::JsonLines(file) => file,
            Writer::Csv(writer) => writer
                .into_inner()
                .map_err(|error| FileError::io("write", &self.path)(io::Error::other(error.to_string())))?,
        };
        Ok(file.finish()?)
    }
}

fn add_rows<'a>(
    writer: &mut csv::Writer<WholeFile>,
    titles: bool,
    key: &str,
    list: &[RankedItem],
    shown: impl Fn(u32) -> (&'a str, Option<&'a str>),
) -> io::Result<()> {
    for (rank, ranked) in (1_usize..).zip(list) {
        let (id, title) = shown(ranked.item);
        let (score, rank) = (ranked.score.to_string(), rank.to_string());
        let row = [key, id, &score, &rank, title.unwrap_or_default()];
        writer.write_record(&row[..if titles { 5 } else { 4 }])?;
    }
    Ok(())
}

fn add_line<'a>(
    file: &mut WholeFile,
    name: &'static str,
    key: &'a str,
    list: &[RankedItem],
    shown: impl Fn(u32) -> (&'a str, Option<&'a str>),
) -> io::Result<()> {
    let entry = |(rank, ranked): (usize, &RankedItem)| {
        let (item, title) = shown(ranked.item);
        Entry {
            item,
            title,
            score: ranked.score,
            rank,
        }
    };
    let line = Line {
        key: [(name, key)].into(),
        items: (1..).zip(list).map(entry).collect(),
    };
    serde_json::to_writer(&mut *file, &line)?;
    file.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, titles: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let names = Names {
            key: "user",
            value: "item",
            titles,
        };
        let mut lists = Lists::create(&path, names).unwrap();
        let shown = |item: u32| if item == 0 { ("a,b", Some("Jam, red")) } else { ("c", None) };
        let list = [RankedItem { item: 0, score: 0.1 }, RankedItem { item: 1, score: -2.0 }];
        lists.add("ann", &list, shown).unwrap();
        assert!(!path.exists(), "a part of the file is there");
        lists.finish().unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn rows_have_ids_scores_ranks_and_titles() {
        assert_eq!(
            written("a.csv", true),
            "user,item,score,rank,title\nann,\"a,b\",0.1,1,\"Jam, red\"\nann,c,-2,2,\n"
        );
        assert_eq!(
            written("a.CSV", false),
            "user,item,score,rank\nann,\"a,b\",0.1,1\nann,c,-2,2\n"
        );
        assert_eq!(
            written("a.jsonl", true),
            "{\"user\":\"ann\",\"items\":[{\"item\":\"a,b\",\"title\":\"Jam, red\",\"score\":0.1,\"rank\":1},\
             {\"item\":\"c\",\"score\":-2.0,\"rank\":2}]}\n"
        );
    }

    #[test]
    fn other_extensions_are_refused() {
        for name in ["a", "a.txt", "a.json", ".csv"] {
            let error = ListFormat::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains(".csv or .jsonl"), "{error}");
        }
    }
}
