//! The forms of heads that frameworks use.

use super::*;
use crate::vision::{
    Mode,
    test_values::{assert_close, values, waves},
};
use burn::tensor::activation::relu;

const FEATURES: usize = 5;

fn head(layers: usize, norm: HeadNorm, activation: HeadActivation) -> ProjectionHead {
    let config = ProjectionHeadConfig {
        hidden: 7,
        out: 4,
        layers,
        norm,
        activation,
    };
    config.init(FEATURES, 3, &Device::flex().autodiff())
}

/// Scale, shift and running statistics of a norm.
const fn norm(num_channels: usize) -> usize {
    4 * num_channels
}

/// Parameters of a linear layer with a bias.
const fn biased(size_in: usize, size_out: usize) -> usize {
    (size_in + 1) * size_out
}

/// Parameters of a linear layer without a bias.
const fn unbiased(size_in: usize, size_out: usize) -> usize {
    size_in * size_out
}

#[test]
fn a_layer_has_a_bias_unless_a_norm_follows() {
    use HeadNorm::{All, AllPlain, Hidden, None};
    let plain = 2 * 4;
    let cases = [
        (1, None, biased(5, 4)),
        (1, Hidden, biased(5, 4)),
        (1, All, unbiased(5, 4) + norm(4)),
        (2, None, biased(5, 7) + biased(7, 4)),
        (2, Hidden, unbiased(5, 7) + norm(7) + biased(7, 4)),
        (2, All, unbiased(5, 7) + norm(7) + unbiased(7, 4) + norm(4)),
        (2, AllPlain, unbiased(5, 7) + norm(7) + unbiased(7, 4) + plain),
        (4, None, biased(5, 7) + 2 * biased(7, 7) + biased(7, 4)),
        (4, Hidden, unbiased(5, 7) + 2 * unbiased(7, 7) + 3 * norm(7) + biased(7, 4)),
    ];
    for (layers, norm, count) in cases {
        let head = head(layers, norm, HeadActivation::Relu);
        assert_eq!(head.num_params(), count, "{layers} layers, {norm:?}");
        let output = head.forward(waves([3, FEATURES], &Device::flex().autodiff()), Mode::Train);
        assert_eq!(output.dims(), [3, 4]);
    }
}

#[test]
fn a_head_of_one_layer_is_linear() {
    let head = head(1, HeadNorm::None, HeadActivation::Relu);
    let features = waves([3, FEATURES], &Device::flex().autodiff());
    let bias = head.out.bias.as_ref().expect("a bias").val().unsqueeze::<2>();
    let expected = features.clone().matmul(head.out.weight.val()) + bias;
    assert_close(&values(head.forward(features, Mode::Train)), &values(expected));
}

#[test]
fn layers_without_norms_are_followed_by_relu_alone() {
    let head = head(3, HeadNorm::None, HeadActivation::Relu);
    let features = waves([3, FEATURES], &Device::flex().autodiff());
    let hidden = relu(linear(head.hidden.as_ref().expect("one"), features.clone()));
    let hidden = relu(linear(&head.middle[0].linear, hidden));
    let expected = linear(&head.out, hidden);
    assert_eq!(values(head.forward(features, Mode::Train)), values(expected));
}

#[test]
fn a_norm_on_the_output_standardises_each_column() {
    for norm in [HeadNorm::All, HeadNorm::AllPlain] {
        let head = head(2, norm, HeadActivation::Relu);
        let output = head.forward(waves([8, FEATURES], &Device::flex().autodiff()), Mode::Train);
        assert_close(&values(output.clone().mean_dim(0)), &[0.0; 4]);
        for square in values(output.square().mean_dim(0)) {
            assert!((square - 1.0).abs() < 0.01, "{square}");
        }
    }
}

#[test]
fn gelu_lets_small_negative_numbers_pass() {
    let features = waves([3, FEATURES], &Device::flex().autodiff());
    for norm in [HeadNorm::None, HeadNorm::Hidden] {
        let [relu, gelu] = [HeadActivation::Relu, HeadActivation::Gelu].map(|activation| head(2, norm, activation));
        assert_eq!(values(relu.out.weight.val()), values(gelu.out.weight.val()));
        let [relu, gelu] = [relu, gelu].map(|head| values(head.forward(features.clone(), Mode::Train)));
        assert_ne!(relu, gelu);
    }
}

#[test]
fn every_parameter_of_a_deep_head_is_trained() {
    let head = head(4, HeadNorm::All, HeadActivation::Gelu);
    let output = head.forward(waves([6, FEATURES], &Device::flex().autodiff()), Mode::Train);
    let gradients = output.powi_scalar(3).sum().backward();
    let weights = head.middle.iter().map(|layer| &layer.linear.weight);
    for weight in weights.chain([&head.out.weight, &head.hidden.as_ref().expect("one").weight]) {
        let gradient = values(weight.val().grad(&gradients).expect("a gradient"));
        assert!(gradient.iter().any(|value| value.abs() > 1e-6));
    }
}

#[test]
fn defaults_are_neither_written_nor_needed() {
    let default = ProjectionHeadConfig::default();
    let text = r#"{"hidden":512,"out":128}"#;
    assert_eq!(serde_json::to_string(&default).expect("serialises"), text);
    assert_eq!(
        serde_json::from_str::<ProjectionHeadConfig>(text).expect("well-formed"),
        default
    );

    let text = r#"{"hidden":8,"out":4,"layers":3,"norm":"all_plain","activation":"gelu"}"#;
    let config: ProjectionHeadConfig = serde_json::from_str(text).expect("well-formed");
    assert_eq!(
        (config.layers, config.norm, config.activation),
        (3, HeadNorm::AllPlain, HeadActivation::Gelu)
    );
    assert_eq!(serde_json::to_string(&config).expect("serialises"), text);
}

#[test]
fn a_number_of_layers_out_of_range_is_refused() {
    for layers in [0, 5] {
        let config = ProjectionHeadConfig {
            layers,
            ..ProjectionHeadConfig::default()
        };
        assert_eq!(
            config.check().expect_err("out of range"),
            format!("layers is {layers}, but must be in [1, 4]")
        );
    }
}
