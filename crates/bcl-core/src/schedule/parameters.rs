//! Schedules of any numeric parameter of an estimator.

use super::between;
use crate::{
    EstimatorConfig, ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_closed, shown},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, f64::consts::PI, fmt};

/// The value of one parameter in each epoch.
///
/// In recipes it is a table in place of the number:
///
/// ```
/// use bcl_core::schedule::Schedule;
///
/// let text = r#"{"kind": "cosine", "start": 0.5, "end": 0.1, "epochs": 50}"#;
/// let schedule: Schedule = serde_json::from_str(text).unwrap();
/// assert_eq!([0, 50, 60].map(|epoch| schedule.value(epoch)), [0.5, 0.1, 0.1]);
/// assert!((schedule.value(25) - 0.3).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Schedule {
    /// The same value in every epoch.
    Constant {
        /// The value.
        value: f64,
    },

    /// A straight line, `start + (end - start) · epoch / epochs`, constant after that.
    Linear {
        /// Value of epoch 0.
        start: f64,
        /// Value from epoch `epochs` on.
        end: f64,
        /// Number of epochs until `end`, 1 to 1,000,000.
        epochs: usize,
    },

    /// Half a cosine, `end + (start - end) · (1 + cos(π · epoch / epochs)) / 2`, constant after that. With a period in place of `epochs`,
    /// the cosine `end + (start - end) · (1 + cos(2π · epoch / period)) / 2`, which goes back and forth between the two values.
    Cosine {
        /// Value of epoch 0.
        start: f64,
        /// Value from epoch `epochs` on, or in the middle of each period.
        end: f64,
        /// Number of epochs until `end`, 1 to 1,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epochs: Option<usize>,
        /// Number of epochs from `start` to `end` and back, 2 to 1,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        period: Option<usize>,
    },

    /// One value after the other: `values[i]` until epoch `epochs[i]`, the last value from then on.
    Steps {
        /// The values.
        values: Vec<f64>,
        /// The epochs at which the next value begins, ascending, one fewer than values.
        epochs: Vec<usize>,
    },

    /// A parameter that the optimizer moves with the weights, limited after every step. Its [`value`](Self::value) is `start`: whoever
    /// trains it knows the current one. Only a temperature can be learned, through [`Scores::scaled`](crate::Scores::scaled).
    Learned {
        /// Initial value.
        start: f64,
        /// Minimum; by default CLIP's, whose `1 / t` is at most 100.
        #[serde(default = "least")]
        least: f64,
        /// Maximum.
        #[serde(default = "most")]
        most: f64,
    },
}

fn least() -> f64 {
    0.01
}

fn most() -> f64 {
    100.0
}

/// A value that a schedule is configured with, and the first epoch that has it.
struct Milestone {
    /// The key that sets it, such as `end`.
    key: &'static str,
    value: f64,
    epoch: usize,
}

impl Schedule {
    /// Returns the value of an epoch, counted from 0; NaN if the schedule is not [valid](Schedules::check) and so has none.
    pub fn value(&self, epoch: usize) -> f64 {
        match self {
            Self::Constant { value } => *value,
            Self::Linear { start, end, epochs } => between(*start, *end, epoch, *epochs),
            Self::Cosine {
                start,
                end,
                epochs,
                period,
            } => {
                let half_turns = match (period, epochs) {
                    (Some(period), _) => 2.0 * epoch.checked_rem(*period).unwrap_or(0) as f64 / *period as f64,
                    (None, Some(epochs)) if epoch >= *epochs => return *end,
                    (None, Some(epochs)) => epoch as f64 / *epochs as f64,
                    (None, None) => return f64::NAN,
                };
                let value = end + (start - end) * (1.0 + (PI * half_turns).cos()) / 2.0;
                // Rounding must not leave the range of the parameter.
                value.max(start.min(*end)).min(start.max(*end))
            }
            Self::Steps { values, epochs } => {
                let step = epochs.partition_point(|&next| next <= epoch);
                values.get(step).copied().unwrap_or(f64::NAN)
            }
            Self::Learned { start, .. } => *start,
        }
    }

    /// Checks all that does not depend on the parameter; its range is up to [`Schedules::check`].
    fn check(&self) -> Result<(), ScheduleError> {
        let num_epochs = |name, epochs| Ok(count_in(name, epochs, 1, MOST_EPOCHS)?);
        match self {
            // The range of a learned parameter must be valid before its start can be in it.
            Self::Constant { .. } | Self::Learned { .. } => Ok(()),
            Self::Linear { epochs, .. } => num_epochs("epochs", *epochs),
            Self::Cosine { epochs, period, .. } => match (*epochs, *period) {
                (Some(epochs), None) => num_epochs("epochs", epochs),
                (None, Some(period)) => Ok(count_in("period", period, 2, MOST_EPOCHS)?),
                (Some(_), Some(_)) => Err(ScheduleError::new(
                    "period",
                    "cannot be combined with epochs; give epochs to go from start to end once, or period to go back and forth",
                )),
                (None, None) => Err(ScheduleError::new(
                    "epochs",
                    "is missing; give epochs to go from start to end once, or period to go back and forth",
                )),
            },
            Self::Steps { values, epochs } => {
                epochs.iter().try_for_each(|&epoch| num_epochs("epochs", epoch))?;
                if values.len() != epochs.len() + 1 {
                    let (values, epochs) = (values.len(), epochs.len());
                    let problem = format!("has {values} numbers, but must have one more than epochs, which has {epochs}");
                    return Err(ScheduleError::new("values", problem));
                }
                match epochs.windows(2).find(|pair| pair[0] >= pair[1]) {
                    Some(pair) => Err(ScheduleError::new(
                        "epochs",
                        format!("has {} before {}, but must ascend", pair[0], pair[1]),
                    )),
                    None => Ok(()),
                }
            }
        }
    }

    fn milestones(&self) -> Vec<Milestone> {
        let of = |key, value: &f64, epoch| Milestone {
            key,
            value: *value,
            epoch,
        };
        match self {
            Self::Constant { value } => vec![of("value", value, 0)],
            Self::Linear { start, end, epochs } => vec![of("start", start, 0), of("end", end, *epochs)],
            Self::Cosine {
                start,
                end,
                epochs,
                period,
            } => {
                let last = epochs.or(period.map(|period| period / 2)).unwrap_or(0);
                vec![of("start", start, 0), of("end", end, last)]
            }
            Self::Steps { values, epochs } => {
                let epochs = [0].into_iter().chain(epochs.iter().copied());
                values
                    .iter()
                    .zip(epochs)
                    .map(|(value, epoch)| of("values", value, epoch))
                    .collect()
            }
            Self::Learned { start, least, most } => {
                vec![of("least", least, 0), of("most", most, 0), of("start", start, 0)]
            }
        }
    }
}

/// In words, such as "0.5 to 0.1 (cosine)".
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { value } => write!(f, "{value}"),
            Self::Linear { start, end, .. } => write!(f, "{start} to {end} (linear)"),
            Self::Cosine { start, end, .. } => write!(f, "{start} to {end} (cosine)"),
            Self::Steps { values, .. } => {
                let values: Vec<String> = values.iter().map(f64::to_string).collect();
                write!(f, "{} (steps)", values.join(", "))
            }
            Self::Learned { start, .. } => write!(f, "{start} at first (learned)"),
        }
    }
}

/// The schedules of some parameters of an estimator, by name.
///
/// ```
/// use bcl_core::{EstimatorConfig, HardLossConfig, schedule::{Schedule, Schedules}};
///
/// let beta = Schedule::Linear { start: 0.0, end: 1.0, epochs: 10 };
/// let schedules: Schedules = [("beta".to_owned(), beta)].into_iter().collect();
/// let config = EstimatorConfig::Hard(HardLossConfig::new());
/// assert_eq!(schedules.at(&config, 5).parameter("beta"), Some(0.5));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schedules(BTreeMap<String, Schedule>);

impl FromIterator<(String, Schedule)> for Schedules {
    fn from_iter<I: IntoIterator<Item = (String, Schedule)>>(schedules: I) -> Self {
        Self(schedules.into_iter().collect())
    }
}

impl Schedules {
    /// Returns whether no parameter has a schedule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the schedule of a parameter, if it has one.
    pub fn get(&self, parameter: &str) -> Option<&Schedule> {
        self.0.get(parameter)
    }

    /// Iterates over the parameters and their schedules.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Schedule)> {
        self.0.iter().map(|(parameter, schedule)| (parameter.as_str(), schedule))
    }

    /// Returns the estimator of an epoch, counted from 0.
    pub fn at(&self, config: &EstimatorConfig, epoch: usize) -> EstimatorConfig {
        let mut config = config.clone();
        for (parameter, schedule) in &self.0 {
            config.set_parameter(parameter, schedule.value(epoch));
        }
        config
    }

    /// Returns the first epochs in which a parameter has a value that its schedule is configured with: the estimators there are as far apart
    /// as estimators of this schedule can be.
    pub fn milestones(&self) -> Vec<usize> {
        let mut epochs: Vec<usize> = self
            .0
            .values()
            .flat_map(Schedule::milestones)
            .map(|milestone| milestone.epoch)
            .collect();
        epochs.push(0);
        epochs.sort_unstable();
        epochs.dedup();
        epochs
    }

    /// Checks every value that a parameter can take in `num_epochs` epochs, and every value that a schedule is configured with.
    ///
    /// # Errors
    /// Returns an error that names the parameter, the key of its schedule and the reason.
    pub fn check(&self, config: &EstimatorConfig, num_epochs: usize) -> Result<(), ScheduleError> {
        for (parameter, schedule) in &self.0 {
            if matches!(schedule, Schedule::Learned { .. }) && parameter != TEMPERATURE {
                let problem = "is \"learned\", but only the temperature can be learned; use another schedule";
                return Err(ScheduleError::new("kind", problem).of(parameter));
            }
            schedule.check().map_err(|error| error.of(parameter))?;
        }
        for (parameter, schedule) in &self.0 {
            for Milestone { key, value, epoch } in schedule.milestones() {
                let mut config = self.at(config, epoch);
                config.set_parameter(parameter, value);
                config.check().map_err(|error| {
                    let of_another =
                        (error.name != parameter).then(|| format!("with which {} is {}, ", error.name, shown(error.value)));
                    let of_another = of_another.unwrap_or_default();
                    let problem = format!("is {}, {of_another}but must {}", shown(value), error.requirement);
                    ScheduleError::new(key, problem).of(parameter)
                })?;
            }
        }
        if let Some(Schedule::Learned { start, least, most }) = self.get(TEMPERATURE) {
            in_closed("start", *start, *least, *most).map_err(|error| ScheduleError::from(error).of(TEMPERATURE))?;
        }
        // What two parameters allow each other may change between the values that are configured.
        let num_epochs = if self.0.len() > 1 { num_epochs } else { 0 };
        (0..num_epochs).try_for_each(|epoch| {
            self.at(config, epoch).check().map_err(|error| {
                let value = shown(error.value);
                ScheduleError::new(
                    error.name,
                    format!("is {value} in epoch {}, but must {}", epoch + 1, error.requirement),
                )
            })
        })
    }
}

/// The parameter that can be learned.
const TEMPERATURE: &str = "temperature";

/// A schedule that an estimator cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{key} {problem}")]
pub struct ScheduleError {
    /// The parameter and the key of its schedule, such as `temperature.end`.
    pub key: String,
    /// The reason, to be read after the key: "is 0, but must be in [1e-6, 1000000]".
    pub problem: String,
}

impl ScheduleError {
    fn new(key: &str, problem: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            problem: problem.into(),
        }
    }

    /// The same error of the schedule of a parameter.
    fn of(self, parameter: &str) -> Self {
        Self {
            key: format!("{parameter}.{}", self.key),
            ..self
        }
    }
}

impl From<ParameterError> for ScheduleError {
    fn from(error: ParameterError) -> Self {
        Self::new(
            error.name,
            format!("is {}, but must {}", shown(error.value), error.requirement),
        )
    }
}
