//! What lies in a folder of results.

use crate::tables::{Sensitivity, TableResult};
use serde::de::DeserializeOwned;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Everything of a folder that a page shows, by path.
#[derive(Debug, Default)]
pub struct Collection {
    /// Tables, but for those that curves are made of.
    pub tables: Vec<(PathBuf, TableResult)>,
    /// Curves over a parameter.
    pub sensitivities: Vec<(PathBuf, Sensitivity)>,
    /// Texts in Markdown.
    pub texts: Vec<(PathBuf, String)>,
    /// Pictures that no text shows.
    pub pictures: Vec<(PathBuf, String)>,
}

/// Why a folder cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Something cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what its name says.
    #[error("{}: {source}; make it again with this version, or move it elsewhere", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// There is nothing to show.
    #[error(
        "{} holds no results (table.json, sensitivity.json, *.md, *.svg); give a folder that `bcl-bench table` or `bcl-bench simulate` made",
        .0.display()
    )]
    Empty(PathBuf),
}

impl Collection {
    /// Reads a folder and all below it.
    ///
    /// # Errors
    /// When something in it cannot be read, or nothing in it is a result.
    pub fn read(folder: &Path) -> Result<Self, Problem> {
        let mut found = Self::default();
        found.walk(folder)?;
        let Self { texts, pictures, .. } = &mut found;
        let shown: Vec<PathBuf> = texts
            .iter()
            .flat_map(|(path, text)| super::markdown::pictures(text, path))
            .collect();
        pictures.retain(|(path, _)| !shown.contains(path));
        if found.tables.is_empty() && found.sensitivities.is_empty() && found.texts.is_empty() && found.pictures.is_empty() {
            return Err(Problem::Empty(folder.to_owned()));
        }
        Ok(found)
    }

    fn walk(&mut self, folder: &Path) -> Result<(), Problem> {
        let entries = fs::read_dir(folder)
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .map_err(unreadable(folder))?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        let curves = folder.join("sensitivity.json");
        if curves.is_file() {
            self.sensitivities.push((curves.clone(), json(&curves)?));
            // What lies below it are the tables that it is made of, and holds.
            return Ok(());
        }
        let table = folder.join("table.json");
        if table.is_file() {
            self.tables.push((table.clone(), json(&table)?));
            // The rest is the table once more, and the runs it is made of.
            return Ok(());
        }
        for path in paths {
            if path.is_dir() {
                self.walk(&path)?;
                continue;
            }
            let texts = match path.extension().and_then(|extension| extension.to_str()) {
                Some("md") => &mut self.texts,
                Some("svg") => &mut self.pictures,
                _ => continue,
            };
            let text = fs::read_to_string(&path).map_err(unreadable(&path))?;
            texts.push((path, text));
        }
        Ok(())
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    let text = fs::read(path).map_err(unreadable(path))?;
    serde_json::from_slice(&text).map_err(|source| Problem::Broken {
        path: path.to_owned(),
        source,
    })
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Problem {
    let path = path.to_owned();
    move |source| Problem::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_a_text_shows_is_shown_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("figures")).unwrap();
        write("notes.md", "# Notes\n\n![error](figures/shown.svg)\n");
        write("figures/shown.svg", "<svg>1</svg>");
        write("figures/other.svg", "<svg>2</svg>");
        let found = Collection::read(folder.path()).unwrap();
        assert_eq!((found.texts.len(), found.pictures.len()), (1, 1));
        assert!(found.pictures[0].0.ends_with("other.svg"));
    }

    #[test]
    fn a_folder_without_results_and_a_broken_table_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Collection::read(folder.path()), Err(Problem::Empty(_))));
        fs::write(folder.path().join("table.json"), "{\"title\": 1").unwrap();
        let error = Collection::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("table.json") && error.contains("line 1"), "{error}");
    }
}
