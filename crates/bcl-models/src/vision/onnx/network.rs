//! Encoders as nodes.

use super::graph::{
    Attribute::{Float, Int, Ints},
    Graph, INPUT,
};
use crate::vision::{
    BatchNorm, Block, Convolution, HeadActivation, ImageEncoder, ProjectionHead, ResNet, Stem, batch_norm::EPSILON,
};
use burn::{module::Param, nn::Linear, tensor::Tensor};
use std::f32::consts::SQRT_2;

/// A network of an encoder, and the value that has its features.
pub(super) struct Stream<'a> {
    /// What is in front of the names of its weights.
    prefix: &'static str,
    pub(super) trunk: &'a ResNet,
    pub(super) head: &'a ProjectionHead,
    features: String,
}

/// Adds the trunks.
pub(super) fn streams<'a>(graph: &mut Graph, encoder: &'a ImageEncoder) -> Vec<Stream<'a>> {
    let Some(rest) = &encoder.rest else {
        let features = trunk(graph, "", &encoder.trunk, INPUT.to_owned());
        return vec![Stream {
            prefix: "",
            trunk: &encoder.trunk,
            head: &encoder.head,
            features,
        }];
    };
    let first = encoder.trunk.channels_in() as i64;
    let networks = [
        ("", &encoder.trunk, &encoder.head, [0, first]),
        ("rest.", &rest.trunk, &rest.head, [first, 3]),
    ];
    networks
        .map(|(prefix, network, head, [start, end])| {
            let [start, end] =
                [("start", start), ("end", end)].map(|(name, at)| graph.integers(&format!("{prefix}{name}"), &[at]));
            let axis = graph.integers(&format!("{prefix}axis"), &[1]);
            let images = graph.node("Slice", &[INPUT, &start, &end, &axis], &[]);
            Stream {
                prefix,
                trunk: network,
                head,
                features: trunk(graph, prefix, network, images),
            }
        })
        .into()
}

/// The features of all networks.
pub(super) fn features(graph: &mut Graph, streams: &[Stream]) -> String {
    let features: Vec<String> = streams.iter().map(|stream| stream.features.clone()).collect();
    side_by_side(graph, features)
}

/// Adds the heads.
pub(super) fn projections(graph: &mut Graph, streams: &[Stream]) -> String {
    let projections = streams
        .iter()
        .map(|stream| head(graph, stream.prefix, stream.head, stream.features.clone()))
        .collect();
    side_by_side(graph, projections)
}

fn side_by_side(graph: &mut Graph, rows: Vec<String>) -> String {
    if let [only] = &rows[..] {
        return only.clone();
    }
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    graph.node("Concat", &rows, &[Int("axis", 1)])
}

fn trunk(graph: &mut Graph, prefix: &str, trunk: &ResNet, images: String) -> String {
    let stem = convolution(graph, &format!("{prefix}conv1"), &trunk.conv1, &images);
    let stem = norm(graph, &format!("{prefix}bn1"), &trunk.bn1, &stem);
    let mut hidden = graph.node("Relu", &[&stem], &[]);
    if trunk.config().stem == Stem::Imagenet {
        let window = [
            Ints("kernel_shape", vec![3, 3]),
            Ints("strides", vec![2, 2]),
            Ints("pads", vec![1; 4]),
        ];
        hidden = graph.node("MaxPool", &[&hidden], &window);
    }
    let stages = [&trunk.layer1, &trunk.layer2, &trunk.layer3, &trunk.layer4];
    for (stage, blocks) in (1..).zip(stages) {
        for (index, of_stage) in blocks.iter().enumerate() {
            hidden = block(graph, &format!("{prefix}layer{stage}.{index}"), of_stage, &hidden);
        }
    }
    let pooled = graph.node("GlobalAveragePool", &[&hidden], &[]);
    graph.node("Flatten", &[&pooled], &[Int("axis", 1)])
}

fn block(graph: &mut Graph, name: &str, block: &Block, input: &str) -> String {
    let layers = [
        Some((&block.conv1, &block.bn1)),
        Some((&block.conv2, &block.bn2)),
        block.conv3.as_ref().zip(block.bn3.as_ref()),
    ];
    let mut hidden = input.to_owned();
    for (number, (conv, bn)) in (1..).zip(layers.into_iter().flatten()) {
        if number > 1 {
            hidden = graph.node("Relu", &[&hidden], &[]);
        }
        hidden = convolution(graph, &format!("{name}.conv{number}"), conv, &hidden);
        hidden = norm(graph, &format!("{name}.bn{number}"), bn, &hidden);
    }
    let identity = match &block.downsample {
        None => input.to_owned(),
        Some((conv, bn)) => {
            let reshaped = convolution(graph, &format!("{name}.downsample.0"), conv, input);
            norm(graph, &format!("{name}.downsample.1"), bn, &reshaped)
        }
    };
    let sum = graph.node("Add", &[&hidden, &identity], &[]);
    graph.node("Relu", &[&sum], &[])
}

fn convolution(graph: &mut Graph, name: &str, layer: &Convolution, input: &str) -> String {
    let [_, _, height, width] = layer.weight.dims();
    let weight = parameter(graph, &format!("{name}.weight"), &layer.weight);
    let attributes = [
        Ints("kernel_shape", vec![height as i64, width as i64]),
        Ints("strides", vec![layer.stride as i64; 2]),
        Ints("pads", vec![height as i64 / 2; 4]),
    ];
    graph.node("Conv", &[input, &weight], &attributes)
}

fn norm(graph: &mut Graph, name: &str, layer: &BatchNorm, input: &str) -> String {
    let [mean, variance] = [("running_mean", &layer.running_mean), ("running_var", &layer.running_var)]
        .map(|(part, statistic)| (part, values(statistic.value())));
    let num_channels = mean.1.len();
    let mut of_channels = |part: &str, values: Vec<f32>| graph.floats(&format!("{name}.{part}"), &[num_channels], values);
    let of_parameter = |parameter: &Option<Param<Tensor<1>>>, absent: f32| match parameter {
        Some(parameter) => values(parameter.val()),
        None => vec![absent; num_channels],
    };
    let inputs = [
        input.to_owned(),
        of_channels("weight", of_parameter(&layer.weight, 1.0)),
        of_channels("bias", of_parameter(&layer.bias, 0.0)),
        of_channels(mean.0, mean.1),
        of_channels(variance.0, variance.1),
    ];
    graph.node(
        "BatchNormalization",
        &inputs.each_ref().map(String::as_str),
        &[Float("epsilon", EPSILON as f32)],
    )
}

fn head(graph: &mut Graph, prefix: &str, head: &ProjectionHead, features: String) -> String {
    let first = head.hidden.iter().map(|linear| (linear, head.norm.as_ref()));
    let middle = head.middle.iter().map(|layer| (&layer.linear, layer.norm.as_ref()));
    let mut rows = features;
    for (index, (layer, of_layer)) in first.chain(middle).enumerate() {
        let name = format!("{prefix}head.{index}");
        rows = linear(graph, &name, layer, &rows);
        if let Some(of_layer) = of_layer {
            rows = norm(graph, &format!("{name}.norm"), of_layer, &rows);
        }
        rows = activation(graph, &name, head.activation(), &rows);
    }
    let name = format!("{prefix}head.out");
    let out = linear(graph, &name, &head.out, &rows);
    match &head.out_norm {
        Some(of_out) => norm(graph, &format!("{name}.norm"), of_out, &out),
        None => out,
    }
}

fn linear(graph: &mut Graph, name: &str, layer: &Linear, input: &str) -> String {
    let weight = parameter(graph, &format!("{name}.weight"), &layer.weight);
    let bias = layer
        .bias
        .as_ref()
        .map(|bias| parameter(graph, &format!("{name}.bias"), bias));
    let inputs: Vec<&str> = [input, &weight].into_iter().chain(bias.as_deref()).collect();
    graph.node("Gemm", &inputs, &[])
}

/// Opset 17 has no GELU: `x / 2 (1 + erf(x / √2))`.
fn activation(graph: &mut Graph, name: &str, activation: HeadActivation, input: &str) -> String {
    match activation {
        HeadActivation::Relu => graph.node("Relu", &[input], &[]),
        HeadActivation::Gelu => {
            let [root, one, half] = [("root", SQRT_2), ("one", 1.0), ("half", 0.5)]
                .map(|(part, value)| graph.floats(&format!("{name}.gelu.{part}"), &[], [value]));
            let scaled = graph.node("Div", &[input, &root], &[]);
            let erf = graph.node("Erf", &[&scaled], &[]);
            let twice_phi = graph.node("Add", &[&erf, &one], &[]);
            let twice = graph.node("Mul", &[input, &twice_phi], &[]);
            graph.node("Mul", &[&twice, &half], &[])
        }
    }
}

fn parameter<const D: usize>(graph: &mut Graph, name: &str, parameter: &Param<Tensor<D>>) -> String {
    graph.floats(name, &parameter.dims(), values(parameter.val()))
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
