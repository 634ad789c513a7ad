//! Turns errors of serde into errors of recipes.

use crate::{
    Document, RecipeError,
    document::EXTENDS,
    error::did_you_mean,
    nearest,
    read_error::{ReadError, ReadErrorKind},
};
use toml::Value;

impl Document {
    /// Adds the origin of the key and suggestions to an error of serde. `hint` says what to write for a required key.
    pub(crate) fn explain(&self, error: ReadError, hint: fn(&str) -> String) -> RecipeError {
        let inside = |key: &str| {
            let keys: Vec<&str> = error
                .path
                .iter()
                .map(String::as_str)
                .chain([key])
                .filter(|key| !key.is_empty())
                .collect();
            keys.join(".")
        };
        let path = inside("");
        match error.kind {
            ReadErrorKind::UnknownKey { ref key, known } => {
                let full = inside(key);
                let (table, known) = self.known_keys(&path, key, known);
                RecipeError::UnknownKey {
                    at: self.origin(&full),
                    meant: nearest(key, known.iter().map(String::as_str)).map(inside),
                    key: full,
                    known: format!("{table} has {}", known.join(", ")),
                }
            }
            ReadErrorKind::UnknownWord { word, known } => {
                let choices: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
                RecipeError::UnknownWord {
                    at: self.origin(&path),
                    known: choices.join(", ") + &did_you_mean(nearest(&word, known.iter().copied())),
                    key: path,
                    word,
                }
            }
            ReadErrorKind::WrongValue { found, expected } => RecipeError::WrongValue {
                at: self.origin(&path),
                key: path,
                found,
                expected,
            },
            ReadErrorKind::MissingKey { key } => {
                let there = match self.value(&path) {
                    Some(Value::Table(table)) => nearest(key, table.keys().map(String::as_str)).map(inside),
                    _ => None,
                };
                RecipeError::MissingKey {
                    at: self.origin(there.as_deref().unwrap_or(&path)),
                    key: inside(key),
                    meant: there,
                    hint: hint(&inside(key)),
                }
            }
            ReadErrorKind::Other(problem) => RecipeError::Other {
                at: self.origin(&path),
                key: path,
                problem,
            },
        }
    }

    /// The name of the table at `path` in messages, and its keys; `unknown` is not among them.
    fn known_keys(&self, path: &str, unknown: &str, known: &[&str]) -> (String, Vec<String>) {
        let mut known: Vec<String> = known.iter().map(|&key| key.to_owned()).collect();
        let kind = match self.value(path) {
            // If `kind` itself is unknown, the table has no kinds.
            Some(Value::Table(table)) if unknown != "kind" => table.get("kind").and_then(Value::as_str),
            _ => None,
        };
        // Serde does not list the tag of an enum among its fields.
        if kind.is_some() && !known.iter().any(|key| key == "kind") {
            known.insert(0, "kind".to_owned());
        }
        if path.is_empty() {
            // Serde does not know `extends`, which is removed before the other keys are read.
            known.push(EXTENDS.to_owned());
        }
        let table = match (path, kind) {
            ("", _) => "a recipe".to_owned(),
            (path, Some(kind)) => format!("[{path}] of kind \"{kind}\""),
            (path, None) => format!("[{path}]"),
        };
        (table, known)
    }
}
