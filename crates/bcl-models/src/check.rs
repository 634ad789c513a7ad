//! Checks of configurations.

/// An error that names the parameter, unless it is from 1 to `most`.
pub(crate) fn count_in(name: &str, value: usize, most: usize) -> Result<(), String> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("{name} is {value}, but must be in [1, {most}]"))
}

/// Panics with the error of a check, for callers that should have checked.
pub(crate) fn panic_if_bad(check: Result<(), String>) {
    if let Err(message) = check {
        panic!("{message}");
    }
}
