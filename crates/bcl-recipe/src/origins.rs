//! The origins of all values of a resolved recipe.

use crate::{
    Document, Origin,
    lines::{Lines, locate},
};
use bcl_files::printable;
use std::{collections::BTreeMap, fmt::Write};
use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

/// The column at which comments begin, if the values before them are not longer.
const COLUMN: usize = 40;

/// The origins of all values of a resolved recipe. Defaults have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// The origins of all values in a document.
    pub(crate) fn of(document: &Document) -> Self {
        let mut origins = Self::default();
        origins.add(document, &document.table, "");
        // A recipe without a name is named after its file.
        origins.set("name", document.origin("name"));
        origins
    }

    fn add(&mut self, document: &Document, table: &Table, prefix: &str) {
        for (key, value) in table {
            let key = format!("{prefix}{key}");
            match value {
                Value::Table(inner) => self.add(document, inner, &format!("{key}.")),
                _ => self.set(&key, document.origin(&key)),
            }
        }
    }

    /// Where the value of a key, such as `loss.beta`, comes from; `None` for a default.
    pub fn get(&self, key: &str) -> Option<&Origin> {
        self.0.get(key)
    }

    /// The origins of all values that are not defaults.
    pub fn values(&self) -> impl Iterator<Item = &Origin> {
        self.0.values()
    }

    /// Sets the origin of a key.
    pub fn set(&mut self, key: &str, origin: Origin) {
        self.0.insert(key.to_owned(), origin);
    }

    /// Adds a comment with its origin, or `default`, to each value of a resolved recipe.
    ///
    /// # Panics
    /// Panics if `text` is not TOML.
    pub fn annotate(&self, text: &str) -> String {
        let lines = Lines::of(text);
        let mut comments = BTreeMap::new();
        let table = DeTable::parse(text).expect("a resolved recipe is TOML");
        locate(table.get_ref(), "", &mut |key, _, value| {
            if !matches!(value.get_ref(), DeValue::Table(_)) {
                let origin = self.get(&key).map_or_else(|| "default".to_owned(), printable);
                comments.insert(lines.line_of(value.span().end), origin);
            }
        });
        let mut commented = String::new();
        for (line, text) in (1..).zip(text.lines()) {
            match comments.get(&line) {
                Some(comment) => {
                    let _ = writeln!(commented, "{text:<COLUMN$} # {comment}");
                }
                None => {
                    let _ = writeln!(commented, "{text}");
                }
            }
        }
        commented
    }
}
