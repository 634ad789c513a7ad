//! The head between a graph encoder and the loss.

use crate::draws::Draws;
use crate::vision::precision::linear;
use burn::{
    module::Module,
    nn::Linear,
    tensor::{Device, Tensor, activation::relu},
};

/// Number of hidden layers.
const HIDDEN: usize = 3;

/// A head that keeps the size of its input, with a linear shortcut around its layers, as in `InfoGraph`:
///
/// ```text
/// head(x) = [Linear, ReLU] x 3 (x) + Linear(x)
/// ```
///
/// `InfoGraph` has one head for nodes and one for graphs.
///
/// Source: the released code of Sun et al., [InfoGraph](https://arxiv.org/abs/1908.01000).
#[derive(Module, Debug)]
pub struct ResidualHead {
    /// The three layers that ReLU follows, `[dim, dim]`.
    pub hidden: Vec<Linear>,
    /// The shortcut, `[dim, dim]`.
    pub shortcut: Linear,
}

impl ResidualHead {
    /// Builds the head. Weights are Xavier uniform and determined by the seed, biases are 0. Two heads of one model need different seeds.
    pub fn new(dim: usize, seed: u64, device: &Device) -> Self {
        let mut draws = Draws::new(seed, "residual_head");
        let mut layer = || draws.xavier_linear([dim, dim], device);
        Self {
            hidden: (0..HIDDEN).map(|_| layer()).collect(),
            shortcut: layer(),
        }
    }

    /// Computes what the loss compares, not normalised to unit length.
    ///
    /// # Shapes
    /// - input:  `[num_rows, dim]`
    /// - output: `[num_rows, dim]`
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        let shortcut = linear(&self.shortcut, input.clone());
        let hidden = |rows, layer: &Linear| relu(linear(layer, rows));
        self.hidden.iter().fold(input, hidden) + shortcut
    }

    /// Number of trained parameters of a head.
    ///
    /// ```
    /// use bcl_models::graphs::ResidualHead;
    ///
    /// // Two heads for three layers of 32 numbers.
    /// assert_eq!(2 * ResidualHead::num_parameters(96), 74_496);
    /// ```
    pub fn num_parameters(dim: usize) -> u64 {
        let dim = dim as u64;
        (HIDDEN as u64 + 1) * dim * (dim + 1)
    }

    /// Numbers saved for backward per row, besides the input: the outputs of all ReLUs. A lower bound.
    pub fn saved_per_row(dim: usize) -> u64 {
        (HIDDEN * dim) as u64
    }
}
