//! Checks that the figures of tables, curves and texts follow from runs, or writes them again.

use super::{Collection, collect::unreadable, quoted};
use crate::tables::{Samples, Sensitivity, TableResult, differences};
use bcl_files::FileError;
use std::{fs, path::Path};

impl Collection {
    /// Computes all tables and curves again from their runs, and compares `table.md` with its table, and the figures of
    /// texts with the tables that they link to. Returns what does not follow, and links of texts to missing files of the folders.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn check(&self) -> Result<Vec<String>, String> {
        let mut problems = Vec::new();
        let mut note = |path: &Path, found: Vec<String>| {
            problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", path.display())));
        };
        for (path, table) in &self.tables {
            note(path, differences(table, &again(path, table)?));
            let text = path.with_extension("md");
            if text.is_file() && fs::read_to_string(&text).map_err(unreadable(&text))? != table.to_markdown() {
                note(&text, vec!["is not the text of its table".to_owned()]);
            }
        }
        for (path, curves) in &self.sensitivities {
            note(path, differences(curves, &curves_again(path, curves)?));
        }
        for (path, text) in &self.texts {
            note(path, quoted::unfounded(text, path)?);
            note(path, quoted::missing_links(text, path, |target| self.covers(target)));
        }
        Ok(problems)
    }

    /// Writes all tables and curves as they [follow](Self::check) from their runs.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn update(&self) -> Result<(), String> {
        let unwritable = |error: FileError| error.to_string();
        for (path, table) in &self.tables {
            again(path, table)?.write(folder_of(path)).map_err(unwritable)?;
        }
        for (path, curves) in &self.sensitivities {
            curves_again(path, curves)?.write(folder_of(path)).map_err(unwritable)?;
        }
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// A table as it follows from its runs, and from the metrics of samples if they are kept beside it.
fn again(path: &Path, table: &TableResult) -> Result<TableResult, String> {
    let samples = Samples::read(folder_of(path), table.rows.len())?;
    Ok(table.recomputed(samples.as_ref()))
}

/// The same for curves and their tables.
fn curves_again(path: &Path, curves: &Sensitivity) -> Result<Sensitivity, String> {
    let tables = curves.folders().zip(&curves.tables);
    let samples = tables.map(|(folder, (_, table))| Samples::read(&folder_of(path).join(folder), table.rows.len()));
    Ok(curves.recomputed(&samples.collect::<Result<Vec<_>, _>>()?))
}
