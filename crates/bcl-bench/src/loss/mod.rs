//! The losses to time: forward and backward on in-batch scores.

mod in_batch;
mod variant;

pub use in_batch::InBatchLoss;
pub use variant::LossVariant;

use crate::timing::Case;
use burn::tensor::Device;
use std::cell::LazyCell;

/// Assumed number of tensors of the largest size in one step.
const ASSUMED_TENSORS: f64 = 24.0;

/// Forward and backward of a loss on a device that tracks gradients, with `2 B` anchors and `2 B - 2` negatives each for a batch size of `B`.
pub fn case(variant: &LossVariant, batch_size: usize, dim: usize, device: &Device) -> Case<'static> {
    // The size of the largest tensors: scores, or embeddings where there are no scores.
    let row = if variant.needs_scores(batch_size, device) {
        2 * batch_size - 2
    } else {
        dim
    };
    let mib = ASSUMED_TENSORS * 4.0 * (2 * batch_size * row) as f64 / f64::from(1 << 20);
    let (name, variant, device) = (
        format!("{} batch {batch_size}", variant.name()),
        variant.clone(),
        device.clone(),
    );
    let loss = LazyCell::new(move || InBatchLoss::new(&variant, batch_size, dim, &device));
    Case::new(name, move || drop(loss.gradients())).needing(mib)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::{Plan, measure};
    use bcl_backend::{Backend, BackendChoice};

    #[test]
    fn every_variant_is_measured() {
        let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
        let plan = Plan::of_turns(1, 1);
        let cases = LossVariant::all()
            .iter()
            .map(|variant| case(variant, 4, 8, &backend.training_device()))
            .collect();
        let measured = measure(cases, &plan, &backend);
        assert!(measured.iter().all(|one| one.repetitions == 1), "{measured:?}");
    }
}
