//! Tick positions at round values, and their labels.

/// A value and its label.
pub(super) type Tick = (f64, String);

/// Labels with more digits before or after the point are written as a power.
const MOST_DIGITS: i32 = 5;

/// About `target` equally spaced round values from `low` to `high`.
pub(super) fn linear(low: f64, high: f64, target: usize, whole: bool) -> Vec<Tick> {
    let step = step(high - low, target);
    let step = if whole { step.max(1.0) } else { step };
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let tick = |index| {
        let value = index as f64 * step;
        (value, format!("{value:.decimals$}"))
    };
    (first..=last).map(tick).collect()
}

/// The value of the form 1, 2 or 5 times a power of ten that gives closest to `target` steps.
fn step(span: f64, target: usize) -> f64 {
    let rough = span / target as f64;
    let power = 10_f64.powf(rough.log10().floor());
    power
        * match rough / power {
            mantissa if mantissa < 1.5 => 1.0,
            mantissa if mantissa < 3.5 => 2.0,
            mantissa if mantissa < 7.5 => 5.0,
            _ => 10.0,
        }
}

/// About `target` powers of `base` from `low` to `high`, with a fixed stride. A range with few powers gets 1, 2 and 5 times powers of
/// ten; if even those are few, equally spaced values.
pub(super) fn logarithmic(low: f64, high: f64, target: usize, base: u32) -> Vec<Tick> {
    let base = f64::from(base);
    let power = |value: f64, slack: f64| value.ln() / base.ln() + slack;
    let (first, last) = (power(low, -1e-9).ceil() as i32, power(high, 1e-9).floor() as i32);
    let count = (last - first + 1).max(0) as usize;
    if count > 2 {
        let stride = count.div_ceil(target + target / 2) as i32;
        // The stride starts at exponent 0, so that neighbouring charts have the same ticks.
        let shown = (first..=last).filter(|exponent| exponent % stride == 0);
        return shown.map(|exponent| (base.powi(exponent), label(base, exponent))).collect();
    }
    let between = between_powers(low, high);
    if between.len() > 2 {
        between
    } else {
        linear(low, high, target, false)
    }
}

/// 1, 2 and 5 times powers of ten.
fn between_powers(low: f64, high: f64) -> Vec<Tick> {
    let exponents = low.log10().floor() as i32..=high.log10().floor() as i32;
    let all = exponents.flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| (digit * 10_f64.powi(exponent), digit, exponent)));
    let within = all.filter(|(value, ..)| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value));
    let tick = |(value, digit, exponent): (f64, f64, i32)| {
        let text = if exponent.abs() < MOST_DIGITS {
            value.to_string()
        } else {
            format!("{digit}·{}", raised(10.0, exponent))
        };
        (value, shortened(text, value))
    };
    within.map(tick).collect()
}

/// The plain number if it is short, otherwise a power.
fn label(base: f64, exponent: i32) -> String {
    let value = base.powi(exponent);
    if value.log10().abs() >= f64::from(MOST_DIGITS) {
        raised(base, exponent)
    } else if value < 1.0 && base == 2.0 {
        format!("1/{}", 1.0 / value)
    } else {
        shortened(value.to_string(), value)
    }
}

/// Removes rounding errors: `0.30000000000000004` becomes `0.3`.
fn shortened(text: String, value: f64) -> String {
    if text.len() <= 8 || !text.contains('.') {
        return text;
    }
    format!("{value:.6}").trim_end_matches('0').to_owned()
}

/// A power with a superscript exponent, such as `10⁻³`.
fn raised(base: f64, exponent: i32) -> String {
    let digit = |char| match char {
        '-' => '⁻',
        char => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][char.to_digit(10).unwrap_or_default() as usize],
    };
    let exponent: String = exponent.to_string().chars().map(digit).collect();
    format!("{base}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<Tick>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_with_the_digits_they_need() {
        let labels = |low, high, target| labels(linear(low, high, target, false));
        assert_eq!(labels(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.41, 0.452, 4), ["0.41", "0.42", "0.43", "0.44", "0.45"]);
        assert_eq!(labels(-3.0, 12.0, 3), ["0", "5", "10"]);
        assert_eq!(labels(0.0, 0.003, 3), ["0.000", "0.001", "0.002", "0.003"]);
    }

    #[test]
    fn epochs_have_no_fractions() {
        let labels = |low, high| labels(linear(low, high, 5, true));
        assert_eq!(labels(1.0, 3.0), ["1", "2", "3"]);
        assert_eq!(labels(0.5, 1.5), ["1"]);
        assert_eq!(labels(1.0, 60.0), ["10", "20", "30", "40", "50", "60"]);
    }

    #[test]
    fn powers_are_written_as_people_write_them() {
        let labels = |low, high, target, base| labels(logarithmic(low, high, target, base));
        assert_eq!(labels(16.0, 512.0, 5, 2), ["16", "32", "64", "128", "256", "512"]);
        assert_eq!(labels(0.2, 4.1, 5, 2), ["1/4", "1/2", "1", "2", "4"]);
        assert_eq!(labels(0.05, 200.0, 4, 10), ["0.1", "1", "10", "100"]);
        assert_eq!(labels(1e-9, 1e3, 4, 10), ["10⁻⁹", "10⁻⁶", "0.001", "1", "1000"]);
    }

    #[test]
    fn a_range_of_few_powers_has_ticks_in_between() {
        let labels = |low, high, base| labels(logarithmic(low, high, 4, base));
        assert_eq!(labels(20.0, 300.0, 10), ["20", "50", "100", "200"]);
        assert_eq!(labels(0.003, 0.02, 10), ["0.005", "0.01", "0.02"]);
        assert_eq!(labels(240.0, 290.0, 10), ["240", "250", "260", "270", "280", "290"]);
    }
}
