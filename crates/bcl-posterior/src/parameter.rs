//! Range checks of parameters, with an error that names the parameter, its value and the range.

/// A parameter outside its range.
///
/// ```
/// use bcl_posterior::parameter::in_closed;
///
/// let error = in_closed("beta", 1.2, 0.0, 1.0).unwrap_err();
/// assert_eq!(error.to_string(), "beta is 1.2, but must be in [0, 1]");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[error("{name} is {}, but must {requirement}", shown(*value))]
pub struct ParameterError {
    /// Name of the parameter in code and in recipes.
    pub name: &'static str,
    /// The refused value.
    pub value: f64,
    /// The requirement, to be read after "must": "be in [0, 1]".
    pub requirement: String,
}

impl ParameterError {
    /// Creates an error that reads "`name` is `value`, but must `requirement`".
    pub fn new(name: &'static str, value: f64, requirement: impl Into<String>) -> Self {
        Self {
            name,
            value,
            requirement: requirement.into(),
        }
    }

    /// The same error for the parameter `name`, such as one of several temperatures.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

/// The largest number of epochs and of steps of a schedule: more than any machine trains in a year.
pub const MOST_EPOCHS: usize = 1_000_000;

/// Formats a number for an error message: very large and very small ones with an exponent instead of hundreds of digits.
///
/// ```
/// use bcl_posterior::parameter::shown;
///
/// assert_eq!([0.25, 3.0, 1e308, 1e-9].map(shown), ["0.25", "3", "1e308", "1e-9"]);
/// ```
pub fn shown(value: f64) -> String {
    let magnitude = value.abs();
    if value.is_finite() && value != 0.0 && !(1e-4..1e15).contains(&magnitude) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Checks the temperature of a loss or of a vote. Scores are divided by it in 32 bits and must stay finite.
///
/// # Errors
/// Returns an error if the value is outside [1e-6, 1e6] or NaN.
pub fn temperature(value: f64) -> Result<(), ParameterError> {
    in_closed("temperature", value, 1e-6, 1e6)
}

/// Checks `low <= value <= high`.
///
/// # Errors
/// Returns an error if the value is outside the interval or NaN.
pub fn in_closed(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParameterError> {
    accept((low..=high).contains(&value), name, value, || {
        format!("be in [{}, {}]", shown(low), shown(high))
    })
}

/// Checks `low <= value < high`.
///
/// # Errors
/// Returns an error if the value is outside the interval or NaN.
pub fn in_half_open(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParameterError> {
    accept((low..high).contains(&value), name, value, || {
        format!("be in [{}, {})", shown(low), shown(high))
    })
}

/// Checks `low < value <= high`.
///
/// # Errors
/// Returns an error if the value is outside the interval or NaN.
pub fn in_left_open(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParameterError> {
    accept(value > low && value <= high, name, value, || {
        format!("be in ({}, {}]", shown(low), shown(high))
    })
}

/// Checks that the value is finite and at least `low`.
///
/// # Errors
/// Returns an error if the value is below `low`, infinite or NaN.
pub fn not_below(name: &'static str, value: f64, low: f64) -> Result<(), ParameterError> {
    accept(value.is_finite() && value >= low, name, value, || {
        format!("be a finite number of at least {low}")
    })
}

/// Checks that a count is at least `low`.
///
/// # Errors
/// Returns an error if it is below `low`.
pub fn at_least(name: &'static str, value: usize, low: usize) -> Result<(), ParameterError> {
    accept(value >= low, name, value as f64, || format!("be at least {low}"))
}

/// Checks that a count is between two others, both included.
///
/// # Errors
/// Returns an error if it is below `low` or above `high`.
///
/// ```
/// use bcl_posterior::parameter::count_in;
///
/// let error = count_in("dim", 0, 1, 65_536).unwrap_err();
/// assert_eq!(error.to_string(), "dim is 0, but must be in [1, 65536]");
/// ```
pub fn count_in(name: &'static str, value: usize, low: usize, high: usize) -> Result<(), ParameterError> {
    accept((low..=high).contains(&value), name, value as f64, || {
        format!("be in [{low}, {high}]")
    })
}

fn accept(accepted: bool, name: &'static str, value: f64, requirement: impl FnOnce() -> String) -> Result<(), ParameterError> {
    if accepted {
        Ok(())
    } else {
        Err(ParameterError::new(name, value, requirement()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_closed_interval_are_accepted() {
        assert!(in_closed("beta", 0.0, 0.0, 1.0).is_ok());
        assert!(in_closed("beta", 1.0, 0.0, 1.0).is_ok());
        assert!(in_closed("beta", 1.0 + 1e-12, 0.0, 1.0).is_err());
    }

    #[test]
    fn the_upper_end_of_a_half_open_interval_is_refused() {
        assert!(in_half_open("tau_plus", 0.0, 0.0, 1.0).is_ok());
        let error = in_half_open("tau_plus", 1.0, 0.0, 1.0).unwrap_err();
        assert_eq!(error.to_string(), "tau_plus is 1, but must be in [0, 1)");
    }

    #[test]
    fn the_lower_end_of_a_left_open_interval_is_refused() {
        assert!(in_left_open("running", 1.0, 0.0, 1.0).is_ok());
        let error = in_left_open("running", 0.0, 0.0, 1.0).unwrap_err();
        assert_eq!(error.to_string(), "running is 0, but must be in (0, 1]");
    }

    #[test]
    fn nothing_accepts_what_is_not_a_number_or_infinite() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(in_closed("x", value, 0.0, 1.0).is_err());
            assert!(in_half_open("x", value, 0.0, 1.0).is_err());
            assert!(in_left_open("x", value, 0.0, 1.0).is_err());
            assert!(not_below("x", value, 0.0).is_err());
        }
    }

    #[test]
    fn temperatures_leave_scores_finite_in_32_bits() {
        for value in [1e-6, 0.07, 1e6] {
            temperature(value).unwrap();
            assert!((2.0 / value as f32).is_finite() && (value as f32).recip() > 0.0);
        }
        for value in [0.0, 1e-40, 1e308, -1.0, f64::NAN, f64::INFINITY] {
            let error = temperature(value).unwrap_err().to_string();
            assert!(
                error.starts_with("temperature is ") && error.ends_with("must be in [1e-6, 1000000]"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_error_names_parameter_value_and_range() {
        let text = |result: Result<(), ParameterError>| result.unwrap_err().to_string();
        assert_eq!(
            text(not_below("trust", 0.1, 0.15)),
            "trust is 0.1, but must be a finite number of at least 0.15"
        );
        assert_eq!(text(at_least("epochs", 0, 1)), "epochs is 0, but must be at least 1");
        assert_eq!(
            text(in_closed("alpha", f64::NAN, 0.5, 1.0)),
            "alpha is NaN, but must be in [0.5, 1]"
        );
        assert_eq!(
            text(count_in("dim", i64::MAX as usize, 1, 64)),
            "dim is 9.223372036854776e18, but must be in [1, 64]"
        );
    }
}
