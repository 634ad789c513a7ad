//! Where each value of a resolved recipe comes from, and the recipe as text that says so.

use super::{
    Recipe,
    document::{Document, Lines, Place, locate},
};
use bcl_data::printable;
use std::{collections::BTreeMap, fmt::Write};
use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

/// The column at which comments begin, if the values before them are not longer.
const COLUMN: usize = 40;

/// Where each value of a resolved recipe comes from: the line of a recipe or a flag. What has no place is a default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Place>);

impl Origins {
    /// The places of all values that a document gives.
    pub(super) fn of(document: &Document) -> Self {
        let mut origins = Self::default();
        origins.add(document, &document.table, "");
        // Without a name, a recipe is called after its file.
        origins.set("name", document.place("name"));
        origins
    }

    fn add(&mut self, document: &Document, table: &Table, prefix: &str) {
        for (key, value) in table {
            let key = format!("{prefix}{key}");
            match value {
                Value::Table(inner) => self.add(document, inner, &format!("{key}.")),
                _ => self.set(&key, document.place(&key)),
            }
        }
    }

    /// Where the value of a key, such as `loss.beta`, comes from; `None` for a default.
    pub fn get(&self, key: &str) -> Option<&Place> {
        self.0.get(key)
    }

    /// The places of all values that are no defaults.
    #[cfg(test)]
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        self.0.values()
    }

    /// Says that the value of a key comes from `place`.
    pub fn set(&mut self, key: &str, place: Place) {
        self.0.insert(key.to_owned(), place);
    }
}

impl Recipe {
    /// The resolved recipe as TOML, like [`to_toml`](Self::to_toml), with the origin of each value in a comment behind it.
    ///
    /// ```
    /// use bcl_train::recipe::{Recipe, find};
    ///
    /// let found = &find("quickstart/bayesian")?[0];
    /// let (recipe, origins) = Recipe::read_with_origins(found, &["loss.beta=0.7".parse()?], &mut Vec::new())?;
    /// let text = recipe.to_toml_with(&origins);
    /// assert!(text.contains("beta = 0.7                               # --set loss.beta=0.7\n"));
    /// assert_eq!(text.parse::<Recipe>()?, recipe);
    /// # Ok::<(), bcl_train::recipe::RecipeError>(())
    /// ```
    pub fn to_toml_with(&self, origins: &Origins) -> String {
        let text = self.to_toml();
        let lines = Lines::of(&text);
        let mut comments = BTreeMap::new();
        let table = DeTable::parse(&text).expect("a recipe is written as TOML");
        locate(table.get_ref(), "", &mut |key, _, value| {
            if !matches!(value.get_ref(), DeValue::Table(_)) {
                let origin = origins.get(&key).map_or_else(|| "default".to_owned(), printable);
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
