//! The keys `name` and `seed`.

use crate::Refusal;

/// Checks the name and the seed of a recipe.
///
/// # Errors
/// Returns an error if the name is not a relative path of plain characters, or the seed is too large for TOML.
pub fn check_header(name: &str, seed: u64) -> Result<(), Refusal> {
    check_name(name)?;
    if seed > i64::MAX as u64 {
        return Err(Refusal::new("seed", format!("is {seed}, but must be at most {}", i64::MAX)));
    }
    Ok(())
}

/// Checks that the name, which becomes a folder of runs, does not lead out of the folder for all runs.
fn check_name(name: &str) -> Result<(), Refusal> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let part_fits = |part: &str| !part.is_empty() && part != "." && part != "..";
    // Folder names may have 255 bytes, and the seed is appended.
    if name.len() > 1000 || name.split('/').any(|part| part.len() > 200) {
        return Err(Refusal::new(
            "name",
            format!(
                "has {} characters, but at most 1000 are allowed, and at most 200 between two `/`",
                name.len()
            ),
        ));
    }
    if name.chars().all(allowed) && name.split('/').all(part_fits) {
        return Ok(());
    }
    Err(Refusal::new(
        "name",
        format!(
            "is \"{name}\", but must be a relative path of letters, digits, `-`, `_` and `.`, such as \"ml-100k/mf-bayesian\""
        ),
    ))
}
