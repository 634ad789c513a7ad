//! One measurement, in its own process so that the peak memory is its own.

use super::{InBatchLoss, LossVariant};
use crate::{memory::Meter, spread::median};
use bcl_backend::Backend;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The measurements of one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Time of the first forward and backward in seconds, which compiles kernels on a GPU.
    pub first_seconds: f64,
    /// Times of all later ones in milliseconds.
    pub times_ms: Vec<f64>,
    /// Peak memory above that before the first step in MiB, of the process or of the GPU that computes; `None` if the system
    /// does not report it.
    pub extra_mib: Option<f64>,
}

impl Sample {
    /// Measures forward and backward of a loss on in-batch scores, in this process.
    ///
    /// Repeats until `seconds` of measured time have passed, at least once.
    pub fn measure(variant: &LossVariant, batch_size: usize, dim: usize, seconds: f64, backend: &Backend) -> Self {
        let loss = InBatchLoss::new(variant, batch_size, dim, &backend.training_device());

        let time = || {
            let start = Instant::now();
            loss.gradients();
            start.elapsed().as_secs_f64()
        };
        let meter = Meter::start(backend);
        let first_seconds = time();
        let mut times_ms = Vec::new();
        while times_ms.is_empty() || times_ms.iter().sum::<f64>() < 1e3 * seconds {
            times_ms.push(1e3 * time());
        }
        Self {
            first_seconds,
            times_ms,
            extra_mib: meter.extra_mib(),
        }
    }

    /// The median time in milliseconds; NaN if nothing was measured.
    pub(super) fn median_ms(&self) -> f64 {
        median(self.times_ms.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_backend::BackendChoice;

    #[test]
    fn every_variant_is_measured_at_least_once() {
        let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
        for variant in LossVariant::all() {
            let sample = Sample::measure(&variant, 4, 8, 0.0, &backend);
            assert_eq!(sample.times_ms.len(), 1, "{}", variant.name());
        }
    }
}
