//! The modules of a file, with its weights.

use super::super::precision::Arithmetic;
use bcl_golden::{
    Array,
    graphs::{Affine, Gin as GoldenGin, GraphBatch, Head, Norm},
};
use bcl_models::{
    graphs::{Gin, GinConfig, GinOrder, GraphInput, ResidualHead},
    vision::{BatchNorm, RunningStatistic},
};
use burn::{
    module::Param,
    nn::Linear,
    tensor::{Tensor, TensorData},
};

pub(super) fn table(array: &Array, arithmetic: &Arithmetic) -> Tensor<2> {
    let data = TensorData::new(array.values.clone(), [array.shape[0], array.shape[1]]);
    Tensor::from_data(data, arithmetic.options())
}

fn row(values: &[f64], arithmetic: &Arithmetic) -> Tensor<1> {
    Tensor::from_data(values, arithmetic.options())
}

/// The features have a gradient.
pub(super) fn input(batch: &GraphBatch, arithmetic: &Arithmetic) -> GraphInput {
    GraphInput::new(
        table(&batch.features, arithmetic).require_grad(),
        &batch.node_offsets,
        batch.edge_offsets.clone(),
        batch.neighbours.clone(),
    )
}

/// Errors say which number of layers or which size is out of range.
pub(super) fn encoder(golden: &GoldenGin, arithmetic: &Arithmetic) -> Result<Gin, String> {
    let config = GinConfig {
        layers: golden.layers.len(),
        hidden: golden.hidden,
        learn_epsilon: golden.learns_epsilon,
        order: if golden.layers[0].inner.is_some() {
            GinOrder::Xu2019
        } else {
            GinOrder::InfoGraph
        },
    };
    config.check()?;
    let mut encoder = config.init(golden.layers[0].first.weight.shape[1], 0, &arithmetic.device);
    for (layer, golden) in encoder.layers.iter_mut().zip(&golden.layers) {
        if !config.learn_epsilon && golden.epsilon != 0.0 {
            return Err(format!("its eps is {}, but must be 0 unless it is learned", golden.epsilon));
        }
        let epsilon = || Param::from_tensor(row(&[golden.epsilon], arithmetic));
        layer.epsilon = config.learn_epsilon.then(epsilon);
        layer.first = linear(&golden.first, arithmetic);
        layer.inner = golden.inner.as_ref().map(|golden| norm(golden, arithmetic));
        layer.second = linear(&golden.second, arithmetic);
        layer.norm = norm(&golden.norm, arithmetic);
    }
    Ok(encoder)
}

pub(super) fn head(golden: &Head, arithmetic: &Arithmetic) -> ResidualHead {
    let mut head = ResidualHead::new(golden.shortcut.bias.len(), 0, &arithmetic.device);
    head.hidden = golden.hidden.iter().map(|layer| linear(layer, arithmetic)).collect();
    head.shortcut = linear(&golden.shortcut, arithmetic);
    head
}

fn linear(golden: &Affine, arithmetic: &Arithmetic) -> Linear {
    // Through the host: a parameter must not be a view of another tensor.
    let weight = table(&golden.weight, arithmetic).transpose().into_data();
    Linear {
        weight: Param::from_tensor(Tensor::from_data(weight, arithmetic.options())),
        bias: Some(Param::from_tensor(row(&golden.bias, arithmetic))),
    }
}

fn norm(golden: &Norm, arithmetic: &Arithmetic) -> BatchNorm {
    let mut norm = BatchNorm::new(golden.gamma.len(), &arithmetic.device);
    norm.weight = Some(Param::from_tensor(row(&golden.gamma, arithmetic)));
    norm.bias = Some(Param::from_tensor(row(&golden.beta, arithmetic)));
    norm.running_mean = RunningStatistic::new(row(&golden.running_mean, arithmetic));
    norm.running_var = RunningStatistic::new(row(&golden.running_var, arithmetic));
    norm
}
