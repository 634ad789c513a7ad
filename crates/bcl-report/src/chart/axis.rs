//! Axes of a chart.

use super::scale::{Kind, Scale};

/// A named axis with a linear or logarithmic scale.
///
/// ```
/// use bcl_report::chart::Axis;
///
/// let num_negatives = Axis::logarithmic("negatives N", 2);
/// let probability = Axis::linear("P(TN|x)").with_range(0.0, 1.0);
/// # let _ = (num_negatives, probability);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    name: String,
    kind: Kind,
    range: Option<(f64, f64)>,
    included: Option<f64>,
}

impl Axis {
    /// A linear axis. The name should include the unit, if there is one; an empty name is not drawn.
    pub fn linear(name: &str) -> Self {
        Self::new(name, Kind::Linear)
    }

    /// A linear axis with ticks at whole numbers only, for example for epochs.
    pub fn counting(name: &str) -> Self {
        Self::new(name, Kind::Whole)
    }

    /// A logarithmic axis. It cannot show values of 0 or below: lines break there, and bands end at the frame.
    ///
    /// # Panics
    /// Panics if `base` is neither 2 nor 10.
    pub fn logarithmic(name: &str, base: u32) -> Self {
        assert!(
            base == 2 || base == 10,
            "the base of a logarithmic axis must be 2 or 10, not {base}"
        );
        Self::new(name, Kind::Logarithmic(base))
    }

    /// Fixes the range of the axis; values beyond it are drawn at its ends.
    ///
    /// Without a fixed range, a horizontal axis spans exactly the values, and a vertical axis adds a margin.
    ///
    /// # Panics
    /// Panics if `low` is not below `high`, or if the axis cannot show one of them.
    pub fn with_range(self, low: f64, high: f64) -> Self {
        let whole = Scale {
            low,
            high,
            kind: self.kind,
        };
        assert!(
            low < high && whole.holds(low) && whole.holds(high),
            "the range of axis {:?} must be ascending and within what the axis can show, not {low} to {high}",
            self.name
        );
        Self {
            range: Some((low, high)),
            ..self
        }
    }

    /// Extends the axis to include `value`, such as 0, even if nothing is drawn there.
    pub fn including(self, value: f64) -> Self {
        let included = Some(value);
        Self { included, ..self }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The scale for `values`; `margin` applies only if the range is not fixed.
    pub(super) fn scale(&self, values: impl IntoIterator<Item = f64>, margin: bool) -> Scale {
        match self.range {
            Some((low, high)) => Scale {
                low,
                high,
                kind: self.kind,
            },
            None => Scale::of(self.kind, values.into_iter().chain(self.included), margin),
        }
    }

    fn new(name: &str, kind: Kind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            range: None,
            included: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_includes_the_given_values() {
        let scale = Axis::linear("density").including(0.0).scale([2.0, 3.0], true);
        assert!(scale.low <= 0.0 && scale.high >= 3.0);
    }

    #[test]
    #[should_panic(expected = "within what the axis can show, not 0 to 1")]
    fn a_logarithmic_axis_does_not_start_at_zero() {
        let _ = Axis::logarithmic("x", 10).with_range(0.0, 1.0);
    }
}
