//! The titles of items, read from a file beside the interactions.

use crate::error::excerpt;
use crate::read::read_titles;
use crate::{DataError, IdMap, ItemColumns};
use std::collections::HashMap;
use std::path::Path;

/// The titles of the items of a data set.
///
/// Files are CSV (with commas or semicolons), tab-separated, JSON lines, `MovieLens`' `u.item` (`|`) and `movies.dat` (`::`), or
/// `RecBole`'s `.item`; plain or gzipped, in UTF-8 or Latin-1. Titles of items that the data set does not have are counted and not kept.
///
/// ```
/// use bcl_data::{IdMap, ItemColumns, ItemNames};
///
/// let dir = tempfile::tempdir()?;
/// let file = dir.path().join("items.csv");
/// std::fs::write(&file, "id,title\ntea,Green tea\njam,\"Jam, red\"\nrice,Rice\n")?;
///
/// let items: IdMap = ["jam", "tea", "milk"].into_iter().collect();
/// let names = ItemNames::read(&file, &ItemColumns::default(), &items)?;
/// assert_eq!(names.title(0), Some("Jam, red"));
/// assert_eq!(names.title(2), None);
/// assert_eq!((names.num_titled(), names.num_untitled(), names.num_unknown()), (2, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemNames {
    titles: Vec<Option<Box<str>>>,
    unknown: usize,
}

impl ItemNames {
    /// Reads the titles of `items` from a file.
    ///
    /// # Errors
    /// Returns an error that names file, line and remedy if the file cannot be read, lacks a column, contains an id twice, or contains
    /// none of the items.
    pub fn read(path: &Path, columns: &ItemColumns, items: &IdMap) -> Result<Self, DataError> {
        let mut names = Self {
            titles: vec![None; items.len()],
            unknown: 0,
        };
        let mut lines: HashMap<Box<str>, u64> = HashMap::new();
        let mut known = 0;
        read_titles(path, columns, |line, id, title| {
            if let Some(first) = lines.insert(id.into(), line.number()) {
                let problem = format!(
                    "item `{}` is already in line {first}. Delete one of the two lines",
                    excerpt(id)
                );
                return Err(DataError::at(line.location(), problem));
            }
            match items.get(id) {
                None => names.unknown += 1,
                Some(item) => {
                    known += 1;
                    names.titles[item as usize] = Some(title).filter(|title| !title.is_empty()).map(Into::into);
                }
            }
            Ok(())
        })?;
        match lines.keys().min() {
            None => Err(DataError::file(
                path,
                "no item in the file. Check that this is the right file",
            )),
            Some(example) if known == 0 && !items.is_empty() => {
                let (id, item) = (excerpt(example), excerpt(items.raw(0)));
                let problem = format!(
                    "none of its ids, such as `{id}`, is an item of the data; those look like `{item}`. Check that both use the same ids, \
                     and name the column of the ids in `data.item_columns.id`"
                );
                Err(DataError::file(path, problem))
            }
            Some(_) => Ok(names),
        }
    }

    /// The title of an item, if the file has one. It is text from a file: pass it through [`printable`](bcl_files::printable()) before a
    /// terminal shows it.
    ///
    /// # Panics
    /// Panics if `item` is not below the number of items.
    pub fn title(&self, item: u32) -> Option<&str> {
        self.titles[item as usize].as_deref()
    }

    /// Number of items with a title.
    pub fn num_titled(&self) -> usize {
        self.titles.iter().flatten().count()
    }

    /// Number of items without a title.
    pub fn num_untitled(&self) -> usize {
        self.titles.len() - self.num_titled()
    }

    /// Number of rows of the file whose id is not an item of the data set.
    pub fn num_unknown(&self) -> usize {
        self.unknown
    }
}

#[cfg(test)]
mod tests;
