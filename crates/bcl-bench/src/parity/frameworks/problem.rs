//! Why a case or a trace cannot be computed.

/// Why a case or a trace cannot be computed.
#[derive(Debug)]
pub(super) enum Problem {
    /// This library does not have it.
    Unsupported(String),
    /// Something in the file is missing or wrong.
    IllFormed(String),
}

impl Problem {
    pub(super) fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(reason.into())
    }
}

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Self::IllFormed(problem)
    }
}
