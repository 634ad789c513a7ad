//! Range checks for the parameters of estimators, schedules and simulations, with an error that says what would be accepted.

/// A parameter outside its range.
///
/// ```
/// use bcl_core::parameter::in_closed;
///
/// let error = in_closed("beta", 1.2, 0.0, 1.0).unwrap_err();
/// assert_eq!(error.to_string(), "beta is 1.2, but must lie in [0, 1]");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name} is {value}, but must {requirement}")]
pub struct ParameterError {
    /// The parameter as it is spelled in code and in recipes.
    pub name: &'static str,
    /// The refused value.
    pub value: f64,
    /// What an accepted value does, read after "must": "lie in [0, 1]".
    pub requirement: String,
}

impl ParameterError {
    /// An error that reads "`name` is `value`, but must `requirement`".
    pub fn new(name: &'static str, value: f64, requirement: impl Into<String>) -> Self {
        Self {
            name,
            value,
            requirement: requirement.into(),
        }
    }
}

/// Checks `low <= value <= high`.
///
/// # Errors
/// Outside the interval, or not a number.
pub fn in_closed(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParameterError> {
    accept((low..=high).contains(&value), name, value, || {
        format!("lie in [{low}, {high}]")
    })
}

/// Checks `low <= value < high`.
///
/// # Errors
/// Outside the interval, or not a number.
pub fn in_half_open(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParameterError> {
    accept((low..high).contains(&value), name, value, || {
        format!("lie in [{low}, {high})")
    })
}

/// Checks that the value is finite and above zero.
///
/// # Errors
/// Zero, negative, infinite, or not a number.
pub fn positive(name: &'static str, value: f64) -> Result<(), ParameterError> {
    accept(value.is_finite() && value > 0.0, name, value, || {
        "be a finite number above 0".to_owned()
    })
}

/// Checks that the value is finite and at least zero.
///
/// # Errors
/// Negative, infinite, or not a number.
pub fn non_negative(name: &'static str, value: f64) -> Result<(), ParameterError> {
    accept(value.is_finite() && value >= 0.0, name, value, || {
        "be a finite number of at least 0".to_owned()
    })
}

/// Checks that the value is finite and at least `low`.
///
/// # Errors
/// Below `low`, infinite, or not a number.
pub fn not_below(name: &'static str, value: f64, low: f64) -> Result<(), ParameterError> {
    accept(value.is_finite() && value >= low, name, value, || {
        format!("be a finite number of at least {low}")
    })
}

/// Checks that a count is at least `low`.
///
/// # Errors
/// Below `low`.
pub fn at_least(name: &'static str, value: usize, low: usize) -> Result<(), ParameterError> {
    accept(value >= low, name, value as f64, || format!("be at least {low}"))
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
        assert_eq!(error.to_string(), "tau_plus is 1, but must lie in [0, 1)");
    }

    #[test]
    fn nothing_accepts_what_is_not_a_number_or_infinite() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(in_closed("x", value, 0.0, 1.0).is_err());
            assert!(in_half_open("x", value, 0.0, 1.0).is_err());
            assert!(positive("x", value).is_err());
            assert!(not_below("x", value, 0.0).is_err());
        }
    }

    #[test]
    fn the_text_names_the_parameter_the_value_and_what_is_accepted() {
        let text = |result: Result<(), ParameterError>| result.unwrap_err().to_string();
        assert_eq!(
            text(positive("temperature", 0.0)),
            "temperature is 0, but must be a finite number above 0"
        );
        assert_eq!(
            text(not_below("temperature", 0.1, 0.15)),
            "temperature is 0.1, but must be a finite number of at least 0.15"
        );
        assert_eq!(text(at_least("epochs", 0, 1)), "epochs is 0, but must be at least 1");
        assert_eq!(
            text(in_closed("alpha", f64::NAN, 0.5, 1.0)),
            "alpha is NaN, but must lie in [0.5, 1]"
        );
    }
}
