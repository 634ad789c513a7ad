//! Errors of serde as data: the path of keys and what would be accepted. Lines and suggestions are added later.

use serde::de::{self, Expected, Unexpected};
use std::fmt;

/// A value that serde refuses, and the path of its keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadError {
    /// Keys from the outside in.
    pub(crate) path: Vec<String>,
    pub(crate) kind: ReadErrorKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReadErrorKind {
    /// An unknown key.
    UnknownKey { key: String, known: &'static [&'static str] },
    /// A word that is none of the choices.
    UnknownWord { word: String, known: &'static [&'static str] },
    /// A value of the wrong type, or out of its range.
    WrongValue { found: String, expected: String },
    /// A required key that is absent.
    MissingKey { key: &'static str },
    /// Anything else.
    Other(String),
}

impl ReadError {
    /// Prepends `key` to the path.
    pub(crate) fn below(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }
}

impl From<ReadErrorKind> for ReadError {
    fn from(kind: ReadErrorKind) -> Self {
        Self { path: Vec::new(), kind }
    }
}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ReadErrorKind::Other(message.to_string()).into()
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let mut wanted = plain(&expected.to_string());
        if let Unexpected::Float(value) = found
            && wanted == WHOLE_NUMBER
            && value >= 0.0
            && value.fract() == 0.0
        {
            // TOML distinguishes 10.0 from 10, which may surprise readers.
            wanted = format!("{wanted}, without a decimal point; write {value:.0}");
        }
        ReadErrorKind::WrongValue {
            found: describe(&found),
            expected: wanted,
        }
        .into()
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        ReadErrorKind::WrongValue {
            found: format!("a list of {found}"),
            expected: plain(&expected.to_string()),
        }
        .into()
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        ReadErrorKind::UnknownWord {
            word: word.to_owned(),
            known,
        }
        .into()
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        ReadErrorKind::UnknownKey {
            key: key.to_owned(),
            known,
        }
        .into()
    }

    fn missing_field(key: &'static str) -> Self {
        ReadErrorKind::MissingKey { key }.into()
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.path.join("."), self.kind)
    }
}

impl std::error::Error for ReadError {}

/// The expected value of counts and seeds.
const WHOLE_NUMBER: &str = "a whole number, 0 or more";

/// Describes a value as in TOML.
fn describe(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        // With a decimal point, as in TOML.
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(text) => format!("the string \"{text}\""),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map | Unexpected::NewtypeStruct => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Describes a type for readers, given serde's name for it.
fn plain(expected: &str) -> String {
    match expected {
        "u64" | "u32" | "usize" => WHOLE_NUMBER,
        "f64" | "f32" => "a number",
        "a boolean" => "true or false",
        "a string" | "path string" | "variant identifier" | "string or map" => "a string in quotes",
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        text if text.starts_with("enum ") => "a string in quotes",
        text if text.starts_with("struct ") || text.contains("tagged enum") => "a table",
        text => match text
            .strip_suffix(" elements in sequence")
            .or_else(|| text.strip_prefix("an array of length "))
        {
            Some(length) => return format!("a list of {length}"),
            None => text,
        },
    }
    .to_owned()
}
