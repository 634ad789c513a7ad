//! Values that a recipe refuses.

use std::fmt;

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
    /// Refuses the value of a key, in full; `problem` ends a sentence that begins with the key.
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// Refuses the value of a key by a message that begins with the key in full: "views.flip is 1.5, but must be in [0, 1]".
    pub fn of_text(message: &str) -> Self {
        let (key, problem) = message.split_once(' ').unwrap_or((message, ""));
        Self::new(key, problem)
    }

    /// Refuses the value of a key of a table by an error that begins with the key: "width is 0, but must be at least 1".
    pub fn of_parameter(table: &str, error: &impl fmt::Display) -> Self {
        Self::of_text(&format!("{table}.{error}"))
    }
}
