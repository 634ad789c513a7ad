//! Measures how far a value is from its reference.

use crate::Gradient;

/// The distance between what was found and what was expected.
///
/// | quantity | absolute | relative |
/// | --- | --- | --- |
/// | a number | `\|found - expected\|` | divided by `\|expected\|` |
/// | several numbers, each on its own scale | the largest | the largest |
/// | a full array | `max \|found - expected\|` | divided by `max \|expected\|` |
/// | the norm of an array | as a number | as a number |
/// | the head of an array | `max \|found - expected\|` | divided by `max \|found\|` over the whole array, whose norm is compared |
/// | the probes of an array | `max \|found - expected\|` | divided by the norm |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The difference.
    pub absolute: f64,
    /// The difference divided by the scale of the table above.
    pub relative: f64,
}

/// Absolute differences up to this size always pass: losses under an active floor go down to 1e-11, which is the precision of
/// the references.
const ABSOLUTE_TOLERANCE: f64 = 1e-12;

impl Deviation {
    /// No difference.
    pub const NONE: Self = Self {
        absolute: 0.0,
        relative: 0.0,
    };

    fn new(absolute: f64, scale: f64) -> Self {
        // NaN counts as infinitely far away, so that no comparison can miss it.
        let certain = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
        let absolute = certain(absolute);
        let relative = if absolute == 0.0 { 0.0 } else { certain(absolute / scale) };
        Self { absolute, relative }
    }

    /// A number.
    pub fn of_number(found: f64, expected: f64) -> Self {
        Self::new((found - expected).abs(), expected.abs())
    }

    /// Several numbers, each on its own scale.
    pub fn of_numbers(found: &[f64], expected: &[f64]) -> Self {
        let pairs = pairs(found, expected);
        pairs
            .map(|(&found, &expected)| Self::of_number(found, expected))
            .fold(Self::NONE, Self::max)
    }

    /// A full array.
    pub fn of_array(found: &[f64], expected: &[f64]) -> Self {
        Self::new(largest_difference(found, expected), largest(expected))
    }

    /// A gradient, in full or summarised.
    pub fn of_gradient(found: &[f64], expected: &Gradient) -> Self {
        let (l2, head, probe) = match expected {
            Gradient::Full(values) => return Self::of_array(found, values),
            Gradient::Summary { l2, head, probe } => (*l2, head, probe),
        };
        let of_head = Self::new(largest_difference(found, head), largest(found));
        let of_probes = Self::new(largest_difference(&probes(found), probe), l2);
        Self::of_number(norm(found), l2).max(of_head).max(of_probes)
    }

    /// The larger of both, absolute and relative.
    pub fn max(self, other: Self) -> Self {
        Self {
            absolute: self.absolute.max(other.absolute),
            relative: self.relative.max(other.relative),
        }
    }

    /// Whether it is within a relative tolerance, or negligible.
    pub fn within(self, relative_tolerance: f64) -> bool {
        self.relative <= relative_tolerance || self.absolute <= ABSOLUTE_TOLERANCE
    }
}

/// Pairs what was found with what was expected, which may be its head only.
fn pairs<'a>(found: &'a [f64], expected: &'a [f64]) -> impl Iterator<Item = (&'a f64, &'a f64)> {
    let [few, many] = [found.len(), expected.len()];
    assert!(few >= many, "{few} values cannot be compared with {many}");
    found.iter().zip(expected)
}

fn largest_difference(found: &[f64], expected: &[f64]) -> f64 {
    let differences = pairs(found, expected).map(|(found, expected)| (found - expected).abs());
    // `f64::max` would drop NaN.
    differences.fold(0.0, |most, next| if next.is_nan() { f64::INFINITY } else { most.max(next) })
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn probes(values: &[f64]) -> [f64; 2] {
    let dot = |wave: fn(f64) -> f64| (1u32..).zip(values).map(|(k, value)| value * wave(f64::from(k))).sum();
    [dot(|k| (0.37 * k).cos()), dot(|k| (0.11 * k + 0.5).sin())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_never_within_tolerance() {
        for found in [f64::NAN, f64::INFINITY] {
            assert!(!Deviation::of_number(found, 1.0).within(1.0));
            assert!(!Deviation::of_array(&[1.0, found, 1.0], &[1.0; 3]).within(1.0));
            assert!(!Deviation::of_numbers(&[found, 1.0], &[1.0; 2]).within(1.0));
        }
    }

    #[test]
    fn an_array_is_measured_by_its_largest_entry() {
        let deviation = Deviation::of_array(&[10.0, 0.2], &[10.0, 0.1]);
        assert!((deviation.relative - 0.01).abs() < 1e-15);
    }

    #[test]
    fn tiny_differences_pass_and_tiny_values_are_still_compared() {
        assert!(Deviation::of_number(0.9e-12, 0.0).within(1e-9));
        assert!(!Deviation::of_number(3e-11, 6e-11).within(1e-9));
    }

    #[test]
    fn a_summary_notices_a_wrong_norm_a_wrong_head_and_a_wrong_tail() {
        let gradient = [0.3, -0.1, 0.2, 0.5, -0.4, 0.25];
        let summary = Gradient::Summary {
            l2: norm(&gradient),
            head: gradient[..4].to_vec(),
            probe: probes(&gradient),
        };
        assert!(Deviation::of_gradient(&gradient, &summary).within(1e-12));
        for index in 0..gradient.len() {
            let mut changed = gradient;
            // A changed sign keeps the norm, so the head or the probes must detect it.
            changed[index] = -changed[index];
            assert!(!Deviation::of_gradient(&changed, &summary).within(1e-2), "entry {index}");
        }
        assert!(!Deviation::of_gradient(&gradient.map(|g| 1.01 * g), &summary).within(5e-3));
    }
}
