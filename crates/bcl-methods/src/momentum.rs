//! Momentum of slow networks: constant, or raised to 1 over the training.

use super::{Counter, MethodStart};
use bcl_core::{ParameterError, parameter::in_closed};
use bcl_models::vision::{cosine_momentum, ema_update};
use burn::module::Module;
use serde::{Deserialize, Serialize};

/// How the momentum of a slow network changes over the steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentumSchedule {
    /// Always the same.
    #[default]
    Constant,
    /// From the configured value to 1, along a cosine over all steps.
    Cosine,
}

impl MomentumSchedule {
    /// The setting of a recipe if it spreads the momentum over all steps.
    pub(super) fn spread_over_epochs(self) -> Option<&'static str> {
        (self == Self::Cosine).then_some("method.momentum_schedule = \"cosine\"")
    }
}

/// Checks a momentum.
pub(super) fn check(momentum: f64) -> Result<(), ParameterError> {
    in_closed("momentum", momentum, 0.0, 1.0)
}

/// The momentum of each step.
#[derive(Debug, Clone)]
pub struct Momentum {
    start: f64,
    schedule: MomentumSchedule,
    num_steps: usize,
}

impl Momentum {
    /// The momentum of a training.
    pub fn new(start: f64, schedule: MomentumSchedule, of: &MethodStart) -> Self {
        Self {
            start,
            schedule,
            num_steps: of.num_steps,
        }
    }

    /// The momentum of a step, from 0.
    pub fn at(&self, step: usize) -> f64 {
        match self.schedule {
            MomentumSchedule::Constant => self.start,
            // A training that is continued beyond its planned length keeps the last value.
            MomentumSchedule::Cosine => cosine_momentum(self.start, step.min(self.num_steps), self.num_steps),
        }
    }

    /// Whether it is the same in all steps.
    pub fn is_constant(&self) -> bool {
        self.schedule == MomentumSchedule::Constant
    }

    /// Moves a slow network towards the trained one.
    pub fn update<M: Module>(&self, slow: M, trained: &M, steps: &Counter) -> M {
        ema_update(slow, trained, self.at(steps.value()))
    }
}
