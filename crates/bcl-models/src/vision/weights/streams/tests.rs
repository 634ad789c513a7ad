//! Files of encoders with and without split channels, read by both.

use super::*;
use crate::vision::{
    ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem,
    test_values::{values, waves},
    weights::{load_encoder_weights, load_weights},
};
use burn::tensor::Device;
use std::{fs, path::PathBuf};
use tempfile::TempDir;

fn encoder(split_channels: Option<usize>, seed: u64) -> ImageEncoder {
    let config = ImageEncoderConfig {
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
    };
    config.init(seed, &Device::flex())
}

fn saved(encoder: &ImageEncoder) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trunks.safetensors");
    fs::write(&path, trunks_to_safetensors(encoder).expect("readable")).expect("writes");
    (folder, path)
}

fn features(encoder: &ImageEncoder) -> Vec<f32> {
    values(encoder.raw_features(waves([2, 3, 8, 8], &Device::flex()), Mode::Eval))
}

#[test]
fn both_trunks_are_restored() {
    let first = encoder(Some(1), 1);
    first.raw_features(waves([2, 3, 8, 8], &Device::flex()), Mode::Train);
    let (_folder, path) = saved(&first);
    let (loaded, report) = load_trunks(encoder(Some(1), 2), &path, None).expect("loads");
    assert_eq!(features(&loaded), features(&first));
    assert_eq!(report.loaded.len(), 200);
    assert!(report.loaded.contains(&"conv1.weight".to_owned()) && report.loaded.contains(&"rest.conv1.weight".to_owned()));
    assert!(report.skipped.is_empty() && report.prefixes.is_empty(), "{report:?}");
    // Heads are not in the file.
    assert_eq!(
        values(loaded.head.out.weight.val()),
        values(encoder(Some(1), 2).head.out.weight.val())
    );
}

#[test]
fn a_single_trunk_has_torchvisions_names_alone() {
    let first = encoder(None, 1);
    let (_folder, path) = saved(&first);
    let (loaded, report) = load_trunks(encoder(None, 2), &path, None).expect("loads");
    let (trunk, of_trunk) = load_weights(encoder(None, 3).trunk, &path).expect("loads");
    assert_eq!(features(&loaded), features(&first));
    assert_eq!(values(trunk.conv1.weight.val()), values(first.trunk.conv1.weight.val()));
    assert_eq!(report, of_trunk);
    assert_eq!(report.loaded.len(), 100);
}

#[test]
fn a_file_of_one_network_is_refused_for_two() {
    let (_folder, path) = saved(&encoder(None, 1));
    for error in [
        load_trunks(encoder(Some(1), 2), &path, None).expect_err("one network"),
        load_encoder_weights(encoder(Some(1), 2), &path, None).expect_err("one network"),
    ] {
        assert!(matches!(error, WeightsError::OneNetwork { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.contains("trunks.safetensors has one network") && text.contains("remove encoder.split_channels"),
            "{text}"
        );
    }
}

#[test]
fn a_file_of_two_networks_is_refused_for_one_and_for_another_split() {
    let (_folder, path) = saved(&encoder(Some(2), 1));
    for split_channels in [None, Some(1)] {
        let error = load_trunks(encoder(split_channels, 2), &path, None)
            .expect_err("another split")
            .to_string();
        assert!(error.contains("tensor conv1.weight has shape [2, 2, 3, 3]"), "{error}");
        assert!(error.contains("encoder.split_channels to 2"), "{error}");
    }
}
