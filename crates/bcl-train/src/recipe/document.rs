//! A recipe as a table that knows where each key was set.

use super::{Override, RecipeError, Refusal};
use std::{collections::BTreeMap, fmt};
use toml::{
    Spanned, Table, Value,
    de::{DeTable, DeValue},
};

/// The key that names the parent of a recipe.
pub(super) const EXTENDS: &str = "extends";

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
    /// A recipe as a whole, for keys that are missing.
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

/// A recipe as text gives it, before its keys are read.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) recipe: String,
    pub(super) table: Table,
    places: BTreeMap<String, Place>,
    /// By table, the kind that it had before a child or a flag gave another; `None` if it had none.
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
        locate(&spans.into_inner(), "", &mut |key, start, _| {
            places.insert(key, line_of(start));
        });
        Ok(Self {
            recipe: recipe.to_owned(),
            table,
            places,
            former_kinds: BTreeMap::new(),
        })
    }

    /// Takes out `extends`, with its place.
    ///
    /// # Errors
    /// Returns an error if its value is not a text.
    pub(super) fn take_extends(&mut self) -> Result<Option<(String, Place)>, RecipeError> {
        let Some(value) = self.table.remove(EXTENDS) else {
            return Ok(None);
        };
        let at = self.place(EXTENDS);
        self.places.remove(EXTENDS);
        let found = match value {
            Value::String(parent) if !parent.is_empty() => return Ok(Some((parent, at))),
            Value::Array(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
            value => value.to_string(),
        };
        Err(RecipeError::WrongValue {
            at,
            key: EXTENDS.to_owned(),
            found,
            expected: "a text in quotes: the path of a recipe, or the name of a built-in one".to_owned(),
        })
    }

    /// Puts a child on top of this document, its parent: the child's keys win, table by table. The name is not inherited, because it
    /// names the folder of runs.
    pub(super) fn overlay(&mut self, child: &Self) {
        self.recipe.clone_from(&child.recipe);
        self.table.remove("name");
        self.places.remove("name");
        self.make_way_for_data(child);
        for (table, value) in &child.table {
            let (Some(kind), Some(parent)) = (value.get("kind"), self.table.get(table)) else {
                continue;
            };
            let former = parent.get("kind");
            if former != Some(kind) {
                self.former_kinds.insert(table.clone(), former.cloned());
            }
        }
        merge(&mut self.table, &child.table, "", &mut self.places);
        self.places
            .extend(child.places.iter().map(|(key, place)| (key.clone(), place.clone())));
    }

    /// Drops the parent's `[data]` if the child names its data by another key, such as `file` instead of `dataset`, and the parent's
    /// generator if the child's data are not generated.
    fn make_way_for_data(&mut self, child: &Self) {
        let source = |document: &Self| {
            let keys = ["dataset", "train", "test", "file", "images"];
            let given = |key: &&str| document.value(&format!("data.{key}")).is_some();
            // Train and test belong together.
            keys.into_iter().find(given).map(|key| key.replace("test", "train"))
        };
        let (Some(former), Some(new)) = (source(self), source(child)) else {
            return;
        };
        if former != new {
            self.table.remove("data");
            forget_below(&mut self.places, "data");
        } else if child.text("data.dataset").is_some_and(|dataset| dataset != "planted") {
            self.remove("data", "planted");
        }
    }

    /// Removes a key of a table.
    pub(super) fn remove(&mut self, table: &str, key: &str) {
        if let Some(Value::Table(entries)) = self.table.get_mut(table) {
            entries.remove(key);
        }
        let key = format!("{table}.{key}");
        forget_below(&mut self.places, &key);
        self.places.remove(&key);
    }

    /// Sets the keys of flags.
    pub(super) fn change(&mut self, overrides: &[Override]) -> Result<(), RecipeError> {
        overrides.iter().try_for_each(|change| self.set(change))
    }

    /// The text at a key, in full, if there is text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let (parents, last) = key.rsplit_once('.')?;
        let table = parents
            .split('.')
            .try_fold(&self.table, |table, key| table.get(key)?.as_table())?;
        table.get(last)?.as_str()
    }

    /// Sets the key of a flag.
    pub(super) fn set(&mut self, change: &Override) -> Result<(), RecipeError> {
        let (last, parents) = change.path.split_last().expect("a key has at least one part");
        let flag = || Place::Flag(change.flag.clone());
        if change.path[0] == EXTENDS {
            return Err(RecipeError::Refused {
                at: flag(),
                refusal: Refusal::new(EXTENDS, "cannot be set by a flag; write it into a recipe"),
            });
        }
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
        forget_below(&mut self.places, &key);
        self.places.insert(key, flag());
        Ok(())
    }

    /// Gives a table without a `kind` the default kind.
    pub(super) fn default_kind(&mut self, table: &str, kind: &str) {
        if let Some(Value::Table(table)) = self.table.get_mut(table) {
            table.entry("kind").or_insert_with(|| kind.into());
        }
    }

    /// Where a key was set, or else the table around it.
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

/// Puts the entries of `child` in the place of those of `parent`, table by table. Tables that give way take their lines with them.
fn merge(parent: &mut Table, child: &Table, prefix: &str, places: &mut BTreeMap<String, Place>) {
    for (key, value) in child {
        let path = format!("{prefix}{key}");
        match (parent.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value, &format!("{path}."), places),
            (former, value) => {
                if let Some(Value::Table(_)) = former {
                    forget_below(places, &path);
                }
                parent.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Forgets where the keys below a key were set.
fn forget_below(places: &mut BTreeMap<String, Place>, key: &str) {
    // `/` comes right after `.`.
    let below: Vec<String> = places
        .range(format!("{key}.")..format!("{key}/"))
        .map(|(key, _)| key.clone())
        .collect();
    for key in below {
        places.remove(&key);
    }
}

/// The line ends of a text. Counting lines anew for each of many keys would take minutes.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(end, _)| end).collect())
    }

    /// The line of a byte, from 1.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|&end| end < offset)
    }
}

/// Calls `found` with each key, in full, the byte at which it begins, and its value.
pub(super) fn locate(table: &DeTable<'_>, prefix: &str, found: &mut impl FnMut(String, usize, &Spanned<DeValue<'_>>)) {
    for (key, value) in table {
        let path = format!("{prefix}{}", key.get_ref());
        found(path.clone(), Spanned::span(key).start, value);
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
