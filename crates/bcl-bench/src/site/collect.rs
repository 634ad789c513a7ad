//! Collects the results in a folder.

use super::markdown;
use crate::tables::{Sensitivity, TableResult};
use bcl_report::Skipped;
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// Everything in a folder that the page shows, sorted by path.
#[derive(Debug, Default)]
pub struct Collection {
    /// Tables, except those that are part of curves.
    pub tables: Vec<(PathBuf, TableResult)>,
    /// Curves over a parameter.
    pub sensitivities: Vec<(PathBuf, Sensitivity)>,
    /// Markdown texts.
    pub texts: Vec<(PathBuf, String)>,
    /// Pictures that no text includes.
    pub pictures: Vec<(PathBuf, String)>,
    /// Files that look like results but are not shown.
    pub skipped: Vec<Skipped>,
    /// Folders visited so far, so that a link back to one of them ends there.
    seen: BTreeSet<PathBuf>,
}

impl Collection {
    /// Reads a folder and everything below it, each folder once even if several links lead to it. Files that look like results
    /// but are not read are listed in [`skipped`](Self::skipped).
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read, a table in it is broken, or it contains no results.
    pub fn read(folder: &Path) -> Result<Self, String> {
        Self::read_all(&[folder])
    }

    /// Reads several folders, one after the other, as [`read`](Self::read) reads one.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_all(folders: &[impl AsRef<Path>]) -> Result<Self, String> {
        let mut found = Self::default();
        for folder in folders.iter().map(AsRef::as_ref) {
            let before = found.count();
            fs::read_dir(folder).map_err(unreadable(folder))?;
            found.walk(folder)?;
            let adds_nothing = found.count() == before;
            if adds_nothing && !Self::has_results(folder)? {
                return Err(format!(
                    "{} contains no results (table.json, sensitivity.json, *.md, *.svg); give a folder that `bcl-bench table` or \
                     `bcl-bench simulate` wrote",
                    folder.display()
                ));
            }
        }
        let Self {
            texts,
            pictures,
            skipped,
            ..
        } = &mut found;
        let shown: Vec<PathBuf> = texts.iter().flat_map(|(path, text)| markdown::pictures(text, path)).collect();
        pictures.retain(|(path, _)| !shown.contains(path));
        skipped.extend(texts.iter().flat_map(|(path, text)| markdown::missing_pictures(text, path)));
        Ok(found)
    }

    /// Whether there is a result in a folder, even if it is shown already as part of another.
    fn has_results(folder: &Path) -> Result<bool, String> {
        let mut alone = Self::default();
        alone.walk(folder)?;
        Ok(alone.count() > 0)
    }

    /// Number of results.
    fn count(&self) -> usize {
        self.tables.len() + self.sensitivities.len() + self.texts.len() + self.pictures.len()
    }

    /// All tables, including those that are part of curves.
    pub(super) fn all_tables(&self) -> impl Iterator<Item = &TableResult> {
        let of_curves = self.sensitivities.iter().flat_map(|(_, curves)| &curves.tables);
        let alone = self.tables.iter().map(|(_, table)| table);
        alone.chain(of_curves.map(|(_, table)| table))
    }

    /// Whether a path, which need not exist, is below a folder that was read.
    pub(super) fn covers(&self, path: &Path) -> bool {
        let existing = path.ancestors().find_map(|path| path.canonicalize().ok());
        existing.is_some_and(|existing| existing.ancestors().any(|folder| self.seen.contains(folder)))
    }

    fn walk(&mut self, folder: &Path) -> Result<(), String> {
        let here = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        if !self.seen.insert(here) {
            self.skip(folder, "its content is shown already");
            return Ok(());
        }
        let curves = folder.join("sensitivity.json");
        if self.is_file(&curves) {
            self.sensitivities.push((curves.clone(), json(&curves)?));
            // The tables below it are part of the curves and already included.
            return Ok(());
        }
        let table = folder.join("table.json");
        if self.is_file(&table) {
            self.tables.push((table.clone(), json(&table)?));
            // The other files repeat the table or belong to its runs.
            return Ok(());
        }
        if folder.join("plan.json").is_file() {
            self.skip(
                folder,
                "the table is not finished; run the command that started it again to continue",
            );
            return Ok(());
        }
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut paths: Vec<PathBuf> = match entries {
            Ok(entries) => entries.into_iter().map(|entry| entry.path()).collect(),
            Err(error) => {
                self.skip(folder, &format!("it cannot be read: {error}"));
                return Ok(());
            }
        };
        paths.sort();
        for path in paths {
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                self.walk(&path)?;
            } else if matches!(extension, Some("md" | "svg")) && self.is_file(&path) {
                match fs::read_to_string(&path) {
                    Ok(text) if extension == Some("md") => self.texts.push((path, text)),
                    Ok(text) => self.pictures.push((path, text)),
                    Err(error) => self.skip(&path, &format!("it cannot be read: {error}")),
                }
            }
        }
        Ok(())
    }

    /// Whether a path is a regular file. Anything else under that name is skipped with a note, because waiting for a pipe or
    /// reading a device might never end.
    fn is_file(&mut self, path: &Path) -> bool {
        let reason = match (path.symlink_metadata(), path.metadata()) {
            (Err(_), _) => return false,
            (_, Ok(about)) if about.is_file() => return true,
            (_, Ok(_)) => "it is not a file".to_owned(),
            (_, Err(error)) => format!("it cannot be read: {error}"),
        };
        self.skip(path, &reason);
        false
    }

    fn skip(&mut self, path: &Path, reason: &str) {
        self.skipped.push(Skipped {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = fs::read(path).map_err(unreadable(path))?;
    serde_json::from_slice(&text).map_err(|error| {
        format!(
            "{}: {error}; create it again with this version, or move it elsewhere",
            path.display()
        )
    })
}

pub(super) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> String {
    move |error| format!("cannot read {}: {error}", path.display())
}

#[cfg(test)]
mod tests;
