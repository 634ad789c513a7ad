//! The parts of a step.

use serde::{Deserialize, Serialize};

/// Times of the parts of a step in seconds, or their shares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Making the views of the batch and copying them to the device.
    pub data: f64,
    /// Encoding all views.
    pub forward: f64,
    /// Similarities, or whatever else a method compares, and the loss, forward.
    pub loss: f64,
    /// Computing all gradients.
    pub backward: f64,
    /// Updating the weights and the memory of the method.
    pub optimizer: f64,
}

impl Phases {
    /// Names and values, in the order of a step.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("data", self.data),
            ("forward", self.forward),
            ("loss", self.loss),
            ("backward", self.backward),
            ("optimizer", self.optimizer),
        ]
    }

    /// The time of the whole step.
    pub fn total(&self) -> f64 {
        self.named().iter().map(|(_, seconds)| seconds).sum()
    }

    /// Combines many steps into one by applying a function to each part.
    pub(super) fn combine(steps: &[Self], by: impl Fn(Vec<f64>) -> f64) -> Self {
        let of = |part: fn(&Self) -> f64| by(steps.iter().map(part).collect());
        Self {
            data: of(|step| step.data),
            forward: of(|step| step.forward),
            loss: of(|step| step.loss),
            backward: of(|step| step.backward),
            optimizer: of(|step| step.optimizer),
        }
    }
}
