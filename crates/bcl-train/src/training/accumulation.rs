//! Gradients of several batches for one optimizer step.

use bcl_optim::scaled;
use burn::{
    module::Module,
    optim::{GradientsAccumulator, GradientsParams},
};
use std::mem;

/// Gradients that wait for the optimizer step.
pub(super) struct PendingGradients<M> {
    sum: GradientsAccumulator<M>,
    num_batches: usize,
}

impl<M> Default for PendingGradients<M> {
    fn default() -> Self {
        Self {
            sum: GradientsAccumulator::new(),
            num_batches: 0,
        }
    }
}

impl<M: Module> PendingGradients<M> {
    pub(super) fn is_empty(&self) -> bool {
        self.num_batches == 0
    }

    /// Adds the gradients of a batch. Returns the mean once `num_batches` batches were added, or the epoch ends.
    pub(super) fn add(
        &mut self,
        model: &M,
        gradients: GradientsParams,
        num_batches: usize,
        epoch_ends: bool,
    ) -> Option<GradientsParams> {
        if num_batches == 1 {
            return Some(gradients);
        }
        self.sum.accumulate(model, gradients);
        self.num_batches += 1;
        if self.num_batches < num_batches && !epoch_ends {
            return None;
        }
        let share = (mem::take(&mut self.num_batches) as f64).recip();
        Some(scaled(model, self.sum.grads(), share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::{
        nn::{Linear, LinearConfig},
        tensor::{Device, Tensor},
    };

    /// Gradients of 1 times `factor` for each weight.
    fn gradients(model: &Linear, factor: f64) -> GradientsParams {
        GradientsParams::from_grads((model.weight.val().sum() * factor).backward(), model)
    }

    fn values(model: &Linear, gradients: &GradientsParams) -> Vec<f32> {
        let gradient: Tensor<2> = gradients.get(model.weight.id).unwrap();
        gradient.into_data().iter::<f32>().collect()
    }

    #[test]
    fn a_step_has_the_mean_of_its_batches_and_the_end_of_an_epoch_those_that_are_left() {
        let model = LinearConfig::new(2, 1).with_bias(false).init(&Device::flex().autodiff());
        let mut pending = PendingGradients::default();
        assert!(pending.add(&model, gradients(&model, 1.0), 3, false).is_none());
        assert!(pending.add(&model, gradients(&model, 2.0), 3, false).is_none());
        assert!(!pending.is_empty());
        let mean = pending.add(&model, gradients(&model, 6.0), 3, false).unwrap();
        assert_eq!(values(&model, &mean), [3.0; 2]);
        assert!(pending.is_empty());

        assert!(pending.add(&model, gradients(&model, 1.0), 3, false).is_none());
        let rest = pending.add(&model, gradients(&model, 4.0), 3, true).unwrap();
        assert_eq!(values(&model, &rest), [2.5; 2]);

        let alone = pending.add(&model, gradients(&model, 7.0), 1, false).unwrap();
        assert_eq!(values(&model, &alone), [7.0; 2]);
    }
}
