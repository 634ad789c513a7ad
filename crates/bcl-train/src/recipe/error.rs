//! Errors of recipes.

use super::{
    ImageEncoderKind,
    document::{Document, EXTENDS, Place},
    fault::{Fault, FaultKind},
    suggest::nearest,
};
use bcl_core::{EstimatorConfig, ParameterError, parameter::shown};
use std::{fmt, io, path::PathBuf};
use toml::Value;

/// Why a recipe cannot be used: the place, the key, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// Neither a file nor a built-in recipe.
    #[error("{name}: no such recipe file, folder or built-in recipe{}; `bcl-train recipes` lists what there is", did_you_mean(meant.as_deref()))]
    Missing {
        /// The name that was given.
        name: String,
        /// A built-in recipe of a similar name.
        meant: Option<String>,
    },
    /// A file or folder that cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder without recipes.
    #[error("{}: has no recipe; recipes are files that end in .toml", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Not TOML.
    #[error("{at}: not TOML: {problem}")]
    Syntax {
        /// The line.
        at: Place,
        /// What the parser says.
        problem: String,
    },
    /// A parent that cannot be used.
    #[error("{at}: extends \"{parent}\", {problem}{chain}")]
    Extends {
        /// The line of `extends`.
        at: Place,
        /// What it names.
        parent: String,
        /// What is wrong with it.
        problem: String,
        /// The recipes from the one that was asked for up to this one, in parentheses; empty if it is that one.
        chain: String,
    },
    /// An unknown key.
    #[error("{at}: unknown key {key}{}; {known}", did_you_mean(meant.as_deref()))]
    UnknownKey {
        /// Where it was set.
        at: Place,
        /// The key, in full.
        key: String,
        /// A known key of a similar name.
        meant: Option<String>,
        /// The keys of the table around it, as a sentence.
        known: String,
    },
    /// A word that is none of the choices.
    #[error("{at}: {key} is \"{word}\", but must be one of {known}")]
    UnknownWord {
        /// Where it was set.
        at: Place,
        /// The key, in full.
        key: String,
        /// The word.
        word: String,
        /// The choices, and the one that was probably meant.
        known: String,
    },
    /// A value of the wrong type.
    #[error("{at}: {key} is {found}, but must be {expected}")]
    WrongValue {
        /// Where it was set.
        at: Place,
        /// The key, in full.
        key: String,
        /// The value.
        found: String,
        /// What is accepted.
        expected: String,
    },
    /// A required key that is absent.
    #[error("{at}: {key} is missing{}{hint}", meant.as_ref().map_or_else(String::new, |there| format!("; did you misspell it as {there}?")))]
    MissingKey {
        /// The table it belongs to.
        at: Place,
        /// The key, in full.
        key: String,
        /// A present key of a similar name.
        meant: Option<String>,
        /// What to write; may be empty.
        hint: String,
    },
    /// A key below something that is not a table.
    #[error("{at}: {key} is not a table, so it has no keys")]
    NotATable {
        /// The flag that sets a key in it.
        at: Place,
        /// What is not a table.
        key: String,
    },
    /// A value out of range, or one that contradicts another.
    #[error("{at}: {refusal}")]
    Refused {
        /// Where it was set.
        at: Place,
        /// The key and the reason.
        refusal: Refusal,
    },
    /// Two runs with the same name and seed.
    #[error("two runs would be called {name}-{seed} and share a folder; give their recipes different names or drop one")]
    SameRun {
        /// Their name.
        name: String,
        /// Their seed.
        seed: u64,
    },
    /// An argument of `--set` that is not `key=value`.
    #[error("`{text}` {problem}; write it as key=value, such as loss.beta=0.8 or encoder.kind=light_gcn")]
    BadOverride {
        /// The argument.
        text: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Anything else that serde finds.
    #[error("{at}: {key}: {problem}")]
    Other {
        /// Where it was set.
        at: Place,
        /// The key, in full.
        key: String,
        /// What serde says.
        problem: String,
    },
}

fn did_you_mean(meant: Option<&str>) -> String {
    meant.map_or(String::new(), |meant| format!("; did you mean {meant}?"))
}

/// What to write for a required key.
fn hint(key: &str) -> String {
    match key {
        "data" => "; set data.dataset (such as \"planted\"), data.train and data.test, or data.file".to_owned(),
        "loss" | "loss.kind" => {
            let kinds: Vec<String> = EstimatorConfig::all()
                .iter()
                .map(|config| format!("\"{}\"", config.name()))
                .collect();
            format!("; set loss.kind to one of {}", kinds.join(", "))
        }
        "encoder" | "encoder.kind" => {
            let kinds: Vec<String> = ImageEncoderKind::KINDS.iter().map(|kind| format!("\"{kind}\"")).collect();
            format!("; images are trained on with encoder.kind = {}", kinds.join(" or "))
        }
        _ => String::new(),
    }
}

/// A key whose value is refused, and the reason as the end of a sentence: "loss.beta is 1.2, but must be in [0, 1]".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The key, in full.
    pub key: String,
    /// What is wrong with its value, and the remedy.
    pub problem: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key, self.problem)
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    pub(crate) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// A message that begins with the key in full: "views.flip is 1.5, but must be in [0, 1]".
    pub(crate) fn of_text(message: &str) -> Self {
        let (key, problem) = message.split_once(' ').unwrap_or((message, ""));
        Self::new(key, problem)
    }

    /// A message that begins with the key in its table: "width is 0, but must be at least 1".
    pub(crate) fn of_message(table: &str, message: &str) -> Self {
        let (key, problem) = message.split_once(' ').unwrap_or((message, ""));
        Self::new(format!("{table}.{key}"), problem)
    }

    /// A parameter out of range in a table.
    pub(crate) fn of_parameter(table: &str, error: &ParameterError) -> Self {
        let problem = format!("is {}, but must {}", shown(error.value), error.requirement);
        Self::new(format!("{table}.{}", error.name), problem)
    }
}

impl Document {
    /// Makes an error of a mistake: adds its place and suggestions.
    pub(super) fn explain(&self, fault: Fault) -> RecipeError {
        let inside = |key: &str| {
            let keys: Vec<&str> = fault
                .path
                .iter()
                .map(String::as_str)
                .chain([key])
                .filter(|key| !key.is_empty())
                .collect();
            keys.join(".")
        };
        let path = inside("");
        match fault.kind {
            FaultKind::UnknownKey { ref key, known } => {
                let full = inside(key);
                let (table, known) = self.known_keys(&path, key, known);
                RecipeError::UnknownKey {
                    at: self.place(&full),
                    meant: nearest(key, known.iter().map(String::as_str)).map(inside),
                    key: full,
                    known: format!("{table} has {}", known.join(", ")),
                }
            }
            FaultKind::UnknownWord { word, known } => {
                let choices: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
                RecipeError::UnknownWord {
                    at: self.place(&path),
                    known: choices.join(", ") + &did_you_mean(nearest(&word, known.iter().copied())),
                    key: path,
                    word,
                }
            }
            FaultKind::WrongValue { found, expected } => RecipeError::WrongValue {
                at: self.place(&path),
                key: path,
                found,
                expected,
            },
            FaultKind::MissingKey { key } => {
                let there = match self.value(&path) {
                    Some(Value::Table(table)) => nearest(key, table.keys().map(String::as_str)).map(inside),
                    _ => None,
                };
                RecipeError::MissingKey {
                    at: self.place(there.as_deref().unwrap_or(&path)),
                    key: inside(key),
                    meant: there,
                    hint: hint(&inside(key)),
                }
            }
            FaultKind::Other(problem) => RecipeError::Other {
                at: self.place(&path),
                key: path,
                problem,
            },
        }
    }

    /// Makes an error of a refusal: adds its place.
    pub(super) fn refuse(&self, refusal: Refusal) -> RecipeError {
        RecipeError::Refused {
            at: self.place(&refusal.key),
            refusal,
        }
    }

    /// The name of the table at `path` in messages, and its keys; `unknown` is not among them.
    fn known_keys(&self, path: &str, unknown: &str, known: &[&str]) -> (String, Vec<String>) {
        let mut known: Vec<String> = known.iter().map(|&key| key.to_owned()).collect();
        let kind = match self.value(path) {
            // A table in which `kind` is unknown has no kind.
            Some(Value::Table(table)) if unknown != "kind" => table.get("kind").and_then(Value::as_str),
            _ => None,
        };
        // Serde does not list the tag of an enum among its fields.
        if kind.is_some() && !known.iter().any(|key| key == "kind") {
            known.insert(0, "kind".to_owned());
        }
        if path.is_empty() {
            // Serde does not know it: it is taken out before the other keys are read.
            known.push(EXTENDS.to_owned());
        }
        let table = match (path, kind) {
            ("", _) => "a recipe".to_owned(),
            (path, Some(kind)) => format!("[{path}] of kind \"{kind}\""),
            (path, None) => format!("[{path}]"),
        };
        (table, known)
    }

    pub(super) fn value(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let first = self.table.get(parts.next()?)?;
        parts.try_fold(first, |value, key| value.as_table()?.get(key))
    }
}
