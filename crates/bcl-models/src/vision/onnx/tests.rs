//! Decodes models and computes them node by node, with Burn's operations in place of a runtime's.

use super::*;
use crate::vision::{HeadActivation, HeadNorm, ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
use bcl_files::wire::{Value, fields};
use burn::tensor::{Device, Tensor};
use std::collections::{BTreeMap, BTreeSet};

/// All values of a field of a message.
fn all(message: &[u8], number: u32) -> Vec<Value<'_>> {
    let fields = fields(message).expect("a message");
    fields
        .into_iter()
        .filter(|field| field.number == number)
        .map(|field| field.value)
        .collect()
}

fn bytes(message: &[u8], number: u32) -> Vec<&[u8]> {
    all(message, number).into_iter().filter_map(Value::bytes).collect()
}

fn texts(message: &[u8], number: u32) -> Vec<String> {
    bytes(message, number)
        .into_iter()
        .map(|text| String::from_utf8(text.to_vec()).expect("text"))
        .collect()
}

fn ints(message: &[u8], number: u32) -> Vec<i64> {
    all(message, number).into_iter().filter_map(Value::int).collect()
}

/// The axes of a `ValueInfoProto`.
fn axes(value: &[u8]) -> Vec<String> {
    let tensor = bytes(bytes(value, 2)[0], 1)[0];
    let axis = |axis: &&[u8]| texts(axis, 2).pop().unwrap_or_else(|| ints(axis, 1)[0].to_string());
    bytes(bytes(tensor, 2)[0], 1).iter().map(axis).collect()
}

fn encoder(depth: ResNetDepth, stem: Stem, split_channels: Option<usize>, head: ProjectionHeadConfig) -> ImageEncoder {
    let trunk = ResNetConfig { depth, stem, width: 2 };
    let head = ProjectionHeadConfig {
        hidden: 6,
        out: 4,
        ..head
    };
    let config = ImageEncoderConfig {
        trunk,
        head,
        split_channels,
    };
    config.init(3, &Device::flex())
}

fn model(encoder: &ImageEncoder) -> Vec<u8> {
    let options = OnnxOptions {
        projections: true,
        metadata: vec![("side".to_owned(), "32".to_owned())],
    };
    to_onnx(encoder, &options).expect("small")
}

#[test]
fn a_model_says_its_version_axes_and_metadata() {
    let model = model(&encoder(
        ResNetDepth::ResNet50,
        Stem::Cifar,
        None,
        ProjectionHeadConfig::default(),
    ));
    assert_eq!((ints(&model, 1), texts(&model, 2)), (vec![8], vec!["bcl-models".to_owned()]));
    assert_eq!(ints(bytes(&model, 8)[0], 2), [17]);
    let text = bytes(&model, 14)[0];
    assert_eq!(
        (texts(text, 1), texts(text, 2)),
        (vec!["side".to_owned()], vec!["32".to_owned()])
    );
    let graph = bytes(&model, 7)[0];
    let [inputs, outputs] = [11, 12].map(|number| bytes(graph, number));
    let names = |values: &[&[u8]]| values.iter().flat_map(|value| texts(value, 1)).collect::<Vec<_>>();
    assert_eq!(
        (names(&inputs), names(&outputs)),
        (
            vec!["images".to_owned()],
            vec!["features".to_owned(), "projections".to_owned()]
        )
    );
    assert_eq!(axes(inputs[0]), ["batch", "3", "height", "width"]);
    assert_eq!([axes(outputs[0]), axes(outputs[1])], [["batch", "64"], ["batch", "4"]]);
}

#[test]
fn every_input_is_there_before_it_is_used_and_every_name_is_used_once() {
    for depth in [ResNetDepth::ResNet18, ResNetDepth::ResNet34, ResNetDepth::ResNet50] {
        let model = model(&encoder(depth, Stem::Imagenet, Some(1), ProjectionHeadConfig::default()));
        let graph = bytes(&model, 7)[0];
        let mut known = BTreeSet::from([graph::INPUT.to_owned()]);
        for name in bytes(graph, 5).iter().flat_map(|weights| texts(weights, 8)) {
            assert!(known.insert(name.clone()), "{name} is there twice");
        }
        for node in bytes(graph, 1) {
            for input in texts(node, 1) {
                assert!(known.contains(&input), "{input} is missing");
            }
            for output in texts(node, 2) {
                assert!(known.insert(output.clone()), "{output} is there twice");
            }
        }
        assert!(known.contains("features") && known.contains("rest.layer4.0.conv1.weight"));
    }
}

/// The values of a model by name: process 4 for maps, process 2 as `[rows, columns, 1, 1]`.
struct Run(BTreeMap<String, Tensor<4>>);

impl Run {
    /// Computes a model, one node after the other.
    fn of(model: &[u8], images: Tensor<4>) -> Self {
        let device = images.device();
        let graph = bytes(model, 7)[0];
        let mut run = Self(BTreeMap::from([(graph::INPUT.to_owned(), images)]));
        for weights in bytes(graph, 5) {
            let mut shape: Vec<usize> = ints(weights, 1).iter().map(|&size| size as usize).collect();
            let raw = bytes(weights, 9)[0];
            let values: Vec<f32> = if ints(weights, 2) == [1] {
                raw.chunks(4)
                    .map(|four| f32::from_le_bytes(four.try_into().expect("four")))
                    .collect()
            } else {
                raw.chunks(8)
                    .map(|eight| i64::from_le_bytes(eight.try_into().expect("eight")) as f32)
                    .collect()
            };
            assert_eq!(values.len(), shape.iter().product::<usize>());
            shape.resize(4, 1);
            let tensor = Tensor::<1>::from_floats(&values[..], &device).reshape::<4, _>([shape[0], shape[1], shape[2], shape[3]]);
            run.0.insert(texts(weights, 8)[0].clone(), tensor);
        }
        for node in bytes(graph, 1) {
            let value = run.node(node);
            run.0.insert(texts(node, 2)[0].clone(), value);
        }
        run
    }

    fn node(&self, node: &[u8]) -> Tensor<4> {
        let inputs: Vec<Tensor<4>> = texts(node, 1).iter().map(|name| self.0[name].clone()).collect();
        let attribute = |name: &str| {
            let found = bytes(node, 5).into_iter().find(|attribute| texts(attribute, 1) == [name]);
            ints(found.expect("an attribute"), 8)
        };
        let first = inputs[0].clone();
        // A list of channels, against maps and against rows.
        let channels = |index: usize| inputs[index].clone().swap_dims(0, 1);
        let at = |index: usize| inputs[index].clone().into_scalar::<f32>() as usize;
        match texts(node, 4)[0].as_str() {
            "Conv" => {
                let [stride, pad] = ["strides", "pads"].map(|name| attribute(name)[0] as usize);
                bcl_kernels::convolve(first, inputs[1].clone(), stride, pad)
            }
            "BatchNormalization" => (first - channels(3)) / (channels(4) + 1e-5).sqrt() * channels(1) + channels(2),
            "Relu" => burn::tensor::activation::relu(first),
            "Add" => first + inputs[1].clone(),
            "Mul" => first * inputs[1].clone(),
            "Div" => first / inputs[1].clone(),
            "Erf" => first.erf(),
            "MaxPool" => {
                assert_eq!(
                    (attribute("kernel_shape"), attribute("strides"), attribute("pads")),
                    (vec![3; 2], vec![2; 2], vec![1; 4])
                );
                let options = burn::tensor::ops::MaxPoolOptions::new([3, 3])
                    .with_stride([2, 2])
                    .with_padding([1, 1]);
                burn::tensor::module::max_pool2d(first, options)
            }
            "GlobalAveragePool" => first.mean_dim(2).mean_dim(3),
            "Gemm" => {
                let [rows, columns] = [0, 1].map(|index: usize| inputs[index].clone().squeeze_dims::<2>(&[2, 3]));
                let product = rows.matmul(columns).unsqueeze_dims::<4>(&[2, 3]);
                if inputs.len() == 3 { product + channels(2) } else { product }
            }
            "Slice" => first.slice_dim(1, at(1)..at(2)),
            "Concat" => Tensor::cat(inputs, 1),
            "Flatten" | "Identity" => first,
            other => panic!("{other} is not computed here"),
        }
    }

    fn rows(&self, name: &str) -> Tensor<2> {
        self.0[name].clone().squeeze_dims::<2>(&[2, 3])
    }
}

#[test]
fn a_model_computes_what_the_encoder_computes() {
    let gelu = ProjectionHeadConfig {
        layers: 3,
        norm: HeadNorm::AllPlain,
        activation: HeadActivation::Gelu,
        ..ProjectionHeadConfig::default()
    };
    let bare = ProjectionHeadConfig {
        layers: 1,
        norm: HeadNorm::None,
        ..ProjectionHeadConfig::default()
    };
    let cases = [
        (ResNetDepth::ResNet18, Stem::Cifar, None, ProjectionHeadConfig::default()),
        (ResNetDepth::ResNet34, Stem::Imagenet, None, gelu),
        (ResNetDepth::ResNet50, Stem::Cifar, Some(1), bare),
        (
            ResNetDepth::ResNet50,
            Stem::Imagenet,
            Some(2),
            ProjectionHeadConfig::default(),
        ),
    ];
    for (depth, stem, split, head) in cases {
        let encoder = encoder(depth, stem, split, head);
        // Statistics other than 0 and 1.
        let pixels: Vec<f32> = (0..4 * 3 * 21 * 18).map(|index| (index as f32 * 0.37).sin()).collect();
        let images = Tensor::<1>::from_floats(&pixels[..], &Device::flex()).reshape([4, 3, 21, 18]);
        encoder.raw_projections(images.clone(), Mode::Train);
        let run = Run::of(&model(&encoder), images.clone());
        for (name, expected) in [
            ("features", encoder.raw_features(images.clone(), Mode::Eval)),
            ("projections", encoder.raw_projections(images.clone(), Mode::Eval)),
        ] {
            let scale = expected.clone().abs().max().into_scalar::<f32>();
            let distance = (run.rows(name) - expected).abs().max().into_scalar::<f32>();
            assert!(
                scale > 1e-3 && distance < 1e-4 * scale.max(1.0),
                "{name} of {depth:?}: {distance} of {scale}"
            );
        }
    }
}

#[test]
fn projections_are_left_out_unless_asked_for() {
    let encoder = encoder(ResNetDepth::ResNet18, Stem::Cifar, None, ProjectionHeadConfig::default());
    let model = to_onnx(&encoder, &OnnxOptions::default()).expect("small");
    let graph = bytes(&model, 7)[0];
    assert_eq!(bytes(graph, 12).len(), 1);
    assert!(
        bytes(graph, 5)
            .iter()
            .flat_map(|weights| texts(weights, 8))
            .all(|name| !name.contains("head"))
    );
}
