//! From values to places on an axis, with round ticks.

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Ticks fall on whole numbers only.
    whole: bool,
}

impl Scale {
    /// Exactly from `low` to `high`.
    pub(super) fn between(low: f64, high: f64) -> Self {
        Self { low, high, whole: false }
    }

    /// Around the finite ones of `values`, with a margin; around 0 to 1 where there are none.
    pub(super) fn around(values: impl IntoIterator<Item = f64>) -> Self {
        const MARGIN: f64 = 0.06;
        let Some((low, high)) = extent(values) else {
            return Self::between(0.0, 1.0);
        };
        // A flat line gets room in proportion to its height, or none would be left to see it in.
        let span = (high - low).max(0.02 * high.abs().max(low.abs())).max(1e-6);
        let middle = f64::midpoint(low, high);
        let half = span * (0.5 + MARGIN);
        Self::between(middle - half, middle + half)
    }

    /// From the first to the last of whole `values`, such as epochs.
    pub(super) fn counting(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        let (low, high) = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
        Self { low, high, whole: true }
    }

    /// From the first to the last of whole values, each in the middle of a column of its own.
    pub(super) fn columns(first: f64, last: f64) -> Self {
        Self {
            low: first - 0.5,
            high: last + 0.5,
            whole: true,
        }
    }

    /// Place of `value` as a share of the axis, held within it.
    pub(super) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// About `target` round values within the range, and their labels.
    pub(super) fn ticks(&self, target: usize) -> Vec<(f64, String)> {
        let step = self.step(target);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|index| {
                let value = index as f64 * step;
                (value, format!("{value:.decimals$}"))
            })
            .collect()
    }

    /// The largest of 1, 2, 5 times a power of ten that gives at least `target` steps, or the next larger one if that is closer.
    fn step(&self, target: usize) -> f64 {
        let rough = (self.high - self.low) / target as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = power
            * match rough / power {
                mantissa if mantissa < 1.5 => 1.0,
                mantissa if mantissa < 3.5 => 2.0,
                mantissa if mantissa < 7.5 => 5.0,
                _ => 10.0,
            };
        if self.whole { step.max(1.0) } else { step }
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

    fn labels(scale: Scale, target: usize) -> Vec<String> {
        scale.ticks(target).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_with_the_digits_they_need() {
        assert_eq!(
            labels(Scale::between(0.0, 1.0), 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels(Scale::between(0.41, 0.452), 4),
            ["0.41", "0.42", "0.43", "0.44", "0.45"]
        );
        assert_eq!(labels(Scale::between(-3.0, 12.0), 3), ["0", "5", "10"]);
        assert_eq!(labels(Scale::between(0.0, 0.003), 3), ["0.000", "0.001", "0.002", "0.003"]);
    }

    #[test]
    fn epochs_have_no_fractions() {
        assert_eq!(labels(Scale::counting([1.0, 3.0]), 5), ["1", "2", "3"]);
        assert_eq!(labels(Scale::counting([1.0]), 5), ["1"]);
        assert_eq!(labels(Scale::counting([1.0, 60.0]), 5), ["10", "20", "30", "40", "50", "60"]);
    }

    #[test]
    fn what_is_not_finite_does_not_stretch_the_axis() {
        let scale = Scale::around([1.0, f64::NAN, 2.0, f64::INFINITY]);
        assert!(scale.low > 0.9 && scale.high < 2.1);
        assert_eq!(Scale::around([f64::NAN]), Scale::between(0.0, 1.0));
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
        fn a_flat_line_lies_in_the_middle(value in -1e6_f64..1e6) {
            prop_assert!((Scale::around([value, value]).share(value) - 0.5).abs() < 1e-3);
        }
    }
}
