//! The projection head, whose outputs the contrastive loss compares.

use super::{BatchNorm, Mode, config::ProjectionHeadConfig, draws::Draws, precision::linear};
use burn::{
    module::Module,
    nn::Linear,
    tensor::{Device, Tensor},
};

/// A projection head of two linear layers with batch normalisation and ReLU between: `out(relu(norm(hidden(features))))`.
///
/// The hidden layer has no bias, because the normalisation would cancel it.
///
/// Source: Chen et al., [A Simple Framework for Contrastive Learning of Visual Representations](https://arxiv.org/abs/2002.05709),
/// in the form that the released code of DCL, HCL and BCL shares.
#[derive(Module, Debug)]
pub struct ProjectionHead {
    /// `[num_features, hidden]`, without a bias.
    pub hidden: Linear,
    /// Batch normalisation of the hidden layer.
    pub norm: BatchNorm,
    /// `[hidden, out]`, with a bias.
    pub out: Linear,
}

impl ProjectionHead {
    pub(super) fn new(config: &ProjectionHeadConfig, num_features: usize, draws: &mut Draws, device: &Device) -> Self {
        let ProjectionHeadConfig { hidden, out } = *config;
        Self {
            hidden: Linear {
                weight: draws.linear_uniform([num_features, hidden], num_features, device),
                bias: None,
            },
            norm: BatchNorm::new(hidden, device),
            out: Linear {
                weight: draws.linear_uniform([hidden, out], hidden, device),
                bias: Some(draws.linear_uniform([out], hidden, device)),
            },
        }
    }

    /// Computes projections, not normalised.
    ///
    /// # Shapes
    /// - features: `[batch_size, num_features]`
    /// - output:   `[batch_size, out]`
    pub fn forward(&self, features: Tensor<2>, mode: Mode) -> Tensor<2> {
        let hidden = self.norm.forward_relu(linear(&self.hidden, features), mode);
        linear(&self.out, hidden)
    }
}
