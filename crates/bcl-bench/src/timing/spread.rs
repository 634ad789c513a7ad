//! Summarises repeated measurements.

use serde::{Deserialize, Serialize};

/// The median of the values, the upper of two middle ones; NaN if there are none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Repeated measurements of the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

impl Spread {
    /// Summarises at least one value.
    pub(crate) fn of(values: &[f64]) -> Self {
        assert!(!values.is_empty(), "nothing was measured");
        Self {
            median: median(values.to_vec()),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(vec![5.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn a_spread_is_the_median_and_both_extremes() {
        let spread = Spread::of(&[3.0, 9.0, 1.0]);
        assert_eq!((spread.median, spread.least, spread.most), (3.0, 1.0, 9.0));
    }
}
