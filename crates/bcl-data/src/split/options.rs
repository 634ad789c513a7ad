//! The ways to split one file into train and test, as recipes name them.

use crate::DataError;
use crate::error::shown;
use serde::{Deserialize, Serialize};

/// What is held out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitKind {
    /// A share of each user's interactions (`RecBole`: `RS`).
    #[default]
    Ratio,
    /// One interaction of each user who has at least two (`RecBole`: `LS`).
    LeaveOneOut,
    /// The newest share of all interactions.
    Temporal,
}

/// Which interactions of a user are held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitOrder {
    /// Random ones (`RecBole`: `RO`).
    Random,
    /// The newest (`RecBole`: `TO`).
    Time,
}

/// How to split files into train and test.
///
/// ```
/// use bcl_data::SplitOptions;
///
/// let split: SplitOptions = toml::from_str("kind = \"ratio\"\norder = \"time\"\ntest_ratio = 0.1")?;
/// assert!(split.check().is_ok());
/// let split: SplitOptions = toml::from_str("kind = \"leave_one_out\"\ntest_ratio = 0.1")?;
/// assert!(split.check().is_err());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitOptions {
    /// What is held out.
    #[serde(skip_serializing_if = "is_ratio")]
    pub kind: SplitKind,
    /// Share of the interactions held out for test, in (0, 1); 0.2 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_ratio: Option<f64>,
    /// Which interactions of a user are held out. If absent, random ones of a ratio, and the newest one of `leave_one_out` if all have
    /// timestamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<SplitOrder>,
    /// Seed of the draws, and of the order of interactions at the same time.
    pub seed: u64,
}

/// Whether a split needs timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Ignored,
    IfPresent,
    Needed,
}

impl SplitOptions {
    /// A random share of each user's interactions.
    pub fn ratio(test_ratio: f64, seed: u64) -> Self {
        Self {
            test_ratio: Some(test_ratio),
            seed,
            ..Self::default()
        }
    }

    /// Share of the interactions held out for test.
    pub fn test_ratio(&self) -> f64 {
        self.test_ratio.unwrap_or(0.2)
    }

    /// Writes the defaults out.
    #[must_use]
    pub fn completed(self) -> Self {
        let test_ratio = (self.kind != SplitKind::LeaveOneOut).then(|| self.test_ratio());
        Self { test_ratio, ..self }
    }

    /// Checks that the ratio is in its range and that the other keys have a meaning.
    ///
    /// # Errors
    /// Returns an error if `test_ratio` is not in (0, 1) or beside `leave_one_out`, or `order` is beside `temporal`.
    pub fn check(&self) -> Result<(), DataError> {
        let meaningless = |key: &str, problem: &str| Err(DataError::setting(format!("data.split.{key}"), problem));
        if self.kind == SplitKind::LeaveOneOut && self.test_ratio.is_some() {
            let problem =
                "has no effect with data.split.kind = \"leave_one_out\", which holds out one interaction per user; remove it";
            return meaningless("test_ratio", problem);
        }
        if self.kind == SplitKind::Temporal && self.order.is_some() {
            return meaningless(
                "order",
                "has no effect with data.split.kind = \"temporal\", which is by time; remove it",
            );
        }
        let test_ratio = self.test_ratio();
        if test_ratio > 0.0 && test_ratio < 1.0 {
            return Ok(());
        }
        Err(DataError::out_of_range("data.split.test_ratio", shown(test_ratio), "(0, 1)"))
    }

    pub(crate) fn times(&self) -> Times {
        match (self.kind, self.order) {
            (SplitKind::Temporal, _) | (_, Some(SplitOrder::Time)) => Times::Needed,
            (SplitKind::LeaveOneOut, None) => Times::IfPresent,
            _ => Times::Ignored,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_ratio(kind: &SplitKind) -> bool {
    *kind == SplitKind::Ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_ratio_out_of_range_is_an_error() {
        for test_ratio in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
            for kind in [SplitKind::Ratio, SplitKind::Temporal] {
                let split = SplitOptions {
                    kind,
                    ..SplitOptions::ratio(test_ratio, 0)
                };
                let error = split.check().unwrap_err();
                assert!(error.to_string().contains(&format!("test_ratio is {test_ratio}")), "{error}");
            }
        }
    }

    #[test]
    fn keys_without_a_meaning_are_refused_by_name() {
        for (text, key) in [
            ("kind = 'leave_one_out'\ntest_ratio = 0.2", "data.split.test_ratio"),
            ("kind = 'temporal'\norder = 'random'", "data.split.order"),
            ("kind = 'temporal'\norder = 'time'", "data.split.order"),
        ] {
            let split: SplitOptions = toml::from_str(text).unwrap();
            let error = split.check().unwrap_err().to_string();
            assert!(error.starts_with(key) && error.contains("remove it"), "{error}");
        }
    }

    #[test]
    fn a_random_ratio_is_written_as_before_there_were_kinds() {
        let text = toml::to_string(&SplitOptions::default().completed()).unwrap();
        assert_eq!(text, "test_ratio = 0.2\nseed = 0\n");
        let text = toml::to_string(&toml::from_str::<SplitOptions>("kind = 'leave_one_out'").unwrap().completed()).unwrap();
        assert_eq!(text, "kind = \"leave_one_out\"\nseed = 0\n");
    }
}
