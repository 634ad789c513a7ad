//! Encoders with split channels and with split norms.

use super::*;
use crate::vision::{
    ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem, ema_target,
    test_values::{assert_close, values, waves},
};
use burn::tensor::Device;

fn config(split_channels: Option<usize>) -> ImageEncoderConfig {
    ImageEncoderConfig {
        trunk: ResNetConfig {
            depth: ResNetDepth::ResNet18,
            stem: Stem::Cifar,
            width: 2,
        },
        head: ProjectionHeadConfig {
            hidden: 6,
            out: 4,
            ..ProjectionHeadConfig::default()
        },
        split_channels,
    }
}

fn split() -> ImageEncoder {
    config(Some(1)).init(0, &Device::flex())
}

/// The images with noise in the given channels.
fn changed(images: &Tensor<4>, channels: std::ops::Range<usize>) -> Tensor<4> {
    let part = images.clone().slice_dim(1, channels.clone());
    images
        .clone()
        .slice_assign([0..3, channels, 0..8, 0..8], part.clone() * part + 1.0)
}

#[test]
fn each_network_reads_its_channels_alone() {
    let images = waves([3, 3, 8, 8], &Device::flex());
    let encoder = split();
    let streams = |images: Tensor<4>| encoder.stream_projections(images, Mode::Eval).map(values);
    let [first, rest] = streams(images.clone());
    let [first_of_other, rest_of_other] = streams(changed(&images, 0..1));
    assert!(first != first_of_other && rest == rest_of_other);
    let [first_of_other, rest_of_other] = streams(changed(&images, 1..3));
    assert!(first == first_of_other && rest != rest_of_other);
}

#[test]
fn networks_have_their_own_initial_values() {
    let encoder = split();
    let rest = encoder.rest.as_ref().expect("a second network");
    let weight = |trunk: &ResNet| values(trunk.layer2[0].conv2.weight.val());
    assert_ne!(weight(&encoder.trunk), weight(&rest.trunk));
    assert_ne!(values(encoder.head.out.weight.val()), values(rest.head.out.weight.val()));
    // The first head equals the head of an encoder of all channels.
    let whole = config(None).init(0, &Device::flex());
    assert_eq!((encoder.trunk.channels_in(), rest.trunk.channels_in()), (1, 2));
    assert_eq!(values(encoder.head.out.weight.val()), values(whole.head.out.weight.val()));
}

#[test]
fn features_are_those_of_both_networks_side_by_side() {
    let images = waves([3, 3, 8, 8], &Device::flex());
    let encoder = split();
    let rest = encoder.rest.as_ref().expect("a second network");
    let mode = Mode::BatchStatistics;
    let first_features = encoder.trunk.forward(images.clone().slice_dim(1, 0..1), mode);
    let rest_features = rest.trunk.forward(images.clone().slice_dim(1, 1..3), mode);
    let features = Tensor::cat(vec![first_features.clone(), rest_features.clone()], 1);
    assert_eq!(values(encoder.raw_features(images.clone(), mode)), values(features.clone()));
    assert_eq!(values(encoder.features(images.clone(), mode)), values(unit_rows(features)));

    let first = encoder.head.forward(first_features, mode);
    let second = rest.head.forward(rest_features, mode);
    let streams = encoder.stream_projections(images.clone(), mode).map(values);
    assert_eq!(streams, [first.clone(), second.clone()].map(|rows| values(unit_rows(rows))));
    let projections = unit_rows(Tensor::cat(vec![first, second], 1));
    assert_eq!(values(encoder.projections(images.clone(), mode)), values(projections.clone()));

    let config = config(Some(1));
    let embeddings = encoder.forward(images, mode);
    assert_eq!(embeddings.features.dims(), [3, config.num_features()]);
    assert_eq!(embeddings.projections.dims(), [3, config.dim()]);
    assert_eq!(values(embeddings.projections), values(projections));
}

#[test]
#[should_panic(expected = "the encoder has one network for all channels")]
fn an_encoder_of_all_channels_has_no_streams() {
    let device = Device::flex();
    config(None)
        .init(0, &device)
        .stream_projections(waves([2, 3, 8, 8], &device), Mode::Eval);
}

#[test]
fn a_number_of_channels_out_of_range_is_refused() {
    for channels in [0, 3] {
        let error = config(Some(channels)).check().expect_err("out of range");
        assert_eq!(error, format!("split_channels is {channels}, but must be in [1, 2]"));
    }
    let text = serde_json::to_string(&config(None)).expect("serialises");
    assert!(!text.contains("split_channels"), "{text}");
}

#[test]
fn split_norms_are_those_of_all_trunks_and_of_no_head() {
    let device = Device::flex();
    let images = waves([4, 3, 16, 16], &device);
    for channels in [None, Some(1)] {
        let encoder = config(channels).init(0, &device);
        let split = encoder.clone().with_split_norms(2);
        let mode = Mode::BatchStatistics;
        let whole = values(encoder.raw_features(images.clone(), mode));
        assert_ne!(values(split.raw_features(images.clone(), mode)), whole);
        assert_eq!(
            values(split.clone().with_split_norms(1).raw_features(images.clone(), mode)),
            whole
        );
        for group in 0..2 {
            let members = Tensor::from_ints([group, group + 2], &device);
            let alone = encoder.raw_features(images.clone().select(0, members.clone()), mode);
            let together = split.raw_features(images.clone(), mode).select(0, members);
            assert_close(&values(together), &values(alone));
        }
        // The head sees the whole batch.
        let features = split
            .trunk
            .forward(images.clone().slice_dim(1, 0..split.trunk.channels_in()), mode);
        assert_eq!(
            values(split.head.forward(features.clone(), mode)),
            values(encoder.head.forward(features, mode))
        );
    }
}

#[test]
fn records_do_not_hold_the_number_of_groups_and_copies_keep_it() {
    let device = Device::flex();
    let (whole, split) = (
        config(None).init(0, &device),
        config(None).init(1, &device).with_split_norms(2),
    );
    let images = waves([4, 3, 8, 8], &device);
    let features = |encoder: &ImageEncoder| values(encoder.raw_features(images.clone(), Mode::BatchStatistics));
    assert_eq!(features(&ema_target(&split)), features(&split));
    let loaded = split.clone().load_record(whole.clone().into_record());
    assert_eq!(features(&loaded), features(&whole.clone().with_split_norms(2)));
    let loaded = whole.load_record(split.clone().into_record());
    assert_eq!(features(&loaded), features(&split.with_split_norms(1)));
}
