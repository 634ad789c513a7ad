//! Schedules of any numeric parameter of an estimator.

use super::between;
use crate::{
    EstimatorConfig, ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_closed, shown},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, f64::consts::PI, fmt};

/// A moment of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment {
    /// The epoch, counted from 0.
    pub epoch: usize,
    /// Number of steps before it, over all epochs.
    pub step: usize,
}

impl Moment {
    /// A moment in an epoch, for schedules that do not count steps.
    pub const fn in_epoch(epoch: usize) -> Self {
        Self { epoch, step: 0 }
    }
}

/// The value of one parameter at each [moment](Moment) of training.
///
/// A schedule counts epochs or, with `steps` in place of `epochs`, training steps. In recipes it is a table in place of the number:
///
/// ```
/// use bcl_core::schedule::{Moment, Schedule};
///
/// let text = r#"{"kind": "cosine", "start": 0.5, "end": 0.1, "epochs": 50}"#;
/// let schedule: Schedule = serde_json::from_str(text).unwrap();
/// assert_eq!([0, 50, 60].map(|epoch| schedule.value(Moment::in_epoch(epoch))), [0.5, 0.1, 0.1]);
///
/// // 1/t, the step sizes of stochastic approximation.
/// let text = r#"{"kind": "harmonic", "start": 1.0, "steps": 1}"#;
/// let schedule: Schedule = serde_json::from_str(text).unwrap();
/// assert_eq!([0, 1, 3].map(|step| schedule.value(Moment { epoch: 0, step })), [1.0, 0.5, 0.25]);
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
        /// First value.
        start: f64,
        /// Last value.
        end: f64,
        /// Number of epochs until `end`, 1 to 1,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epochs: Option<usize>,
        /// Number of steps until `end`, 1 to 1,000,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<usize>,
    },

    /// Half a cosine, `end + (start - end) · (1 + cos(π · epoch / epochs)) / 2`, constant after that. With a period in place of `epochs`,
    /// the cosine `end + (start - end) · (1 + cos(2π · epoch / period)) / 2`, which goes back and forth between the two values.
    Cosine {
        /// First value.
        start: f64,
        /// Last value, or the one in the middle of each period.
        end: f64,
        /// Number of epochs until `end`, 1 to 1,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epochs: Option<usize>,
        /// Number of steps until `end`, 1 to 1,000,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<usize>,
        /// Number of epochs from `start` to `end` and back, 2 to 1,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        period: Option<usize>,
    },

    /// A hyperbola, `end + (start - end) / (1 + epoch / epochs)`: `1, 1/2, 1/3, ...` if `epochs` is 1.
    Harmonic {
        /// First value.
        start: f64,
        /// The value that it approaches.
        #[serde(default)]
        end: f64,
        /// Number of epochs until half of the way, 1 to 1,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epochs: Option<usize>,
        /// Number of steps until half of the way, 1 to 1,000,000,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<usize>,
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

/// A value that a schedule is configured with, and the first moment that has it.
struct Milestone {
    /// The key that sets it, such as `end`.
    key: &'static str,
    value: f64,
    at: Moment,
}

/// What a schedule counts, and how far.
#[derive(Debug, Clone, Copy)]
enum Span {
    Epochs(usize),
    Steps(usize),
}

impl Span {
    /// The one that is given.
    fn of(epochs: Option<usize>, steps: Option<usize>) -> Option<Self> {
        match (epochs, steps) {
            (Some(epochs), None) => Some(Self::Epochs(epochs)),
            (None, Some(steps)) => Some(Self::Steps(steps)),
            _ => None,
        }
    }

    /// How much has passed, and how much there is.
    fn progress(self, at: Moment) -> [usize; 2] {
        match self {
            Self::Epochs(epochs) => [at.epoch, epochs],
            Self::Steps(steps) => [at.step, steps],
        }
    }

    fn end(self) -> Moment {
        match self {
            Self::Epochs(epochs) => Moment::in_epoch(epochs),
            Self::Steps(step) => Moment { epoch: 0, step },
        }
    }

    fn check(self) -> Result<(), ParameterError> {
        match self {
            Self::Epochs(epochs) => count_in("epochs", epochs, 1, MOST_EPOCHS),
            Self::Steps(steps) => count_in("steps", steps, 1, MOST_STEPS),
        }
    }
}

/// Checks that a schedule has exactly one span.
fn check_span(epochs: Option<usize>, steps: Option<usize>) -> Result<(), ScheduleError> {
    match (Span::of(epochs, steps), epochs) {
        (Some(span), _) => Ok(span.check()?),
        (None, Some(_)) => Err(ScheduleError::new(
            "steps",
            "cannot be combined with epochs; give one of them",
        )),
        (None, None) => Err(ScheduleError::new(
            "epochs",
            "is missing; give the number of epochs, or of training steps as steps",
        )),
    }
}

/// The maximum number of training steps that a schedule may span.
const MOST_STEPS: usize = 1_000_000_000;

impl Schedule {
    /// Returns the value at a moment; NaN if the schedule is not [valid](Schedules::check) and so has none.
    pub fn value(&self, at: Moment) -> f64 {
        match self {
            Self::Constant { value } => *value,
            Self::Linear {
                start,
                end,
                epochs,
                steps,
            } => Span::of(*epochs, *steps).map_or(f64::NAN, |span| {
                let [passed, all] = span.progress(at);
                between(*start, *end, passed, all)
            }),
            Self::Cosine {
                start,
                end,
                epochs,
                steps,
                period,
            } => {
                let half_turns = match (period, Span::of(*epochs, *steps).map(|span| span.progress(at))) {
                    (Some(period), _) => 2.0 * at.epoch.checked_rem(*period).unwrap_or(0) as f64 / *period as f64,
                    (None, Some([passed, all])) if passed >= all => return *end,
                    (None, Some([passed, all])) => passed as f64 / all as f64,
                    (None, None) => return f64::NAN,
                };
                let value = end + (start - end) * (1.0 + (PI * half_turns).cos()) / 2.0;
                // Rounding must not leave the range of the parameter.
                value.max(start.min(*end)).min(start.max(*end))
            }
            Self::Harmonic {
                start,
                end,
                epochs,
                steps,
            } => Span::of(*epochs, *steps).map_or(f64::NAN, |span| {
                let [passed, half] = span.progress(at);
                let value = end + (start - end) * half as f64 / (half as f64 + passed as f64);
                value.max(start.min(*end)).min(start.max(*end))
            }),
            Self::Steps { values, epochs } => {
                let step = epochs.partition_point(|&next| next <= at.epoch);
                values.get(step).copied().unwrap_or(f64::NAN)
            }
            Self::Learned { start, .. } => *start,
        }
    }

    /// Whether the value changes from step to step, not only from epoch to epoch.
    fn counts_steps(&self) -> bool {
        matches!(
            self,
            Self::Linear { steps: Some(_), .. } | Self::Cosine { steps: Some(_), .. } | Self::Harmonic { steps: Some(_), .. }
        )
    }

    /// Checks all that does not depend on the parameter; its range is up to [`Schedules::check`].
    fn check(&self) -> Result<(), ScheduleError> {
        match self {
            // The range of a learned parameter must be valid before its start can be in it.
            Self::Constant { .. } | Self::Learned { .. } => Ok(()),
            Self::Linear { epochs, steps, .. } | Self::Harmonic { epochs, steps, .. } => check_span(*epochs, *steps),
            Self::Cosine {
                epochs, steps, period, ..
            } => match (epochs.or(*steps), *period) {
                (Some(_), None) => check_span(*epochs, *steps),
                (None, Some(period)) => Ok(count_in("period", period, 2, MOST_EPOCHS)?),
                (Some(_), Some(_)) => Err(ScheduleError::new(
                    "period",
                    "cannot be combined with epochs or steps; give those to go from start to end once, or period to go back and forth",
                )),
                (None, None) => Err(ScheduleError::new(
                    "epochs",
                    "is missing; give epochs or steps to go from start to end once, or period to go back and forth",
                )),
            },
            Self::Steps { values, epochs } => {
                epochs
                    .iter()
                    .try_for_each(|&epoch| count_in("epochs", epoch, 1, MOST_EPOCHS))?;
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
        let of = |key, value: &f64, at| Milestone { key, value: *value, at };
        let first = Moment::default();
        let last = |epochs: &Option<usize>, steps: &Option<usize>| Span::of(*epochs, *steps).map_or(first, Span::end);
        match self {
            Self::Constant { value } => vec![of("value", value, first)],
            Self::Linear {
                start,
                end,
                epochs,
                steps,
            }
            | Self::Harmonic {
                start,
                end,
                epochs,
                steps,
            } => vec![of("start", start, first), of("end", end, last(epochs, steps))],
            Self::Cosine {
                start,
                end,
                epochs,
                steps,
                period,
            } => {
                let last = period.map_or(last(epochs, steps), |period| Moment::in_epoch(period / 2));
                vec![of("start", start, first), of("end", end, last)]
            }
            Self::Steps { values, epochs } => {
                let epochs = [0].into_iter().chain(epochs.iter().copied());
                values
                    .iter()
                    .zip(epochs)
                    .map(|(value, epoch)| of("values", value, Moment::in_epoch(epoch)))
                    .collect()
            }
            Self::Learned { start, least, most } => {
                vec![of("least", least, first), of("most", most, first), of("start", start, first)]
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
            Self::Harmonic { start, end, .. } => write!(f, "{start} to {end} (harmonic)"),
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
/// use bcl_core::{EstimatorConfig, HardLossConfig, schedule::{Moment, Schedule, Schedules}};
///
/// let beta = Schedule::Linear { start: 0.0, end: 1.0, epochs: Some(10), steps: None };
/// let schedules: Schedules = [("beta".to_owned(), beta)].into_iter().collect();
/// let config = EstimatorConfig::Hard(HardLossConfig::new());
/// assert_eq!(schedules.at(&config, Moment::in_epoch(5)).parameter("beta"), Some(0.5));
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

    /// Returns whether a parameter changes from step to step, not only from epoch to epoch.
    pub fn count_steps(&self) -> bool {
        self.0.values().any(Schedule::counts_steps)
    }

    /// Returns the estimator at a moment.
    pub fn at(&self, config: &EstimatorConfig, at: Moment) -> EstimatorConfig {
        let mut config = config.clone();
        for (parameter, schedule) in &self.0 {
            config.set_parameter(parameter, schedule.value(at));
        }
        config
    }

    /// Returns the first moments at which a parameter has a value that its schedule is configured with: the estimators there are as far apart
    /// as estimators of this schedule can be.
    pub fn milestones(&self) -> Vec<Moment> {
        let mut moments: Vec<Moment> = self
            .0
            .values()
            .flat_map(Schedule::milestones)
            .map(|milestone| milestone.at)
            .collect();
        moments.push(Moment::default());
        moments.sort_unstable();
        moments.dedup();
        moments
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
            // Values of two parameters at the same moment could not be compared before training: nobody knows yet how many steps an epoch has.
            if schedule.counts_steps() && self.0.len() > 1 {
                let problem = "cannot be combined with the schedule of another parameter; give epochs in place of steps";
                return Err(ScheduleError::new("steps", problem).of(parameter));
            }
        }
        for (parameter, schedule) in &self.0 {
            for Milestone { key, value, at } in schedule.milestones() {
                let mut config = self.at(config, at);
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
            self.at(config, Moment::in_epoch(epoch)).check().map_err(|error| {
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
