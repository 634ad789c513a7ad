//! Means over seeds with confidence intervals.

use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_2_PI;

/// Confidence level: the probability that an interval covers the true mean if results of seeds are normally distributed.
pub const CONFIDENCE: f64 = 0.95;

/// A mean over seeds with its 95 % confidence interval `mean ± half_width` (Student's t).
///
/// ```text
/// half_width = t(0.975, n - 1) · s / √n,   s² = Σ (x - mean)² / (n - 1)
/// ```
///
/// ```
/// use bcl_report::Interval;
///
/// let interval = Interval::of(&[0.44, 0.45, 0.46]).unwrap();
/// assert_eq!(interval.to_string(), "0.4500 ± 0.0248");
/// assert_eq!(Interval::of(&[0.44]).unwrap().to_string(), "0.4400");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval; `None` for a single value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_width: Option<f64>,
    /// Number of values.
    pub count: usize,
}

impl Interval {
    /// Computes mean and interval of `values`; `None` if `values` is empty.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let half_width = (count > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let variance = squares / (count - 1) as f64;
            t_bound(CONFIDENCE, count - 1) * (variance / count as f64).sqrt()
        });
        Some(Self { mean, half_width, count })
    }

    /// Lower and upper end of the interval; `None` for a single value.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let half_width = self.half_width?;
        Some((self.mean - half_width, self.mean + half_width))
    }

    /// Two-sided p-value of a one-sample t-test against a mean of zero; `None` for a single value.
    ///
    /// ```
    /// use bcl_report::Interval;
    ///
    /// // t = 2 / (1 / √3) = 3.46 at two degrees of freedom.
    /// let p = Interval::of(&[1.0, 2.0, 3.0]).unwrap().p_value().unwrap();
    /// assert!((p - 0.0742).abs() < 1e-4);
    /// ```
    pub fn p_value(&self) -> Option<f64> {
        Some(t_test(self.mean, self.standard_error()?, self.count - 1))
    }

    /// The standard error of the mean; `None` for a single value.
    pub fn standard_error(&self) -> Option<f64> {
        Some(self.half_width? / t_bound(CONFIDENCE, self.count - 1))
    }

    /// The text of a table cell, with `decimals` digits after the point, and a plus sign if `signed`.
    pub(super) fn text(&self, decimals: usize, signed: bool) -> String {
        let mean = if signed {
            format!("{:+.decimals$}", self.mean)
        } else {
            format!("{:.decimals$}", self.mean)
        };
        match self.half_width {
            Some(half_width) => format!("{mean} ± {half_width:.decimals$}"),
            None => mean,
        }
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text(4, false))
    }
}

/// Two-sided p-value of a t-test of `mean` against zero.
///
/// ```
/// use bcl_report::t_test;
///
/// // t = 2.776 at four degrees of freedom is the 5 % level of any printed table.
/// assert!((t_test(2.776, 1.0, 4) - 0.05).abs() < 1e-4);
/// ```
pub fn t_test(mean: f64, standard_error: f64, degrees_of_freedom: usize) -> f64 {
    if mean == 0.0 {
        return 1.0;
    }
    // Equal non-zero values have a standard error of 0, so t is infinite.
    // Rounding can leave less than nothing in the tails.
    (1.0 - central_probability(mean.abs() / standard_error, degrees_of_freedom)).max(0.0)
}

/// The t with P(|T| < t) = `probability` for Student's T.
///
/// ```
/// use bcl_report::t_bound;
///
/// // Half of all values lie within 0.703 at nine degrees of freedom.
/// assert!((t_bound(0.5, 9) - 0.7027).abs() < 1e-4);
/// ```
///
/// # Panics
/// Panics if `probability` is not in [0, 1), or without a degree of freedom.
pub fn t_bound(probability: f64, degrees_of_freedom: usize) -> f64 {
    assert!(
        (0.0..1.0).contains(&probability) && degrees_of_freedom > 0,
        "there is no t for a probability of {probability} with {degrees_of_freedom} degrees of freedom"
    );
    // Bisection.
    let (mut low, mut high) = (0.0, 1.0);
    while central_probability(high, degrees_of_freedom) < probability {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if central_probability(middle, degrees_of_freedom) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// P(|T| < t) for Student's T, by the finite series in θ = atan(t / √ν) (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn central_probability(t: f64, degrees_of_freedom: usize) -> f64 {
    let theta = (t / (degrees_of_freedom as f64).sqrt()).atan();
    let cos_squared = theta.cos().powi(2);
    let odd = degrees_of_freedom % 2 == 1;
    let mut term = if odd { theta.cos() } else { 1.0 };
    let mut series = 0.0;
    for index in (if odd { 3 } else { 2 }..=degrees_of_freedom).step_by(2) {
        series += term;
        term *= cos_squared * (index - 1) as f64 / index as f64;
    }
    if odd {
        FRAC_2_PI * (theta + theta.sin() * series)
    } else {
        theta.sin() * series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_bounds_equal_the_printed_tables() {
        // Two-sided 95 % column of any table of Student's t.
        let printed = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (30, 2.042),
            (120, 1.980),
            (100_000, 1.960),
        ];
        for (degrees_of_freedom, expected) in printed {
            let found = t_bound(CONFIDENCE, degrees_of_freedom);
            assert!(
                (found - expected).abs() < 5e-4,
                "{degrees_of_freedom}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn t_bounds_of_other_levels_equal_the_printed_tables() {
        // Two-sided columns of 60 %, 99 % and 99.9 %.
        for (probability, degrees_of_freedom, expected) in [(0.6, 4, 0.941), (0.99, 1, 63.657), (0.999, 9, 4.781)] {
            let found = t_bound(probability, degrees_of_freedom);
            assert!(
                (found - expected).abs() < 5e-4,
                "{probability}, {degrees_of_freedom}: {found}"
            );
        }
        assert!(t_bound(0.0, 3) < 1e-12);
    }

    #[test]
    fn the_interval_of_one_two_three_is_computed_by_hand() {
        let interval = Interval::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((interval.mean, interval.count), (2.0, 3));
        let half_width = interval.half_width.unwrap();
        assert!((half_width - 4.302_652_73 / 3.0_f64.sqrt()).abs() < 1e-7);
        assert_eq!(interval.bounds(), Some((2.0 - half_width, 2.0 + half_width)));
    }

    #[test]
    fn a_single_value_has_no_interval_and_no_value_no_mean() {
        assert_eq!(Interval::of(&[0.3]).unwrap().half_width, None);
        assert_eq!(Interval::of(&[]), None);
    }

    #[test]
    fn p_values_match_the_interval_and_have_limits() {
        // An interval that ends at zero has p = 1 - CONFIDENCE.
        let values = [1.0, 2.0, 3.0, 4.0];
        let half_width = Interval::of(&values).unwrap().half_width.unwrap();
        let shifted = Interval::of(&values.map(|value| value - 2.5 + half_width)).unwrap();
        assert!((shifted.p_value().unwrap() - 0.05).abs() < 1e-6);
        assert_eq!(Interval::of(&[-1.0, 1.0]).unwrap().p_value(), Some(1.0));
        assert!(Interval::of(&[0.5, 0.5]).unwrap().p_value().unwrap() < 1e-9);
        assert_eq!(Interval::of(&[0.5]).unwrap().p_value(), None);
    }

    #[test]
    fn differences_show_their_sign() {
        assert_eq!(Interval::of(&[0.01]).unwrap().text(4, true), "+0.0100");
        assert_eq!(Interval::of(&[-0.01, -0.01]).unwrap().text(3, true), "-0.010 ± 0.000");
    }
}
