//! The parameters of a case or a trace.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::ops::Deref;

/// Parameters by name. The functions that expect a type return a problem that names the parameter, for an error.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Parameters(Map<String, Value>);

impl Deref for Parameters {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl Parameters {
    /// A number.
    ///
    /// # Errors
    /// Returns a problem if it is missing or something else.
    pub fn number(&self, name: &str) -> Result<f64, String> {
        self.expect(name, "a number", Value::as_f64)
    }

    /// A whole number that is not negative.
    ///
    /// # Errors
    /// Returns a problem if it is missing or something else.
    pub fn count(&self, name: &str) -> Result<usize, String> {
        self.expect(name, "a whole number", |value| value.as_u64()?.try_into().ok())
    }

    /// A text.
    ///
    /// # Errors
    /// Returns a problem if it is missing or something else.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        self.expect(name, "a text", Value::as_str)
    }

    /// A switch.
    ///
    /// # Errors
    /// Returns a problem if it is missing or something else.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        self.expect(name, "true or false", Value::as_bool)
    }

    fn expect<'a, T>(&'a self, name: &str, kind: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Result<T, String> {
        let value = self.0.get(name).and_then(read);
        value.ok_or_else(|| format!("its parameter `{name}` must be {kind}"))
    }
}
