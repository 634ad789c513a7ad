//! One measurement, in a process of its own so that its peak memory is its own.

use super::Contender;
use crate::{memory::Meter, spread::median};
use bcl_core::{Scores, Similarity, normalize};
use bcl_train::backend::Backend;
use burn::tensor::{Distribution, Tensor};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What one process measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Forward and backward, milliseconds each.
    pub times_ms: Vec<f64>,
    /// Peak memory above what was held before the first step, MiB: of the process, or of the GPU that computes; absent where the system
    /// does not tell.
    pub extra_mib: Option<f64>,
}

impl Sample {
    /// Measures forward and backward of a loss on in-batch scores, in this process.
    ///
    /// Repeats until `seconds` of measured time have passed, but measures at least once.
    ///
    /// A step takes two batches of unit vectors to their gradients: similarities, loss and backward.
    pub fn measure(contender: &Contender, batch_size: usize, dim: usize, seconds: f64, backend: &Backend) -> Self {
        let device = backend.training_device();
        device.seed(0);
        let [first, second] = [0, 1].map(|_| {
            let view = Tensor::<2>::random([batch_size, dim], Distribution::Normal(0.0, 1.0), &device);
            normalize(view).detach().require_grad()
        });
        let loss = contender.init(batch_size, &first);
        let step = || {
            let scores = Scores::from_views(first.clone(), second.clone(), Similarity::Dot);
            let gradients = loss(scores).backward();
            // Reading both gradients waits for a device that computes in the background.
            [&first, &second].map(|view| view.grad(&gradients).expect("a gradient").into_data())
        };

        let meter = Meter::start(backend);
        step();
        let mut times_ms = Vec::new();
        while times_ms.is_empty() || times_ms.iter().sum::<f64>() < 1e3 * seconds {
            let start = Instant::now();
            step();
            times_ms.push(1e3 * start.elapsed().as_secs_f64());
        }
        Self {
            times_ms,
            extra_mib: meter.extra_mib(),
        }
    }

    /// The median time, milliseconds; not a number where nothing was measured.
    pub(super) fn median_ms(&self) -> f64 {
        median(self.times_ms.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_train::cli::BackendChoice;

    #[test]
    fn every_contender_is_measured_at_least_once() {
        let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
        for contender in Contender::all() {
            let sample = Sample::measure(&contender, 4, 8, 0.0, &backend);
            assert_eq!(sample.times_ms.len(), 1, "{}", contender.name());
        }
    }
}
