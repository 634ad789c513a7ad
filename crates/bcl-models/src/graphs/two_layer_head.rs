//! The head of methods that compare views of graphs.

use crate::{draws::Draws, vision::precision::linear};
use burn::{
    module::Module,
    nn::Linear,
    tensor::{Device, Tensor, activation::relu},
};

/// A head of two layers that keeps the size of its input, as in `GraphCL`:
///
/// ```text
/// head(x) = Linear(ReLU(Linear(x)))
/// ```
///
/// Source: You et al., [Graph Contrastive Learning with Augmentations](https://arxiv.org/abs/2010.13902), Section 3.2, and their released code.
#[derive(Module, Debug)]
pub struct TwoLayerHead {
    /// The layer that ReLU follows, `[dim, dim]`.
    pub hidden: Linear,
    /// The last layer, `[dim, dim]`.
    pub out: Linear,
}

impl TwoLayerHead {
    /// Builds the head. Weights are Xavier uniform and determined by the seed, biases are 0.
    pub fn new(dim: usize, seed: u64, device: &Device) -> Self {
        let mut draws = Draws::new(seed, "two_layer_head");
        let mut layer = || draws.xavier_linear([dim, dim], device);
        Self {
            hidden: layer(),
            out: layer(),
        }
    }

    /// Computes what the loss compares, not normalised to unit length.
    ///
    /// # Shapes
    /// - input:  `[num_rows, dim]`
    /// - output: `[num_rows, dim]`
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        linear(&self.out, relu(linear(&self.hidden, input)))
    }

    /// Number of trained parameters.
    ///
    /// ```
    /// use bcl_models::graphs::TwoLayerHead;
    ///
    /// // For three layers of 32 numbers.
    /// assert_eq!(TwoLayerHead::num_parameters(96), 18_624);
    /// ```
    pub fn num_parameters(dim: usize) -> u64 {
        let dim = dim as u64;
        2 * dim * (dim + 1)
    }
}
