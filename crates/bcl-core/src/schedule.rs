//! Schedules of the parameters of an estimator over epochs or steps.
//!
//! [`Schedule`] is one of any numeric parameter. [`AlphaSchedule`] is one of `α`, which can be measured: an untrained encoder separates
//! nothing (`α = 1/2`), a trained one does.

mod parameters;

pub use parameters::{Moment, Schedule, ScheduleError, Schedules};

use crate::{
    ParameterError,
    auc::{alpha_of_auc, limited_alpha},
    parameter::{MOST_EPOCHS, count_in, in_closed, in_half_open},
};
use serde::{Deserialize, Serialize};

/// The schedule of the Bayesian weight's `α`.
///
/// The `α` of an epoch is a pure function of the configured value, the epoch and the last measurement. At the end of each epoch the
/// trainer measures what [`measures`](Self::measures) returns, passes it through [`remember`](Self::remember), and hands the result to
/// [`alpha`](Self::alpha).
///
/// In recipes it is a table with the tag `kind`:
///
/// ```
/// use bcl_core::schedule::AlphaSchedule;
///
/// let schedule: AlphaSchedule = serde_json::from_str(r#"{"kind": "linear", "epochs": 100}"#).unwrap();
/// assert_eq!(schedule.alpha(0.9, 0, None), 0.5);
/// assert_eq!(schedule.alpha(0.9, 100, None), 0.85);
/// assert!(serde_json::from_str::<AlphaSchedule>(r#"{"kind": "constant", "epoch": 1}"#).is_err());
/// ```
// `Constant` is written with braces because serde lets a unit variant swallow unknown fields.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum AlphaSchedule {
    /// The configured `α` in every epoch.
    Constant {},

    /// A straight line, `start + (end - start) · epoch / epochs`, constant after that. The defaults follow the authors' revision
    /// note: `0.5 + 0.35 · epoch / 400`. The configured `α` is not used.
    Linear {
        /// `α` of epoch 0.
        #[serde(default = "defaults::start")]
        start: f64,
        /// `α` from epoch `epochs` on.
        #[serde(default = "defaults::end")]
        end: f64,
        /// Number of epochs until `end`, 1 to 1,000,000.
        #[serde(default = "defaults::epochs")]
        epochs: usize,
    },

    /// The authors' released code: from `start` to the configured `α` in `steps` equal levels (both ends included), one level every
    /// `every` epochs. The defaults are `linspace(0.501, α, 20)` and 20 epochs.
    ReleasedSteps {
        /// `α` of the first level.
        #[serde(default = "defaults::released_start")]
        start: f64,
        /// Number of levels, 2 to 1,000,000.
        #[serde(default = "defaults::steps")]
        steps: usize,
        /// Number of epochs per level, 1 to 1,000,000.
        #[serde(default = "defaults::every")]
        every: usize,
    },

    /// From the label-based AUC of the previous epoch, in one batch of training samples and by the scores of the loss. It reads training
    /// labels, so it shows what a perfect estimate would achieve. Until there is a measurement, the configured `α`.
    Measured {
        /// How the AUC becomes `α`.
        #[serde(default, skip_serializing_if = "AlphaReading::is_paper")]
        reading: AlphaReading,
    },

    /// From the macro AUC on held-out data, as the text of the paper has it: the AUC of each held-out image among the other held-out images,
    /// against their labels, or of each user's held-out items against the items that the user has not interacted with. Until there is a
    /// measurement, the configured `α`.
    HeldOut {
        /// How the AUC becomes `α`.
        #[serde(default, skip_serializing_if = "AlphaReading::is_paper")]
        reading: AlphaReading,
    },

    /// The "empirical" `α` of the released code: the AUC of two batches of training images against all training images, by the encoder's features
    /// and the training labels. The released code measures it every 20 epochs. Until there is a measurement, the configured `α`.
    ReleasedEmpirical {
        /// How the AUC becomes `α`.
        #[serde(default, skip_serializing_if = "AlphaReading::is_paper")]
        reading: AlphaReading,
    },

    /// From the label-free estimate of the previous epoch, [`label_free_alpha`](crate::auc::label_free_alpha). Until there is a
    /// measurement, the configured `α`.
    LabelFree {
        /// How the AUC becomes `α`.
        #[serde(default, skip_serializing_if = "AlphaReading::is_paper")]
        reading: AlphaReading,
        /// Momentum of an exponential moving average over epochs, in [0, 1); 0 uses the newest estimate alone.
        #[serde(default)]
        smoothing: f64,
    },
}

/// How a measured AUC becomes `α`; the two differ, see [`auc`](crate::auc).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AlphaReading {
    /// `α = AUC`, as the papers do.
    #[default]
    Paper,
    /// `α = (6 · AUC - 1) / 4`: the α at which the classes of the model have this AUC, [`alpha_of_auc`].
    Model,
}

impl AlphaReading {
    /// Converts an AUC to `α`, limited to values that every `β` accepts.
    pub fn alpha(self, auc: f64) -> f64 {
        match self {
            Self::Paper => limited_alpha(auc),
            Self::Model => alpha_of_auc(auc),
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_paper(&self) -> bool {
        *self == Self::Paper
    }
}

/// A measurement that a schedule needs at the end of each epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlphaMeasurement {
    /// An AUC against labels: [`auc_of_classes`](crate::auc::auc_of_classes) or [`auc_of_positives`](crate::auc::auc_of_positives).
    LabelBased,
    /// [`label_free_alpha`](crate::auc::label_free_alpha) of [`auc_unlabelled`](crate::auc::auc_unlabelled).
    LabelFree,
    /// The macro AUC on held-out data.
    HeldOut,
    /// The macro AUC of two batches of training samples against all of them.
    Training,
}

impl AlphaSchedule {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter that is not, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        match *self {
            Self::Constant {} | Self::Measured { .. } | Self::HeldOut { .. } | Self::ReleasedEmpirical { .. } => Ok(()),
            Self::Linear { start, end, epochs } => {
                in_closed("start", start, 0.5, 1.0)?;
                in_closed("end", end, 0.5, 1.0)?;
                count_in("epochs", epochs, 1, MOST_EPOCHS)
            }
            Self::ReleasedSteps { start, steps, every } => {
                in_closed("start", start, 0.5, 1.0)?;
                count_in("steps", steps, 2, MOST_EPOCHS)?;
                count_in("every", every, 1, MOST_EPOCHS)
            }
            Self::LabelFree { smoothing, .. } => in_half_open("smoothing", smoothing, 0.0, 1.0),
        }
    }

    /// Returns the `α` of an epoch, counted from 0.
    ///
    /// `measured` is what [`remember`](Self::remember) returned last, or `None` before the first measurement. Measurements are limited to
    /// values that every `β` accepts; configured values are used as they are. Near the pole at `α = 1` short rows need a lower limit:
    /// [`BayesianLossConfig::away_from_the_pole`](crate::BayesianLossConfig::away_from_the_pole).
    pub fn alpha(&self, configured: f64, epoch: usize, measured: Option<f64>) -> f64 {
        match *self {
            Self::Constant {} => configured,
            Self::Linear { start, end, epochs } => between(start, end, epoch, epochs),
            Self::ReleasedSteps { start, steps, every } => between(start, configured, epoch / every, steps - 1),
            Self::Measured { reading }
            | Self::HeldOut { reading }
            | Self::ReleasedEmpirical { reading }
            | Self::LabelFree { reading, .. } => measured.map_or(configured, |auc| reading.alpha(auc)),
        }
    }

    /// Returns the first and the last `α` without any measurement: the configured one, or the ends of the schedule.
    pub fn ends(&self, configured: f64) -> [f64; 2] {
        match *self {
            Self::Linear { start, end, .. } => [start, end],
            Self::ReleasedSteps { start, .. } => [start, configured],
            _ => [configured; 2],
        }
    }

    /// Returns what to measure at the end of each epoch, if anything.
    pub fn measures(&self) -> Option<AlphaMeasurement> {
        match self {
            Self::Constant {} | Self::Linear { .. } | Self::ReleasedSteps { .. } => None,
            Self::Measured { .. } => Some(AlphaMeasurement::LabelBased),
            Self::HeldOut { .. } => Some(AlphaMeasurement::HeldOut),
            Self::ReleasedEmpirical { .. } => Some(AlphaMeasurement::Training),
            Self::LabelFree { .. } => Some(AlphaMeasurement::LabelFree),
        }
    }

    /// Combines a new measurement with the last result of this function, `remembered`: a moving average, or the new measurement alone.
    pub fn remember(&self, remembered: Option<f64>, measured: f64) -> f64 {
        match (*self, remembered) {
            (Self::LabelFree { smoothing, .. }, Some(remembered)) => smoothing * remembered + (1.0 - smoothing) * measured,
            _ => measured,
        }
    }
}

impl Default for AlphaSchedule {
    fn default() -> Self {
        Self::Constant {}
    }
}

/// The point `step / last` of the way from `start` to `end`, and `end` itself from there on.
fn between(start: f64, end: f64, step: usize, last: usize) -> f64 {
    if step >= last {
        end
    } else {
        start + (end - start) * step as f64 / last as f64
    }
}

mod defaults {
    //! The published settings, used by recipes that name only the kind.

    pub(super) fn start() -> f64 {
        0.5
    }

    pub(super) fn end() -> f64 {
        0.85
    }

    pub(super) fn epochs() -> usize {
        400
    }

    pub(super) fn released_start() -> f64 {
        0.501
    }

    pub(super) fn steps() -> usize {
        20
    }

    pub(super) fn every() -> usize {
        20
    }
}
