//! Helpers for the tests that run the built programs.
