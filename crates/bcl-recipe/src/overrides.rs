//! Values of `--set` and other flags, which override a recipe's values.

use crate::RecipeError;
use std::str::FromStr;
use toml::Value;

/// Maximum number of parts of a key, more than any key has.
const DEEPEST: usize = 16;

/// A key and the value that a flag gives it.
///
/// ```
/// use bcl_recipe::Override;
///
/// let change: Override = "loss.beta=0.8".parse().unwrap();
/// assert_eq!(change.value(), &toml::Value::Float(0.8));
///
/// // A value that is not TOML is a string, so words need no quotes.
/// let change: Override = "encoder.kind=light_gcn".parse().unwrap();
/// assert_eq!(change.value().as_str(), Some("light_gcn"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    pub(crate) path: Vec<String>,
    pub(crate) value: Value,
    pub(crate) flag: String,
}

impl Override {
    /// Creates an override for a flag other than `--set`: `Override::new("seed", 3, "--seed 3")`.
    ///
    /// # Panics
    /// Panics if `key` is empty.
    pub fn new(key: &str, value: impl Into<Value>, flag: impl Into<String>) -> Self {
        assert!(!key.is_empty(), "key must not be empty");
        Self {
            path: key.split('.').map(str::to_owned).collect(),
            value: value.into(),
            flag: flag.into(),
        }
    }

    /// The key, in full.
    pub fn key(&self) -> String {
        self.path.join(".")
    }

    /// The new value.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl FromStr for Override {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, RecipeError> {
        let refuse = |problem| RecipeError::BadOverride {
            text: text.to_owned(),
            problem,
        };
        let (key, value) = text.split_once('=').ok_or_else(|| refuse("has no `=`"))?;
        let (key, value) = (key.trim(), value.trim());
        if key.split('.').any(|part| part.trim().is_empty()) {
            return Err(refuse("has an empty key"));
        }
        if key.split('.').count() > DEEPEST {
            return Err(refuse("has a key of too many parts"));
        }
        if value.is_empty() {
            return Err(refuse("has no value"));
        }
        // A value that begins like a TOML string, array or table must parse; anything else is a bare word.
        let parsed = format!("value = {value}").parse::<toml::Table>().ok();
        let value = match parsed.and_then(|mut table| table.remove("value").filter(|_| table.is_empty())) {
            Some(value) => value,
            None if value.starts_with(['"', '\'', '[', '{']) => return Err(refuse("has a value that is not TOML")),
            None => Value::String(value.to_owned()),
        };
        Ok(Self::new(key, value, format!("--set {text}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        text.parse::<Override>().unwrap().value
    }

    #[test]
    fn values_are_toml_and_bare_words_are_strings() {
        assert_eq!(value("a=3"), Value::Integer(3));
        assert_eq!(value("a = 1e-3"), Value::Float(1e-3));
        assert_eq!(value("a=true"), Value::Boolean(true));
        assert_eq!(value("a='x y'"), Value::String("x y".into()));
        assert_eq!(value("a=[5, 10]").as_array().unwrap().len(), 2);
        assert_eq!(value("a={kind='x'}")["kind"].as_str(), Some("x"));
        assert_eq!(value("a=light_gcn"), Value::String("light_gcn".into()));
        assert_eq!(value("a=../data/x.csv"), Value::String("../data/x.csv".into()));
        assert_eq!(value("a=b=c"), Value::String("b=c".into()));
    }

    #[test]
    fn malformed_overrides_are_refused() {
        for text in [
            "loss.beta",
            "=3",
            "loss.=3",
            ".beta=3",
            "loss.beta=",
            "a=[1, 2",
            "a='x",
            "a={kind=}",
            "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1",
        ] {
            let error = text.parse::<Override>().unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
