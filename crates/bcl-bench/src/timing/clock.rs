//! A clock for the parts of a training step.

use burn::tensor::Device;
use std::time::Instant;

/// A clock that is read after each part of a step.
pub(crate) struct Clock {
    device: Device,
    last: Instant,
}

impl Clock {
    pub(crate) fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            last: Instant::now(),
        }
    }

    /// Seconds since the last lap, including the time until a device that computes in the background is done.
    pub(crate) fn lap(&mut self) -> f64 {
        self.device.sync().expect("the device computes");
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        seconds
    }
}
