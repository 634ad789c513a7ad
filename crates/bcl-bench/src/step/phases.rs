//! The parts of a step.

use serde::{Deserialize, Serialize};

/// Seconds, or shares, of the parts of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Views of the batch's images, made and put on the device.
    pub data: f64,
    /// Both views through the encoder.
    pub forward: f64,
    /// Similarities and the loss, forward.
    pub loss: f64,
    /// Gradients of everything.
    pub backward: f64,
    /// New weights.
    pub optimizer: f64,
}

impl Phases {
    /// Their names and values, in the order of a step.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("data", self.data),
            ("forward", self.forward),
            ("loss", self.loss),
            ("backward", self.backward),
            ("optimizer", self.optimizer),
        ]
    }

    /// The whole step.
    pub fn total(&self) -> f64 {
        self.named().iter().map(|(_, seconds)| seconds).sum()
    }

    /// Each part by a function of many steps' same part.
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
