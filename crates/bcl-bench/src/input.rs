//! Ranges of the command line's numbers.

/// The largest size or count of a benchmark: products of two of them are far from overflowing.
const MOST: usize = 1 << 16;

pub(crate) fn at_least_two(text: &str) -> Result<usize, String> {
    in_range(text, 2, MOST)
}

pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    in_range(text, 1, MOST)
}

/// Trials; without any, settings are taken as they are.
pub(crate) fn trials(text: &str) -> Result<usize, String> {
    in_range(text, 0, MOST)
}

/// Scores and anchors of a simulation.
pub(crate) fn draws(text: &str) -> Result<usize, String> {
    in_range(text, 1, 1_000_000)
}

/// The sides that planted images may have.
pub(crate) fn image_side(text: &str) -> Result<usize, String> {
    in_range(text, 16, 256)
}

fn in_range(text: &str, least: usize, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from {least} to {most}")),
    }
}
