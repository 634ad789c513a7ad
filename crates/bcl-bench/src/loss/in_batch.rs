//! The function that is timed: a loss on in-batch scores.

use super::LossVariant;
use bcl_core::{Pairs, Similarity, unit_rows};
use burn::tensor::{Device, Distribution, Tensor, TensorData};

/// Two batches of random unit vectors, and a loss on the similarities between them.
pub struct InBatchLoss {
    views: [Tensor<2>; 2],
    loss: Box<dyn Fn(Pairs) -> Tensor<1>>,
}

impl InBatchLoss {
    /// Draws the same vectors every time, on a device that tracks gradients.
    ///
    /// # Shapes
    /// - each batch: `[batch_size, dim]`
    pub fn new(variant: &LossVariant, batch_size: usize, dim: usize, device: &Device) -> Self {
        device.seed(0);
        let views = [0, 1].map(|_| {
            let view = Tensor::<2>::random([batch_size, dim], Distribution::Normal(0.0, 1.0), device);
            unit_rows(view).detach().require_grad()
        });
        let loss = variant.init(batch_size, &views[0]);
        Self { views, loss }
    }

    /// Computes similarities and loss. Reading the result waits for devices that compute in the background.
    pub fn forward(&self) -> TensorData {
        self.compute().into_data()
    }

    /// Computes similarities, loss and the gradients of both batches.
    pub fn gradients(&self) -> [TensorData; 2] {
        let gradients = self.compute().backward();
        self.views
            .each_ref()
            .map(|view| view.grad(&gradients).expect("a gradient").into_data())
    }

    fn compute(&self) -> Tensor<1> {
        let [first, second] = self.views.clone();
        (self.loss)(Pairs::from_views(first, second, Similarity::Dot).with_least_similarity(-1.0))
    }
}
