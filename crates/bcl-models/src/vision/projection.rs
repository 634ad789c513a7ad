//! The projection head, whose outputs the contrastive loss compares.

use super::{
    BatchNorm, Pass,
    activation::HeadActivation,
    head_config::{HeadNorm, ProjectionHeadConfig},
    precision::linear,
};
use crate::{check::panic_if_bad, draws::Draws};
use bcl_collective::Collective;
use burn::{
    module::Module,
    nn::Linear,
    tensor::{Device, Tensor},
};
use std::sync::Arc;

/// A projection head: linear layers, with batch normalisation and an activation in between.
///
/// ```text
/// out(relu(norm(hidden(features))))                                        by default
/// out_norm(out(activation(norm(… activation(norm(hidden(features)))))))    with all that ProjectionHeadConfig offers
/// ```
///
/// A linear layer that is followed by a norm has no bias, because the norm would cancel it. Predictors of BYOL, `SimSiam` and NNCLR
/// have the same form.
///
/// Source: Chen et al., [A Simple Framework for Contrastive Learning of Visual Representations](https://arxiv.org/abs/2002.05709);
/// the default is the form that the released code of DCL, HCL and BCL shares.
#[derive(Module, Debug)]
pub struct ProjectionHead {
    /// First hidden layer, `[num_features, hidden]`; absent in a head of one layer.
    pub hidden: Option<Linear>,
    /// Batch normalisation of the first hidden layer.
    pub norm: Option<BatchNorm>,
    /// Further hidden layers.
    pub middle: Vec<HiddenLayer>,
    /// Last layer, `[hidden, out]`.
    pub out: Linear,
    /// Batch normalisation of the projections.
    pub out_norm: Option<BatchNorm>,
    #[module(skip)]
    activation: HeadActivation,
}

/// A hidden layer of a [`ProjectionHead`] after the first.
#[derive(Module, Debug)]
pub struct HiddenLayer {
    /// `[hidden, hidden]`
    pub linear: Linear,
    /// Batch normalisation of the layer.
    pub norm: Option<BatchNorm>,
}

impl ProjectionHeadConfig {
    /// Builds the head for features of the given size, with initial values determined by the seed.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; use [`check`](Self::check) to test.
    pub fn init(&self, num_features: usize, seed: u64, device: &Device) -> ProjectionHead {
        panic_if_bad(self.check());
        ProjectionHead::new(self, num_features, &mut Draws::new(seed, "head"), device)
    }
}

impl ProjectionHead {
    pub(super) fn new(config: &ProjectionHeadConfig, num_features: usize, draws: &mut Draws, device: &Device) -> Self {
        let ProjectionHeadConfig {
            hidden,
            out,
            layers,
            norm,
            activation,
        } = *config;
        let mut linear = |[size_in, size_out]: [usize; 2], has_norm: bool| Linear {
            weight: draws.linear_uniform([size_in, size_out], size_in, device),
            bias: (!has_norm).then(|| draws.linear_uniform([size_out], size_in, device)),
        };
        let mut hidden_layer = |size_in| HiddenLayer {
            linear: linear([size_in, hidden], norm.is_on_hidden()),
            norm: norm.is_on_hidden().then(|| BatchNorm::new(hidden, device)),
        };
        let first = (layers > 1).then(|| hidden_layer(num_features));
        let middle = (2..layers).map(|_| hidden_layer(hidden)).collect();
        let size_in = if layers > 1 { hidden } else { num_features };
        let (hidden, first_norm) = first.map_or((None, None), |layer| (Some(layer.linear), layer.norm));
        Self {
            hidden,
            norm: first_norm,
            middle,
            out: linear([size_in, out], norm.is_on_out()),
            out_norm: match norm {
                HeadNorm::None | HeadNorm::Hidden => None,
                HeadNorm::All => Some(BatchNorm::new(out, device)),
                HeadNorm::AllPlain => Some(BatchNorm::plain(out, device)),
            },
            activation,
        }
    }

    /// The activation after each hidden layer.
    pub fn activation(&self) -> HeadActivation {
        self.activation
    }

    /// Normalises by the statistics of all processes, or of only this process if `None`; see [`BatchNorm::over_processes`].
    #[must_use]
    pub fn with_norms_over_processes(mut self, processes: Option<&Arc<dyn Collective>>) -> Self {
        for norm in self.norms_mut() {
            norm.set_processes(processes.cloned());
        }
        self
    }

    pub(super) fn norms_mut(&mut self) -> impl Iterator<Item = &mut BatchNorm> {
        let of_middle = self.middle.iter_mut().filter_map(|layer| layer.norm.as_mut());
        self.norm.iter_mut().chain(of_middle).chain(self.out_norm.as_mut())
    }

    /// Computes projections, not normalised to unit length.
    ///
    /// # Shapes
    /// - features: `[batch_size, num_features]`
    /// - output:   `[batch_size, out]`
    pub fn forward(&self, features: Tensor<2>, pass: impl Into<Pass>) -> Tensor<2> {
        let pass = pass.into();
        let apply = |layer: &Linear, norm: Option<&BatchNorm>, rows| self.activation.after(norm, linear(layer, rows), pass);
        let mut rows = features;
        if let Some(hidden) = &self.hidden {
            rows = apply(hidden, self.norm.as_ref(), rows);
        }
        for layer in &self.middle {
            rows = apply(&layer.linear, layer.norm.as_ref(), rows);
        }
        let out = linear(&self.out, rows);
        match &self.out_norm {
            Some(norm) => norm.forward(out, pass),
            None => out,
        }
    }
}

#[cfg(test)]
mod tests;
