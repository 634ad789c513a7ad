//! Loaded weights against PyTorch.
//!
//! The files under `fixtures` were computed with PyTorch 2.15.0 by a script that builds torchvision's `ResNet` with few channels and the
//! encoder of the released code: a Sequential `f` of all the `ResNet`'s children but the classifier and max-pooling, and the head `g` of
//! Linear without bias, `BatchNorm1d`, `ReLU`, Linear. With seed 20240607, convolutions are initialised as in torchvision; the scales,
//! shifts and running statistics of the normalisations differ from 1 and 0. The i-th value of the images is `sin(0.37 i)`.
//!
//! - `resnet50-torchvision-names.safetensors`: depth 50, `ImageNet` stem, width 1, 5 classes; its `state_dict`.
//! - `resnet18-released-names.pth`: depth 18, CIFAR stem, width 2, head 6 to 4; its `state_dict` with `module.` before each name, as
//!   `DataParallel` leaves it.
//! - `pytorch-reference.json`: features of the first for 2 images of 40x40 in eval mode; features and projections of the second for 3
//!   images of 12x12 in eval mode, then projections of one pass in train mode, and running statistics after it.

use bcl_models::vision::{
    ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem,
    weights::{WeightsError, load_encoder_weights, load_trunks, load_weights, to_safetensors},
};
use burn::tensor::{Device, Tensor, TensorData};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn reference() -> HashMap<String, Vec<f32>> {
    serde_json::from_str(&fs::read_to_string(fixture("pytorch-reference.json")).expect("readable")).expect("well-formed")
}

fn images(count: usize, size: usize, device: &Device) -> Tensor<4> {
    let shape = [count, 3, size, size];
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|i: usize| (i as f64 * 0.37).sin() as f32)
        .collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn assert_close(got: &[f32], want: &[f32]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= 1e-4 * (1.0 + want.abs()), "{got} is not {want}");
    }
}

fn torchvision() -> ResNetConfig {
    ResNetConfig {
        depth: ResNetDepth::ResNet50,
        stem: Stem::Imagenet,
        width: 1,
    }
}

fn released() -> ImageEncoderConfig {
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
        ..ImageEncoderConfig::default()
    }
}

#[test]
fn features_of_torchvision_weights_are_those_of_pytorch() {
    let device = Device::flex();
    let path = fixture("resnet50-torchvision-names.safetensors");
    let (trunk, report) = load_weights(torchvision().init(0, &device), &path).expect("loads");
    assert_close(
        &values(trunk.forward(images(2, 40, &device), Mode::Eval)),
        &reference()["torchvision_features"],
    );
    assert_eq!(report.loaded.len(), 53 * 5);
    assert!(report.skipped.contains(&"fc.weight".to_owned()) && report.skipped.contains(&"fc.bias".to_owned()));
    assert!(
        report
            .skipped
            .iter()
            .all(|name| name.starts_with("fc.") || name.ends_with("num_batches_tracked"))
    );
}

#[test]
fn embeddings_of_released_weights_are_those_of_pytorch() {
    let device = Device::flex();
    let reference = reference();
    let path = fixture("resnet18-released-names.pth");
    let (encoder, report) = load_encoder_weights(released().init(0, &device), &path, None).expect("loads");
    let images = images(3, 12, &device);

    let embeddings = encoder.forward(images.clone(), Mode::Eval);
    assert_close(&values(embeddings.features), &reference["released_features"]);
    assert_close(&values(embeddings.projections), &reference["released_projections"]);
    assert!(report.skipped.iter().all(|name| name.ends_with("num_batches_tracked")));

    let (trunk, report) = load_weights(released().trunk.init(0, &device), &path).expect("loads");
    assert_close(&values(trunk.forward(images, Mode::Eval)), &reference["released_raw"]);
    assert!(report.skipped.contains(&"module.g.3.bias".to_owned()));
}

#[test]
fn a_pass_in_train_mode_leaves_the_running_statistics_of_pytorch() {
    let reference = reference();
    for device in [Device::flex(), Device::flex().autodiff()] {
        let path = fixture("resnet18-released-names.pth");
        let (encoder, _) = load_encoder_weights(released().init(0, &device), &path, None).expect("loads");
        let projections = encoder.projections(images(3, 12, &device), Mode::Train);
        assert_close(&values(projections), &reference["trained_projections"]);
        let mean = encoder.trunk.layer1[0].bn1.running_mean.value();
        assert_close(&values(mean), &reference["trained_running_mean"]);
        let downsample = encoder.trunk.layer4[0]
            .downsample
            .as_ref()
            .expect("one where the shape changes");
        assert_close(&values(downsample.1.running_var.value()), &reference["trained_running_var"]);
        let norm = encoder.head.norm.as_ref().expect("a norm");
        assert_close(&values(norm.running_var.value()), &reference["trained_head_var"]);
    }
}

#[test]
fn saved_weights_are_loaded_again() {
    let device = Device::flex();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trunk.safetensors");
    let saved = released().trunk.init(1, &device);
    saved.forward(images(3, 12, &device), Mode::Train);
    fs::write(&path, to_safetensors(&saved).expect("readable")).expect("writable");

    let other = released().trunk.init(2, &device.autodiff());
    let (loaded, report) = load_weights(other, &path).expect("reads");
    assert!(report.skipped.is_empty());
    let device = Device::flex().autodiff();
    let [saved, loaded] = [
        saved.forward(images(2, 12, &Device::flex()), Mode::Eval),
        loaded.forward(images(2, 12, &device), Mode::Eval),
    ];
    assert_eq!(values(saved), values(loaded));
}

#[test]
fn loading_into_a_clone_leaves_the_original_alone() {
    let device = Device::flex();
    let original = released().init(0, &device);
    let before = values(original.features(images(2, 12, &device), Mode::Eval));
    load_encoder_weights(original.clone(), &fixture("resnet18-released-names.pth"), None).expect("loads");
    assert_eq!(values(original.features(images(2, 12, &device), Mode::Eval)), before);
}

#[test]
fn a_network_of_another_width_is_refused_with_the_one_to_build() {
    let config = ResNetConfig {
        width: 2,
        ..torchvision()
    };
    let path = fixture("resnet50-torchvision-names.safetensors");
    let error = load_weights(config.init(0, &Device::flex()), &path).expect_err("another width");
    let text = error.to_string();
    assert!(matches!(error, WeightsError::Shape { .. }));
    for part in [
        "resnet50-torchvision-names.safetensors",
        "tensor conv1.weight has shape [1, 3, 7, 7]",
        "the network's has [2, 3, 7, 7]",
        "depth = 50, stem = \"imagenet\", width = 1",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn torchvision_weights_are_refused_under_the_small_stem_with_both_shapes() {
    let config = ResNetConfig {
        stem: Stem::Cifar,
        ..torchvision()
    };
    let path = fixture("resnet50-torchvision-names.safetensors");
    let text = load_weights(config.init(0, &Device::flex()), &path)
        .expect_err("another stem")
        .to_string();
    for part in [
        "tensor conv1.weight has shape [1, 3, 7, 7]",
        "the network's has [1, 3, 3, 3]",
        "stem = \"imagenet\", width = 1: set encoder.trunk to that",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_deeper_network_than_the_file_is_refused() {
    let config = ResNetConfig {
        depth: ResNetDepth::ResNet34,
        ..released().trunk
    };
    let error = load_weights(config.init(0, &Device::flex()), &fixture("resnet18-released-names.pth")).expect_err("too deep");
    let text = error.to_string();
    assert!(matches!(error, WeightsError::Missing { .. }));
    assert!(
        text.contains("has no tensor layer1.2.") && text.contains("depth = 18"),
        "{text}"
    );
}

#[test]
fn a_file_of_a_deeper_network_is_refused_although_its_first_blocks_fit() {
    let (device, folder) = (Device::flex(), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("deep.safetensors");
    let deep = ResNetConfig {
        depth: ResNetDepth::ResNet34,
        ..released().trunk
    };
    fs::write(&path, to_safetensors(&deep.init(0, &device)).expect("readable")).expect("writable");
    let error = load_weights(released().trunk.init(0, &device), &path).expect_err("too deep a file");
    let text = error.to_string();
    assert!(matches!(error, WeightsError::Surplus { .. }));
    for part in ["deep.safetensors", "tensor layer1.2.", "depth = 34"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_file_without_a_network_is_refused() {
    let device = Device::flex();
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["text.safetensors", "text.pth", "missing.pth", "missing.safetensors"] {
        let path = folder.path().join(name);
        if name.starts_with("text") {
            fs::write(&path, "no weights").expect("writes");
        }
        let error = load_weights(torchvision().init(0, &device), &path).expect_err("no weights");
        assert!(matches!(error, WeightsError::Read { .. }), "{error:?}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let cut = folder.path().join("cut.pth");
    let whole = fs::read(fixture("resnet18-released-names.pth")).expect("readable");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("writes");
    let error = load_weights(released().trunk.init(0, &device), &cut).expect_err("half a file");
    assert!(error.to_string().contains("cut.pth"), "{error}");
}

#[test]
fn a_checkpoint_without_a_head_is_refused_for_a_whole_encoder() {
    let config = ImageEncoderConfig {
        trunk: torchvision(),
        ..released()
    };
    let path = fixture("resnet50-torchvision-names.safetensors");
    let error = load_encoder_weights(config.init(0, &Device::flex()), &path, None).expect_err("no head");
    assert!(
        error
            .to_string()
            .contains("has no tensor head.hidden.weight of shape [6, 32]"),
        "{error}"
    );
}

/// Writes a trunk to `path`, with a changed header and extra bytes after its values.
fn write_changed(path: &Path, extra: &[u8], change: impl FnOnce(&mut serde_json::Value, usize)) {
    let file = to_safetensors(&released().trunk.init(0, &Device::flex())).expect("readable");
    let (length, rest) = file.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("8 bytes")) as usize;
    let (header, values) = rest.split_at(length);
    let mut header = serde_json::from_slice(header).expect("well-formed");
    change(&mut header, values.len());
    let header = header.to_string();
    let header = format!("{header:<width$}", width = header.len().next_multiple_of(8));
    let parts = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), values, extra];
    fs::write(path, parts.concat()).expect("writes");
}

#[test]
fn half_precision_is_widened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("half.safetensors");
    // 1.5 and -2 in half precision replace the first normalisation's scales.
    write_changed(&path, &[0x00, 0x3e, 0x00, 0xc0], |header, end| {
        header["total_ops"] = header["bn1.weight"].take();
        header["bn1.weight"] = serde_json::json!({ "dtype": "F16", "shape": [2], "data_offsets": [end, end + 4] });
    });
    let (trunk, report) = load_weights(released().trunk.init(1, &Device::flex()), &path).expect("loads");
    let scales = trunk.bn1.weight.as_ref().expect("a scale").val();
    assert_eq!(scales.dtype(), trunk.conv1.weight.val().dtype());
    assert_eq!(values(scales), [1.5, -2.0]);
    assert_eq!(report.skipped, ["total_ops"]);
}

#[test]
fn a_tensor_of_whole_numbers_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole.safetensors");
    write_changed(&path, &[], |header, _| header["bn1.weight"]["dtype"] = "I32".into());
    let error = load_weights(released().trunk.init(1, &Device::flex()), &path).expect_err("whole numbers");
    assert!(matches!(error, WeightsError::Kind { .. }), "{error:?}");
    assert!(error.to_string().contains("tensor bn1.weight has type I32"), "{error}");
}

/// Renames the tensors of a file, as other code would.
fn rename(header: &mut serde_json::Value, name: impl Fn(&str) -> String) {
    let tensors = std::mem::take(header.as_object_mut().expect("a header is an object"));
    let renamed = tensors.into_iter().map(|(known, tensor)| match known.as_str() {
        "__metadata__" => (known, tensor),
        _ => (name(&known), tensor),
    });
    *header = serde_json::Value::Object(renamed.collect());
}

#[test]
fn prefixes_of_wrapping_modules_are_removed_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wrapped.safetensors");
    for prefix in [
        "model.",
        "state_dict.backbone.",
        "state_dict.module.encoder.",
        "model_state_dict.model.",
    ] {
        write_changed(&path, &[], |header, end| {
            rename(header, |name| format!("{prefix}{name}"));
            header[format!("{prefix}projector.0.weight")] =
                serde_json::json!({ "dtype": "F32", "shape": [0], "data_offsets": [end, end] });
        });
        let (trunk, report) = load_weights(released().trunk.init(1, &Device::flex()), &path).expect("loads");
        let expected = released().trunk.init(0, &Device::flex());
        assert_eq!(values(trunk.conv1.weight.val()), values(expected.conv1.weight.val()));
        assert_eq!(report.prefixes, [prefix]);
        assert_eq!(report.skipped, [format!("{prefix}projector.0.weight")]);
        assert!(report.unknown.is_empty() && report.others.is_empty(), "{report:?}");
    }
}

/// The place of each module in a Sequential of torchvision's modules, with max-pooling.
fn numbered(name: &str) -> String {
    let (module, rest) = name.split_once('.').expect("a module and its tensor");
    let place = match module {
        "conv1" => 0,
        "bn1" => 1,
        layer => {
            layer
                .strip_prefix("layer")
                .and_then(|layer| layer.parse::<usize>().ok())
                .expect("a layer")
                + 3
        }
    };
    format!("{place}.{rest}")
}

/// Writes the trunk of `write_changed` under the names of the first function, and a network of zeros under the names of the second one.
fn write_two(path: &Path, first: impl Fn(&str) -> String, second: impl Fn(&str) -> String) {
    let length = {
        let mut length = 0;
        write_changed(path, &[], |_, end| length = end);
        length
    };
    write_changed(path, &vec![0; length], |header, end| {
        let mut other = header.clone();
        rename(header, first);
        rename(&mut other, second);
        for (name, mut tensor) in std::mem::take(other.as_object_mut().expect("an object")) {
            if let Some(offsets) = tensor.get_mut("data_offsets") {
                let moved = offsets
                    .as_array()
                    .expect("two")
                    .iter()
                    .map(|offset| offset.as_u64().expect("a number") + end as u64);
                *offsets = moved.collect::<Vec<_>>().into();
                header[name] = tensor;
            }
        }
    });
}

/// Cases weights-lightly-sequential, and names of torch.compile, Lightning and `SupContrast`.
#[test]
fn names_of_other_frameworks_are_read() {
    type Naming = fn(&str) -> String;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.safetensors");
    let names: [(&str, Naming); 8] = [
        ("_orig_mod.", |name| format!("_orig_mod.{name}")),
        ("state_dict.model._orig_mod.", |name| {
            format!("state_dict.model._orig_mod.{name}")
        }),
        ("state_dict.net.", |name| format!("state_dict.net.{name}")),
        ("model.encoder.module.", |name| {
            format!("model.encoder.module.{}", name.replace("downsample", "shortcut"))
        }),
        ("state_dict.backbone.", |name| {
            format!("state_dict.backbone.{}", numbered(name))
        }),
        ("", numbered),
        ("classy_state_dict.trunk._feature_blocks.", |name| {
            format!("classy_state_dict.trunk._feature_blocks.{name}")
        }),
        ("0.", |name| format!("0.{name}")),
    ];
    let expected = released().trunk.init(0, &Device::flex());
    for (prefix, name) in names {
        write_changed(&path, &[], |header, _| rename(header, name));
        let (trunk, report) = load_weights(released().trunk.init(1, &Device::flex()), &path).expect("loads");
        assert_eq!(
            values(trunk.forward(images(1, 8, &Device::flex()), Mode::Eval)),
            values(expected.forward(images(1, 8, &Device::flex()), Mode::Eval)),
            "{prefix}"
        );
        assert_eq!(report.prefixes.concat(), prefix);
        assert!(report.skipped.is_empty() && report.unknown.is_empty(), "{report:?}");
    }
}

/// Cases weights-moco, weights-dino and weights-byol-online-target.
#[test]
fn of_two_networks_the_one_to_use_is_read_and_the_other_can_be_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.safetensors");
    let expected = released().trunk.init(0, &Device::flex());
    for [first, second] in [
        ["state_dict.module.encoder_q.", "state_dict.module.encoder_k."],
        ["teacher.backbone.", "student.module.backbone."],
        ["online_network.", "target_network."],
        ["module.base_encoder.", "module.momentum_encoder."],
        ["backbone.", "backbone_momentum."],
        ["", "momentum_backbone."],
    ] {
        write_two(&path, |name| format!("{first}{name}"), |name| format!("{second}{name}"));
        let (trunk, report) = load_weights(released().trunk.init(1, &Device::flex()), &path).expect("loads");
        assert_eq!(values(trunk.conv1.weight.val()), values(expected.conv1.weight.val()));
        assert_eq!(report.others, [second]);
        assert!(report.unknown.is_empty(), "{report:?}");
        let encoder = |prefix| load_trunks(released().init(1, &Device::flex()), &path, Some(prefix));
        let (encoder_of_first, _) = encoder(first.trim_end_matches('.')).expect("loads");
        assert_eq!(
            values(encoder_of_first.trunk.conv1.weight.val()),
            values(expected.conv1.weight.val())
        );
        // The other is the one of zeros, which no trained network has.
        let error = encoder(second).expect_err("zeros").to_string();
        assert!(error.contains(second) && error.contains("only zeros"), "{error}");
        let error = encoder("nothing").expect_err("no such prefix").to_string();
        assert!(
            error.contains("`nothing`") && error.contains(&format!("`{second}`")),
            "{error}"
        );
    }
    write_two(&path, |name| format!("left.{name}"), |name| format!("right.{name}"));
    let error = load_weights(released().trunk.init(1, &Device::flex()), &path)
        .expect_err("either")
        .to_string();
    assert!(
        error.contains("`left.`, `right.`") && error.contains("encoder.weights_prefix"),
        "{error}"
    );
}

#[test]
fn a_file_of_another_network_is_refused_with_its_first_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vit.safetensors");
    write_changed(&path, &[], |header, _| {
        rename(header, |name| format!("blocks.{}", name.replace("layer", "attention")));
    });
    let error = load_weights(released().trunk.init(1, &Device::flex()), &path)
        .expect_err("another")
        .to_string();
    for words in [
        "vit.safetensors does not look like a ResNet",
        "`blocks.",
        "`layer1.0.conv1.weight`",
        "100 tensors",
    ] {
        assert!(error.contains(words), "`{words}` is not in: {error}");
    }
}

#[test]
fn modules_that_the_network_does_not_have_are_told_from_heads() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("more.safetensors");
    write_changed(&path, &[], |header, end| {
        rename(header, |name| format!("module.encoder.{name}"));
        let more = serde_json::json!({ "dtype": "F32", "shape": [0], "data_offsets": [end, end] });
        for name in [
            "module.encoder.attention.weight",
            "module.encoder.fc.0.weight",
            "module.queue",
            "optimizer.state.0.exp_avg",
        ] {
            header[name] = more.clone();
        }
    });
    let (_, report) = load_weights(released().trunk.init(1, &Device::flex()), &path).expect("loads");
    assert_eq!(report.unknown, ["module.encoder.attention.weight"]);
    assert_eq!(report.skipped.len(), 4);
}

#[test]
fn numbers_that_no_trained_network_has_are_refused_with_file_and_tensor() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("numbers.safetensors");
    let cases = [
        ("layer1.0.conv1.weight", f32::NAN, "NaN at index 0", "finite numbers"),
        ("bn1.bias", f32::NEG_INFINITY, "-inf at index 0", "finite numbers"),
        ("bn1.running_var", -0.5, "-0.5 at index 0", "running variances"),
        ("bn1.running_var", 0.0, "only zeros", "running variances"),
    ];
    for (tensor, value, found, needed) in cases {
        write_changed(
            &path,
            &vec![value; 2048]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect::<Vec<u8>>(),
            |header, end| {
                let shape = header[tensor]["shape"].clone();
                let count: u64 = shape
                    .as_array()
                    .expect("a shape")
                    .iter()
                    .map(|side| side.as_u64().expect("a size"))
                    .product();
                header["unused"] = header[tensor].take();
                header[tensor] =
                    serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": [end, end + 4 * count as usize] });
                // The format requires that all bytes of a file belong to a tensor.
                header["rest"] = serde_json::json!({
                    "dtype": "F32", "shape": [2048 - count], "data_offsets": [end + 4 * count as usize, end + 4 * 2048]
                });
            },
        );
        let error = load_weights(released().trunk.init(1, &Device::flex()), &path).expect_err("no weights");
        assert!(matches!(error, WeightsError::Value { .. }), "{error:?}");
        for words in ["numbers.safetensors", tensor, found, needed] {
            assert!(error.to_string().contains(words), "`{words}` is not in: {error}");
        }
    }
}

#[test]
fn two_tensors_of_one_name_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.safetensors");
    write_changed(&path, &[], |header, end| {
        let more = serde_json::json!({ "dtype": "F32", "shape": [0], "data_offsets": [end, end] });
        header["layer1.0.shortcut.0.weight"] = more.clone();
        header["layer1.0.downsample.0.weight"] = more;
    });
    let error = load_weights(released().trunk.init(1, &Device::flex()), &path).expect_err("two networks");
    assert!(matches!(error, WeightsError::Twice { .. }), "{error:?}");
    assert!(error.to_string().contains("layer1.0.shortcut.0.weight"), "{error}");
}
