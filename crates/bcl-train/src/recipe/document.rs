//! The text of a recipe as a table, with the place where each key was set.

use super::{Override, RecipeError};
use std::{collections::BTreeMap, fmt};
use toml::{
    Spanned, Table, Value,
    de::{DeTable, DeValue},
};

/// Where a key got its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of a recipe, from 1.
    Line {
        /// The recipe: the path of a file, or the name of a built-in recipe.
        recipe: String,
        /// The line.
        line: usize,
    },
    /// A flag of the command line, such as `--set loss.beta=0.8`.
    Flag(String),
    /// Nowhere in particular, as with keys that are missing.
    Recipe(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { recipe, line } => write!(f, "{recipe}:{line}"),
            Self::Flag(flag) => f.write_str(flag),
            Self::Recipe(recipe) => f.write_str(recipe),
        }
    }
}

/// A recipe before its keys are understood.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) recipe: String,
    pub(super) table: Table,
    places: BTreeMap<String, Place>,
    /// By table, the kind it had before a flag changed it; `None` where it said none and has no default.
    pub(super) former_kinds: BTreeMap<String, Option<Value>>,
}

impl Document {
    /// Parses TOML. `recipe` is what error messages call the text.
    pub(super) fn parse(text: &str, recipe: &str) -> Result<Self, RecipeError> {
        let lines = Lines::of(text);
        let line_of = |offset| Place::Line {
            recipe: recipe.to_owned(),
            line: lines.line_of(offset),
        };
        let syntax = |error: toml::de::Error| RecipeError::Syntax {
            at: line_of(error.span().map_or(0, |span| span.start)),
            problem: error.message().trim().replace('\n', ", "),
        };
        let table: Table = text.parse().map_err(syntax)?;
        let spans = DeTable::parse(text).map_err(syntax)?;
        let mut places = BTreeMap::new();
        locate(&spans.into_inner(), "", &mut |key, start| {
            places.insert(key, line_of(start));
        });
        Ok(Self {
            recipe: recipe.to_owned(),
            table,
            places,
            former_kinds: BTreeMap::new(),
        })
    }

    /// The document with values that flags put in the place of its own.
    pub(super) fn changed(mut self, overrides: &[Override]) -> Result<Self, RecipeError> {
        for change in overrides {
            self.set(change)?;
        }
        Ok(self)
    }

    /// The text at a key, in full, if there is text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let (parents, last) = key.rsplit_once('.')?;
        let table = parents
            .split('.')
            .try_fold(&self.table, |table, key| table.get(key)?.as_table())?;
        table.get(last)?.as_str()
    }

    /// Sets a key as a flag demands.
    pub(super) fn set(&mut self, change: &Override) -> Result<(), RecipeError> {
        let (last, parents) = change.path.split_last().expect("a key has at least one part");
        let flag = || Place::Flag(change.flag.clone());
        let mut table = &mut self.table;
        for (depth, parent) in parents.iter().enumerate() {
            let key = change.path[..=depth].join(".");
            let entry = table.entry(parent.clone()).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = entry else {
                return Err(RecipeError::NotATable { at: flag(), key });
            };
            self.places.entry(key).or_insert_with(flag);
            table = inner;
        }
        let former = table.insert(last.clone(), change.value.clone());
        let key = change.path.join(".");
        if let Some(table) = key.strip_suffix(".kind") {
            self.former_kinds.entry(table.to_owned()).or_insert(former);
        }
        // Whatever stood below the key is gone, and with it its lines.
        let below = format!("{key}.");
        self.places.retain(|place, _| !place.starts_with(&below));
        self.places.insert(key, flag());
        Ok(())
    }

    /// Lets a table without a `kind` be of the kind it would have if it were not there at all.
    pub(super) fn default_kind(&mut self, table: &str, kind: &str) {
        if let Some(Value::Table(table)) = self.table.get_mut(table) {
            table.entry("kind").or_insert_with(|| kind.into());
        }
        if let Some(former) = self.former_kinds.get_mut(table) {
            former.get_or_insert_with(|| kind.into());
        }
    }

    /// Where a key was set; for a key that was not, the table around it.
    pub(super) fn place(&self, key: &str) -> Place {
        let mut key = key;
        loop {
            if let Some(place) = self.places.get(key) {
                return place.clone();
            }
            match key.rsplit_once('.') {
                Some((parent, _)) => key = parent,
                None => return Place::Recipe(self.recipe.clone()),
            }
        }
    }
}

/// Where the lines of a text end. Counting them anew for each key would take minutes with many keys.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(end, _)| end).collect())
    }

    /// The line of a byte, from 1.
    fn line_of(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|&end| end < offset)
    }
}

/// Calls `found` with each key, in full, and the byte at which it begins.
fn locate(table: &DeTable<'_>, prefix: &str, found: &mut impl FnMut(String, usize)) {
    for (key, value) in table {
        let path = format!("{prefix}{}", key.get_ref());
        found(path.clone(), Spanned::span(key).start);
        if let DeValue::Table(inner) = value.get_ref() {
            locate(inner, &format!("{path}."), found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "name = 'a'\n\n[loss]\nkind = 'bayesian'\n  beta = 0.8\n[data]\ndataset = 'planted'\nplanted.noise = 0.1\n";

    fn document() -> Document {
        Document::parse(TEXT, "a.toml").unwrap()
    }

    #[test]
    fn every_key_knows_its_line() {
        let document = document();
        for (key, line) in [("name", 1), ("loss", 3), ("loss.beta", 5), ("data.planted.noise", 8)] {
            assert_eq!(document.place(key).to_string(), format!("a.toml:{line}"), "{key}");
        }
    }

    #[test]
    fn a_key_that_was_not_set_is_placed_at_its_table() {
        assert_eq!(document().place("loss.alpha").to_string(), "a.toml:3");
        assert_eq!(document().place("training.epochs").to_string(), "a.toml");
    }

    #[test]
    fn a_flag_takes_the_place_of_a_line() {
        let mut document = document();
        document.set(&"loss.beta=0.9".parse().unwrap()).unwrap();
        document.set(&"training.epochs=3".parse().unwrap()).unwrap();
        assert_eq!(document.table["loss"]["beta"], Value::Float(0.9));
        assert_eq!(document.table["training"]["epochs"], Value::Integer(3));
        assert_eq!(document.place("loss.beta").to_string(), "--set loss.beta=0.9");
        assert_eq!(document.place("loss.kind").to_string(), "a.toml:4");
    }

    #[test]
    fn a_flag_that_replaces_a_table_forgets_its_lines() {
        let mut document = document();
        document.set(&"loss={kind='info_nce'}".parse().unwrap()).unwrap();
        assert_eq!(document.place("loss.beta").to_string(), "--set loss={kind='info_nce'}");
    }

    #[test]
    fn a_mistake_in_the_syntax_has_its_line() {
        let error = Document::parse("name = 'a'\nseed = \n", "a.toml").unwrap_err().to_string();
        assert!(error.starts_with("a.toml:2: "), "{error}");
    }
}
