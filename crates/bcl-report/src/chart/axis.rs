//! What an axis measures, and how.

use super::scale::{Kind, Scale};

/// A named axis.
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
    /// Equal differences are equal distances. The name says the unit where there is one; an empty one is not written.
    pub fn linear(name: &str) -> Self {
        Self::new(name, Kind::Linear)
    }

    /// A linear axis with ticks on whole numbers only, such as epochs.
    pub fn counting(name: &str) -> Self {
        Self::new(name, Kind::Whole)
    }

    /// Equal ratios are equal distances. Values of 0 and below have no place on it: lines break there, bands end at the frame.
    ///
    /// # Panics
    /// When `base` is neither 2 nor 10.
    pub fn logarithmic(name: &str, base: u32) -> Self {
        assert!(
            base == 2 || base == 10,
            "the base of a logarithmic axis must be 2 or 10, not {base}"
        );
        Self::new(name, Kind::Logarithmic(base))
    }

    /// Exactly from `low` to `high`, whatever is drawn; what lies beyond is drawn at the end. Without a range the horizontal axis
    /// goes from the first to the last value, and the vertical one a little beyond the least and the greatest.
    ///
    /// # Panics
    /// When there is nothing between `low` and `high`, or one of them has no place on the axis.
    pub fn with_range(self, low: f64, high: f64) -> Self {
        let whole = Scale {
            low,
            high,
            kind: self.kind,
        };
        assert!(
            low < high && whole.holds(low) && whole.holds(high),
            "the range of axis {:?} must ascend on it, not be {low} to {high}",
            self.name
        );
        Self {
            range: Some((low, high)),
            ..self
        }
    }

    /// With a place for `value`, such as the 0 that heights are compared from, even where nothing is drawn there.
    pub fn including(self, value: f64) -> Self {
        let included = Some(value);
        Self { included, ..self }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The scale for `values`, with a margin where it is of the axis' own choosing.
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
    fn an_axis_reaches_what_it_includes() {
        let scale = Axis::linear("density").including(0.0).scale([2.0, 3.0], true);
        assert!(scale.low <= 0.0 && scale.high >= 3.0);
    }

    #[test]
    #[should_panic(expected = "must ascend on it, not be 0 to 1")]
    fn a_logarithmic_axis_does_not_begin_at_nothing() {
        let _ = Axis::logarithmic("x", 10).with_range(0.0, 1.0);
    }
}
