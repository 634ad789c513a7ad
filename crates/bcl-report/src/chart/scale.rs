//! Maps values to positions on an axis, with round ticks.

use super::ticks;

/// The range of an axis and how values map to positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) kind: Kind,
}

/// How values map to positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Linear.
    Linear,
    /// Linear, with ticks at whole numbers only.
    Whole,
    /// Logarithmic, with ticks at powers of the base.
    Logarithmic(u32),
}

/// Margin beyond the outermost values, as a fraction of their span.
const MARGIN: f64 = 0.06;

impl Scale {
    /// A linear scale from exactly `low` to `high`.
    pub(super) fn between(low: f64, high: f64) -> Self {
        let kind = Kind::Linear;
        Self { low, high, kind }
    }

    /// A linear scale that covers the finite `values` with a margin; 0 to 1 if there are none.
    pub(super) fn around(values: impl IntoIterator<Item = f64>) -> Self {
        Self::of(Kind::Linear, values, true)
    }

    /// A scale from the smallest to the largest of whole `values`, such as epochs.
    pub(super) fn counting(values: impl IntoIterator<Item = f64>) -> Self {
        Self::of(Kind::Whole, values, false)
    }

    /// A scale with one column per whole value from `first` to `last`, each centred on its value.
    pub(super) fn columns(first: f64, last: f64) -> Self {
        Self {
            low: first - 0.5,
            high: last + 0.5,
            kind: Kind::Whole,
        }
    }

    /// A scale that covers those `values` it can show, with or without a margin.
    pub(super) fn of(kind: Kind, values: impl IntoIterator<Item = f64>, margin: bool) -> Self {
        let places = values
            .into_iter()
            .filter(|value| kind.holds(*value))
            .map(|value| kind.place(value));
        let Some((low, high)) = extent(places) else {
            // No values: use 0 to 1, or 1 to 10 on a logarithmic scale.
            let (low, high) = (f64::from(u8::from(matches!(kind, Kind::Logarithmic(_)))), 1.0);
            return Self {
                low,
                high: high + 9.0 * low,
                kind,
            };
        };
        // A constant series gets a range in proportion to its value, because its own span is 0.
        let least = match kind {
            Kind::Logarithmic(_) => 0.5,
            _ => (0.02 * high.abs().max(low.abs())).max(1e-6),
        };
        let (low, high) = if margin {
            let middle = f64::midpoint(low, high);
            let half = (high - low).max(least) * (0.5 + MARGIN);
            (middle - half, middle + half)
        } else if low < high {
            (low, high)
        } else {
            (low - 0.5, high + 0.5)
        };
        Self {
            low: kind.value(low),
            high: kind.value(high),
            kind,
        }
    }

    /// Returns whether an axis of this kind can show `value`: it must be finite, and positive if the axis is logarithmic.
    pub(super) fn holds(&self, value: f64) -> bool {
        self.kind.holds(value)
    }

    /// Position of `value` as a fraction of the axis; below 0 or above 1 if it is beyond the ends.
    pub(super) fn share_beyond(&self, value: f64) -> f64 {
        let place = |value| self.kind.place(value);
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }

    /// Position of `value` as a fraction of the axis, clamped to its ends.
    pub(super) fn share(&self, value: f64) -> f64 {
        // The logarithm of a value that is not positive is NaN or -inf: the lower end.
        let share = self.share_beyond(value);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// About `target` round values within the range, with their labels.
    pub(super) fn ticks(&self, target: usize) -> Vec<(f64, String)> {
        match self.kind {
            Kind::Linear => ticks::linear(self.low, self.high, target, false),
            Kind::Whole => ticks::linear(self.low, self.high, target, true),
            Kind::Logarithmic(base) => ticks::logarithmic(self.low, self.high, target, base),
        }
    }
}

impl Kind {
    fn holds(self, value: f64) -> bool {
        value.is_finite() && (!matches!(self, Self::Logarithmic(_)) || value > 0.0)
    }

    fn place(self, value: f64) -> f64 {
        if matches!(self, Self::Logarithmic(_)) {
            value.ln()
        } else {
            value
        }
    }

    fn value(self, place: f64) -> f64 {
        if matches!(self, Self::Logarithmic(_)) {
            place.exp()
        } else {
            place
        }
    }
}

/// Smallest and largest finite value.
fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn non_finite_values_do_not_stretch_the_axis() {
        let scale = Scale::around([1.0, f64::NAN, 2.0, f64::INFINITY]);
        assert!(scale.low > 0.9 && scale.high < 2.1);
        assert_eq!(Scale::around([f64::NAN]), Scale::between(0.0, 1.0));
    }

    #[test]
    fn equal_ratios_are_equal_distances_on_a_logarithmic_axis() {
        let scale = Scale::of(Kind::Logarithmic(10), [0.01, -5.0, 0.0, 100.0], false);
        assert!((scale.low - 0.01).abs() < 1e-12 && (scale.high - 100.0).abs() < 1e-9);
        for (value, share) in [(0.01, 0.0), (0.1, 0.25), (1.0, 0.5), (10.0, 0.75), (0.0, 0.0), (-1.0, 0.0)] {
            assert!((scale.share(value) - share).abs() < 1e-9, "{value}");
        }
        assert!(scale.holds(1e-9) && !scale.holds(0.0) && !scale.holds(-1.0));
    }

    proptest! {
        #[test]
        fn any_range_has_a_few_ticks_within_it(low in -1e6_f64..1e6, span in 1e-6_f64..1e6, target in 3_usize..7) {
            let scale = Scale::around([low, low + span]);
            let ticks = scale.ticks(target);
            prop_assert!((1..=3 * target).contains(&ticks.len()), "{:?}: {} ticks", scale, ticks.len());
            for (value, _) in ticks {
                let slack = 1e-6 * (scale.high - scale.low);
                prop_assert!(value >= scale.low - slack && value <= scale.high + slack);
            }
        }

        #[test]
        fn any_logarithmic_range_has_a_few_ticks_within_it(
            low in -12_f64..12.0, span in 0.0_f64..20.0, target in 3_usize..9, base in prop_oneof![Just(2), Just(10)]
        ) {
            let values = [low, low + span].map(|power| 10_f64.powf(power));
            let scale = Scale::of(Kind::Logarithmic(base), values, true);
            let ticks = scale.ticks(target);
            prop_assert!((2..=3 * target).contains(&ticks.len()), "{:?}: {} ticks", scale, ticks.len());
            for (value, _) in ticks {
                prop_assert!((-1e-6..1.0 + 1e-6).contains(&scale.share_beyond(value)));
            }
        }

        #[test]
        fn a_flat_line_is_centred(value in -1e6_f64..1e6) {
            prop_assert!((Scale::around([value, value]).share(value) - 0.5).abs() < 1e-3);
        }
    }
}
