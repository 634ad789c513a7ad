//! Ranges of the command line's numbers.

pub(crate) fn at_least_two(text: &str) -> Result<usize, String> {
    in_range(text, 2, usize::MAX)
}

pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    in_range(text, 1, usize::MAX)
}

/// The sides that planted images may have.
pub(crate) fn image_side(text: &str) -> Result<usize, String> {
    in_range(text, 16, 256)
}

fn in_range(text: &str, least: usize, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ if most == usize::MAX => Err(format!("must be a whole number of at least {least}")),
        _ => Err(format!("must be a whole number from {least} to {most}")),
    }
}
