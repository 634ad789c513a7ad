//! Why a case or a trace cannot be computed.

use bcl_core::ParameterError;
use bcl_golden::GoldenError;

/// Why a case or a trace cannot be computed.
#[derive(Debug)]
pub(super) enum Problem {
    /// This library does not have it.
    Unsupported(String),
    /// Something in the file is missing or wrong.
    IllFormed(String),
}

pub(super) fn unsupported<T>(reason: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Unsupported(reason.into()))
}

pub(super) fn ill_formed<T>(problem: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::IllFormed(problem.into()))
}

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Self::IllFormed(problem)
    }
}

impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        Self::IllFormed(error.to_string())
    }
}

impl From<GoldenError> for Problem {
    fn from(error: GoldenError) -> Self {
        Self::IllFormed(error.to_string())
    }
}
