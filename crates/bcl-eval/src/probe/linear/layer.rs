//! A linear layer with cross-entropy loss and an explicit gradient. Recording an autodiff graph would take most of the time of such a
//! small model.

use super::LinearProbeConfig;
use bcl_core::matmul;
use bcl_data::Seed;
use burn::{
    optim::{self, AdamConfig, AdamState, Optimizer, decay::WeightDecayConfig},
    tensor::{Device, IndexingUpdateOp, Int, Tensor, TensorData, activation::softmax},
};
use rand::RngExt;

/// Weights of the layer, or the gradient of the loss with respect to them.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    /// W, `[dim, num_classes]`.
    pub(super) weight: Tensor<2>,
    /// b, `[1, num_classes]`.
    pub(super) bias: Tensor<2>,
}

impl Layer {
    /// Initialises the weights uniformly in ±1 / √dim, like a linear layer in `PyTorch`.
    pub(super) fn init(dim: usize, num_classes: usize, seed: Seed, device: &Device) -> Self {
        let bound = 1.0 / (dim as f32).sqrt();
        let draw = |name, shape: [usize; 2]| {
            let mut rng = seed.named(name).rng();
            let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| rng.random_range(-bound..=bound)).collect();
            Tensor::from_data(TensorData::new(values, shape), device)
        };
        Self {
            weight: draw("weight", [dim, num_classes]),
            bias: draw("bias", [1, num_classes]),
        }
    }

    /// Computes the logits `x W + b`.
    ///
    /// # Shapes
    /// - features: `[batch_size, dim]`
    /// - output:   `[batch_size, num_classes]`
    pub(super) fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        matmul(features, self.weight.clone()) + self.bias.clone()
    }

    /// Computes the gradient of the mean cross-entropy.
    ///
    /// ```text
    /// G = (softmax(x W + b) - one_hot(class)) / batch_size       dW = x' G       db = sum of the rows of G
    /// ```
    ///
    /// # Shapes
    /// - features: `[batch_size, dim]`
    /// - classes:  `[batch_size]`
    pub(super) fn gradient(&self, features: Tensor<2>, classes: Tensor<1, Int>) -> Self {
        let [batch_size, _] = features.dims();
        let probabilities = softmax(self.forward(features.clone()), 1);
        let ones = Tensor::full([batch_size, 1], -1.0, &features.device());
        let residuals = probabilities.scatter(1, classes.unsqueeze_dim(1), ones, IndexingUpdateOp::Add) / batch_size as f64;
        Self {
            weight: matmul(features.transpose(), residuals.clone()),
            bias: residuals.sum_dim(0),
        }
    }
}

/// Burn's Adam with its state for the layer.
pub(super) struct Adam {
    rule: optim::Adam,
    learning_rate: f64,
    weight: Option<AdamState<2>>,
    bias: Option<AdamState<2>>,
}

impl Adam {
    pub(super) fn new(config: &LinearProbeConfig) -> Self {
        let decay = WeightDecayConfig::new(config.weight_decay as f32);
        Self {
            rule: AdamConfig::new().with_epsilon(1e-8).with_weight_decay(Some(decay)).build(),
            learning_rate: config.learning_rate,
            weight: None,
            bias: None,
        }
    }

    pub(super) fn step(&mut self, layer: Layer, gradient: Layer) -> Layer {
        let rate = self.learning_rate;
        let (weight, state) = self.rule.step(rate, layer.weight, gradient.weight, self.weight.take());
        self.weight = state;
        let (bias, state) = self.rule.step(rate, layer.bias, gradient.bias, self.bias.take());
        self.bias = state;
        Layer { weight, bias }
    }
}
