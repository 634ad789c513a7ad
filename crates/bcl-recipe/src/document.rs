//! A parsed recipe whose keys have not been checked yet.

use crate::{
    Origin, Override, RecipeError, Refusal,
    lines::{Lines, locate},
};
use std::collections::BTreeMap;
use toml::{Table, Value, de::DeTable};

/// The key that names the parent of a recipe.
pub(crate) const EXTENDS: &str = "extends";

/// What to write for a path whose `\` were read as escapes.
const WINDOWS_PATH: &str = "in double quotes \\ begins an escape, so write a Windows path in single quotes ('C:\\data\\a.csv') or with / \
                            (\"C:/data/a.csv\")";

/// What to write instead, if the line at this byte has what people often copy into recipes.
fn remedy(text: &str, at: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    if line.contains(['“', '”', '„', '‘', '’', '«', '»']) {
        "; write straight quotes (\" or ') in place of curly ones".to_owned()
    } else if line.contains('"') && line.contains('\\') {
        format!("; {WINDOWS_PATH}")
    } else {
        String::new()
    }
}

/// Whether a string is a path of Windows with a line break or the like in it, as `"C:\new"` is.
fn has_an_escape_by_mistake(text: &str) -> bool {
    text.chars().nth(1) == Some(':') && text.contains(['\t', '\n', '\r', '\u{8}', '\u{c}'])
}

/// A parsed recipe whose keys have not been checked yet: a table, with the origin of each key.
#[derive(Debug, Clone)]
pub struct Document {
    pub(crate) recipe: String,
    pub(crate) table: Table,
    origins: BTreeMap<String, Origin>,
    /// The kind that each table had before a child or a flag changed it; `None` if it had none.
    pub(crate) former_kinds: BTreeMap<String, Option<Value>>,
}

impl Document {
    /// Parses TOML. `recipe` is what error messages call the text.
    pub(crate) fn parse(text: &str, recipe: &str) -> Result<Self, RecipeError> {
        let lines = Lines::of(text);
        let line_of = |offset| Origin::Line {
            recipe: recipe.to_owned(),
            line: lines.line_of(offset),
        };
        let syntax = |error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            RecipeError::Syntax {
                at: line_of(start),
                problem: error.message().trim().replace('\n', ", ") + &remedy(text, start),
            }
        };
        let table: Table = text.parse().map_err(syntax)?;
        let spans = DeTable::parse(text).map_err(syntax)?;
        let (mut origins, mut escaped) = (BTreeMap::new(), None);
        locate(&spans.into_inner(), "", &mut |key, start, value| {
            if value.get_ref().as_str().is_some_and(has_an_escape_by_mistake) {
                escaped.get_or_insert_with(|| key.clone());
            }
            origins.insert(key, line_of(start));
        });
        let document = Self {
            recipe: recipe.to_owned(),
            table,
            origins,
            former_kinds: BTreeMap::new(),
        };
        match escaped {
            Some(key) => Err(document.refuse(Refusal::new(key, format!("has a tab or a line break in it; {WINDOWS_PATH}")))),
            None => Ok(document),
        }
    }

    /// Removes `extends` and returns it with its origin.
    ///
    /// # Errors
    /// Returns an error if its value is not a string.
    pub(crate) fn take_extends(&mut self) -> Result<Option<(String, Origin)>, RecipeError> {
        let Some(value) = self.table.remove(EXTENDS) else {
            return Ok(None);
        };
        let at = self.origin(EXTENDS);
        self.origins.remove(EXTENDS);
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
            expected: "a string in quotes: the path of a recipe, or the name of a built-in one".to_owned(),
        })
    }

    /// Merges a child into this document, its parent: the child's keys win, table by table. The name is not inherited, because it names
    /// the folder of runs.
    pub(crate) fn overlay(&mut self, child: &Self) {
        self.recipe.clone_from(&child.recipe);
        self.table.remove("name");
        self.origins.remove("name");
        former_kinds(&self.table, &child.table, "", &mut self.former_kinds);
        merge(&mut self.table, &child.table, "", &mut self.origins);
        self.origins
            .extend(child.origins.iter().map(|(key, origin)| (key.clone(), origin.clone())));
    }

    /// Removes a key, such as `data` or `data.planted`.
    pub fn remove(&mut self, key: &str) {
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().unwrap_or_default();
        let table = parts
            .into_iter()
            .try_fold(&mut self.table, |table, part| table.get_mut(part)?.as_table_mut());
        if let Some(table) = table {
            table.remove(last);
        }
        forget_below(&mut self.origins, key);
        self.origins.remove(key);
    }

    /// The value of a key, such as `loss.kind`.
    pub fn value(&self, key: &str) -> Option<&Value> {
        let mut parts = key.split('.');
        let first = self.table.get(parts.next()?)?;
        parts.try_fold(first, |value, key| value.as_table()?.get(key))
    }

    /// The string at a key, if it is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_str()
    }

    /// Turns a refusal into an error with the origin of its key.
    pub fn refuse(&self, refusal: Refusal) -> RecipeError {
        RecipeError::Refused {
            at: self.origin(&refusal.key),
            refusal,
        }
    }

    /// Sets the key of a flag.
    pub(crate) fn set(&mut self, change: &Override) -> Result<(), RecipeError> {
        let (last, parents) = change.path.split_last().expect("a key has at least one part");
        let flag = || Origin::Flag(change.flag.clone());
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
            self.origins.entry(key).or_insert_with(flag);
            table = inner;
        }
        let former = table.insert(last.clone(), change.value.clone());
        let key = change.path.join(".");
        if let Some(table) = key.strip_suffix(".kind") {
            self.former_kinds.entry(table.to_owned()).or_insert(former);
        }
        forget_below(&mut self.origins, &key);
        self.origins.insert(key, flag());
        Ok(())
    }

    /// Gives keys that are missing their defaults.
    pub(crate) fn fill(&mut self, defaults: &Table) {
        fill(&mut self.table, defaults);
    }

    /// The origin of a key or, if it was not set, of its table.
    pub fn origin(&self, key: &str) -> Origin {
        let mut key = key;
        loop {
            if let Some(origin) = self.origins.get(key) {
                return origin.clone();
            }
            match key.rsplit_once('.') {
                Some((parent, _)) => key = parent,
                None => return Origin::Recipe(self.recipe.clone()),
            }
        }
    }
}

/// Adds the entries of `defaults` that a table lacks.
fn fill(table: &mut Table, defaults: &Table) {
    for (key, default) in defaults {
        match (table.get_mut(key), default) {
            (Some(Value::Table(inner)), Value::Table(defaults)) => fill(inner, defaults),
            (Some(_), _) => {}
            (None, _) => drop(table.insert(key.clone(), default.clone())),
        }
    }
}

/// Notes the kinds of the tables to which `child` gives another.
fn former_kinds(parent: &Table, child: &Table, prefix: &str, former_kinds: &mut BTreeMap<String, Option<Value>>) {
    for (key, value) in child {
        let (Some(Value::Table(parent)), Value::Table(child)) = (parent.get(key), value) else {
            continue;
        };
        let table = format!("{prefix}{key}");
        let [former, kind] = [parent, child].map(|table| table.get("kind"));
        if kind.is_some() && former != kind {
            former_kinds.insert(table.clone(), former.cloned());
        }
        self::former_kinds(parent, child, &format!("{table}."), former_kinds);
    }
}

/// Overwrites the entries of `parent` with the entries of `child`, table by table, and removes the origins below an overwritten table.
fn merge(parent: &mut Table, child: &Table, prefix: &str, origins: &mut BTreeMap<String, Origin>) {
    for (key, value) in child {
        let path = format!("{prefix}{key}");
        match (parent.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value, &format!("{path}."), origins),
            (former, value) => {
                if let Some(Value::Table(_)) = former {
                    forget_below(origins, &path);
                }
                parent.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Removes the origins of all keys below a key.
fn forget_below(origins: &mut BTreeMap<String, Origin>, key: &str) {
    // `/` comes right after `.`.
    let below: Vec<String> = origins
        .range(format!("{key}.")..format!("{key}/"))
        .map(|(key, _)| key.clone())
        .collect();
    for key in below {
        origins.remove(&key);
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
            assert_eq!(document.origin(key).to_string(), format!("a.toml:{line}"), "{key}");
        }
    }

    #[test]
    fn a_key_that_was_not_set_has_the_origin_of_its_table() {
        assert_eq!(document().origin("loss.alpha").to_string(), "a.toml:3");
        assert_eq!(document().origin("training.epochs").to_string(), "a.toml");
    }

    #[test]
    fn the_origin_of_a_key_is_the_flag_that_sets_it() {
        let mut document = document();
        document.set(&"loss.beta=0.9".parse().unwrap()).unwrap();
        document.set(&"training.epochs=3".parse().unwrap()).unwrap();
        assert_eq!(document.table["loss"]["beta"], Value::Float(0.9));
        assert_eq!(document.table["training"]["epochs"], Value::Integer(3));
        assert_eq!(document.origin("loss.beta").to_string(), "--set loss.beta=0.9");
        assert_eq!(document.origin("loss.kind").to_string(), "a.toml:4");
    }

    #[test]
    fn a_flag_that_replaces_a_table_forgets_its_lines() {
        let mut document = document();
        document.set(&"loss={kind='info_nce'}".parse().unwrap()).unwrap();
        assert_eq!(document.origin("loss.beta").to_string(), "--set loss={kind='info_nce'}");
    }

    #[test]
    fn a_mistake_in_the_syntax_has_its_line() {
        let error = Document::parse("name = 'a'\nseed = \n", "a.toml").unwrap_err().to_string();
        assert!(error.starts_with("a.toml:2: "), "{error}");
    }

    #[test]
    fn defaults_fill_gaps_alone() {
        let mut document = Document::parse("training.epochs = 3", "a.toml").unwrap();
        document.fill(&toml::toml! {
            training.epochs = 60
            training.batch_size = 8
            selection.held_out = 0.1
        });
        for (key, value) in [
            ("training.epochs", Value::Integer(3)),
            ("training.batch_size", Value::Integer(8)),
        ] {
            assert_eq!(document.value(key), Some(&value), "{key}");
        }
        assert_eq!(document.value("selection.held_out"), Some(&Value::Float(0.1)));
    }
}
