//! Ranges of numbers on the command line.

/// The largest size or count in a benchmark. A product of two of them is far from overflowing.
const MOST: usize = 1 << 16;

pub(crate) fn at_least_two(text: &str) -> Result<usize, String> {
    in_range(text, 2, MOST)
}

pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    in_range(text, 1, MOST)
}

/// Number of trials; 0 takes the settings as they are.
pub(crate) fn trials(text: &str) -> Result<usize, String> {
    in_range(text, 0, MOST)
}

/// Difference of a metric.
pub(crate) fn bound(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(bound) if 0.0 < bound && bound < 1.0 => Ok(bound),
        _ => Err("must be a number between 0 and 1".to_owned()),
    }
}

/// Seconds to measure for.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number from 0 to 3600".to_owned()),
    }
}

/// Number of scores or anchors in a simulation.
pub(crate) fn draws(text: &str) -> Result<usize, String> {
    in_range(text, 1, 1_000_000)
}

/// Height and width of planted images.
pub(crate) fn image_side(text: &str) -> Result<usize, String> {
    in_range(text, 16, 256)
}

fn in_range(text: &str, least: usize, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from {least} to {most}")),
    }
}
