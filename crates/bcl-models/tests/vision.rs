//! Image encoders: sizes, modes of batch normalisation, momentum encoders.

use bcl_models::vision::{
    BatchNorm, ImageEncoder, ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem, ema_target,
    ema_update,
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Device, Tensor, TensorData, module::conv2d, ops::ConvOptions},
};

fn narrow(depth: ResNetDepth, stem: Stem) -> ImageEncoderConfig {
    ImageEncoderConfig {
        trunk: ResNetConfig { depth, stem, width: 2 },
        head: ProjectionHeadConfig {
            hidden: 6,
            out: 4,
            ..ProjectionHeadConfig::default()
        },
        ..ImageEncoderConfig::default()
    }
}

fn encoder(seed: u64, device: &Device) -> ImageEncoder {
    narrow(ResNetDepth::ResNet50, Stem::Cifar).init(seed, device)
}

fn images<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    let values: Vec<f32> = (0..shape.iter().product()).map(|i: usize| (i as f32 * 0.37).sin()).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn assert_close(left: &[f32], right: &[f32]) {
    assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        assert!((l - r).abs() <= 1e-4 * (1.0 + r.abs()), "{left:?}\n{right:?}");
    }
}

/// Counts parameters and, separately, entries of running statistics.
#[derive(Default)]
struct Count {
    parameters: usize,
    statistics: usize,
    last: String,
}

impl ModuleVisitor for Count {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        name.clone_into(&mut self.last);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let count = param.lazy_shape().num_elements();
        if self.last.starts_with("running_") {
            self.statistics += count;
        } else {
            self.parameters += count;
        }
    }
}

fn count(module: &impl Module) -> Count {
    let mut count = Count::default();
    module.visit(&mut count);
    count
}

#[test]
fn networks_have_as_many_parameters_as_in_torchvision() {
    let published = [
        (ResNetDepth::ResNet18, 11_689_512),
        (ResNetDepth::ResNet34, 21_797_672),
        (ResNetDepth::ResNet50, 25_557_032),
    ];
    for (depth, with_classifier) in published {
        let config = ResNetConfig {
            depth,
            stem: Stem::Imagenet,
            width: 64,
        };
        let classifier = 1000 * config.num_features() + 1000;
        let trunk = count(&config.init(0, &Device::flex()));
        assert_eq!(trunk.parameters + classifier, with_classifier, "{depth:?}");
        assert!(trunk.statistics > 0);
    }
}

#[test]
fn the_head_has_the_parameters_of_the_released_codes() {
    let head = ProjectionHeadConfig::default().init(2048, 0, &Device::flex());
    assert_eq!(count(&head).parameters, 2048 * 512 + 2 * 512 + 512 * 128 + 128);
}

#[test]
fn each_network_puts_out_unit_rows_of_its_size() {
    let device = Device::flex();
    for depth in [ResNetDepth::ResNet18, ResNetDepth::ResNet34, ResNetDepth::ResNet50] {
        for stem in [Stem::Imagenet, Stem::Cifar] {
            let encoder = narrow(depth, stem).init(0, &device);
            let embeddings = encoder.forward(images([3, 3, 33, 20], &device), Mode::Eval);
            assert_eq!(embeddings.features.dims(), [3, encoder.trunk.num_features()]);
            assert_eq!(embeddings.projections.dims(), [3, 4]);
            for rows in [embeddings.features, embeddings.projections] {
                assert_close(&values(rows.square().sum_dim(1)), &[1.0; 3]);
            }
        }
    }
}

#[test]
fn features_and_projections_are_those_of_the_whole_pass() {
    let device = Device::flex();
    let encoder = encoder(0, &device);
    let images = images([3, 3, 16, 16], &device);
    let whole = encoder.forward(images.clone(), Mode::BatchStatistics);
    assert_eq!(
        values(whole.features),
        values(encoder.features(images.clone(), Mode::BatchStatistics))
    );
    assert_eq!(
        values(whole.projections),
        values(encoder.projections(images, Mode::BatchStatistics))
    );
}

#[test]
fn the_cifar_stem_keeps_the_resolution_and_the_imagenet_stem_quarters_it() {
    let device = Device::flex();
    let count_places = |stem| {
        let trunk = narrow(ResNetDepth::ResNet18, stem).trunk.init(0, &device);
        trunk.conv1.forward(images([1, 3, 32, 32], &device)).dims()
    };
    assert_eq!(count_places(Stem::Cifar), [1, 2, 32, 32]);
    assert_eq!(count_places(Stem::Imagenet), [1, 2, 16, 16]);
}

#[test]
fn convolutions_of_size_one_equal_burns_in_value_and_gradient() {
    let device = Device::flex().autodiff();
    let trunk = ResNetConfig {
        depth: ResNetDepth::ResNet50,
        stem: Stem::Cifar,
        width: 4,
    }
    .init(0, &device);
    let downsample = |block: &bcl_models::vision::Block| block.downsample.clone().expect("one").0;
    // Few channels and many pixels use one product per image; many channels and few pixels use a single product.
    let cases = [
        (trunk.layer1[0].conv1.clone(), 9),
        (downsample(&trunk.layer2[0]), 9),
        (trunk.layer4[1].conv1.clone(), 2),
        (downsample(&trunk.layer4[0]), 3),
    ];
    for (convolution, size) in cases {
        let [_, channels, 1, 1] = convolution.weight.dims() else {
            panic!("a kernel of size 1")
        };
        let input = images([3, channels, size, size], &device).require_grad();
        let options = ConvOptions::new([convolution.stride; 2], [0; 2], [1; 2], 1);
        let ours = convolution.forward(input.clone());
        let theirs = conv2d(input.clone(), convolution.weight.val(), None, options);
        assert_close(&values(ours.clone()), &values(theirs.clone()));
        let [ours, theirs] = [ours, theirs].map(|output| output.square().sum().backward());
        for of in [&ours, &theirs].windows(2) {
            let weight = |of| values(convolution.weight.val().grad(of).expect("a gradient"));
            assert_close(&weight(of[0]), &weight(of[1]));
            let input = |of| values(input.grad(of).expect("a gradient"));
            assert_close(&input(of[0]), &input(of[1]));
        }
    }
}

#[test]
fn evaluation_of_a_row_does_not_depend_on_the_others() {
    let device = Device::flex();
    let encoder = encoder(0, &device);
    let images = images([4, 3, 16, 16], &device);
    let together = values(encoder.projections(images.clone(), Mode::Eval));
    let alone = values(encoder.projections(images.narrow(0, 0, 1), Mode::Eval));
    assert_close(&together[..4], &alone);
}

#[test]
fn batches_are_normalised_with_and_without_autodiff_alike() {
    let plain = Device::flex();
    let autodiff = plain.clone().autodiff();
    for mode in [Mode::Train, Mode::BatchStatistics] {
        let [without, with] = [plain.clone(), autodiff.clone()]
            .map(|device| values(encoder(0, &device).projections(images([4, 3, 16, 16], &device), mode)));
        assert_close(&without, &with);
        let evaluated = values(encoder(0, &plain).projections(images([4, 3, 16, 16], &plain), Mode::Eval));
        assert_ne!(without, evaluated);
    }
}

#[test]
fn batch_normalisation_follows_the_hand_computation() {
    let device = Device::flex();
    let norm = BatchNorm::new(1, &device);
    let input = Tensor::<2>::from_floats([[1.0], [2.0], [6.0]], &device);
    // Mean 3, sum of squares 14: biased variance 14/3, unbiased 7.
    let output = values(norm.forward(input.clone(), Mode::Train));
    let deviation = (14.0f32 / 3.0 + 1e-5).sqrt();
    assert_close(&output, &[-2.0 / deviation, -1.0 / deviation, 3.0 / deviation]);
    assert_close(&values(norm.running_mean.value()), &[0.3]);
    assert_close(&values(norm.running_var.value()), &[0.9 + 0.7]);

    let output = values(norm.forward(input, Mode::Eval));
    let deviation = (1.6f32 + 1e-5).sqrt();
    assert_close(&output, &[0.7 / deviation, 1.7 / deviation, 5.7 / deviation]);
}

#[test]
fn only_train_mode_moves_the_running_statistics() {
    let device = Device::flex();
    for (mode, moves) in [(Mode::Train, true), (Mode::BatchStatistics, false), (Mode::Eval, false)] {
        let encoder = encoder(0, &device);
        let before = values(encoder.trunk.layer4[2].bn3.as_ref().expect("one").running_var.value());
        encoder.projections(images([4, 3, 16, 16], &device), mode);
        let after = values(encoder.trunk.layer4[2].bn3.as_ref().expect("one").running_var.value());
        assert_eq!(before != after, moves, "{mode:?}");
    }
}

#[test]
#[should_panic(expected = "more than 1 value per channel, but the input has shape [1, 3]")]
fn a_single_value_has_no_variance() {
    BatchNorm::new(3, &Device::flex()).forward(Tensor::<2>::ones([1, 3], &Device::flex()), Mode::Train);
}

#[test]
fn a_clone_and_a_record_do_not_share_statistics() {
    let device = Device::flex();
    let online = encoder(0, &device);
    let clone = online.clone();
    online.projections(images([4, 3, 16, 16], &device), Mode::Train);
    let mean = |encoder: &ImageEncoder| values(encoder.trunk.bn1.running_mean.value());
    assert_eq!(mean(&clone), [0.0, 0.0]);
    assert_ne!(mean(&online), [0.0, 0.0]);

    let restored = clone.clone().load_record(online.clone().into_record());
    assert_eq!(mean(&restored), mean(&online));
    assert_eq!(mean(&clone), [0.0, 0.0]);
}

#[test]
fn every_parameter_gets_a_gradient() {
    struct Gradients<'a>(&'a burn::tensor::Gradients, usize, String);
    impl ModuleVisitor for Gradients<'_> {
        fn enter_module(&mut self, name: &str, _container_type: &str) {
            name.clone_into(&mut self.2);
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let gradient = param.val().grad(self.0);
            if self.2.starts_with("running_") {
                assert!(gradient.is_none(), "{} is trained", self.2);
                return;
            }
            let sum: f32 = values(gradient.expect("a gradient")).iter().map(|value| value.abs()).sum();
            assert!(sum.is_finite() && sum > 0.0, "{}", self.2);
            self.1 += 1;
        }
    }
    let device = Device::flex().autodiff();
    let encoder = encoder(3, &device);
    let projections = encoder.projections(images([4, 3, 16, 16], &device), Mode::Train);
    let gradients = projections.clone().matmul(projections.transpose()).exp().sum().backward();
    let mut visitor = Gradients(&gradients, 0, String::new());
    encoder.visit(&mut visitor);
    assert_eq!(visitor.1, 53 * 3 + 5);
}

#[test]
fn the_seed_alone_determines_the_start() {
    let device = Device::flex();
    let weights = |seed| values(encoder(seed, &device).trunk.layer3[0].conv2.weight.val());
    device.seed(1);
    let first = weights(1);
    device.seed(2);
    assert_eq!(weights(1), first);
    assert_ne!(weights(2), first);
    let other_head = ImageEncoderConfig {
        head: ProjectionHeadConfig {
            hidden: 9,
            out: 3,
            ..ProjectionHeadConfig::default()
        },
        ..narrow(ResNetDepth::ResNet50, Stem::Cifar)
    };
    assert_eq!(values(other_head.init(1, &device).trunk.layer3[0].conv2.weight.val()), first);
}

#[test]
fn convolutions_start_with_the_variance_of_kaiming_fan_out() {
    let config = ResNetConfig {
        depth: ResNetDepth::ResNet18,
        stem: Stem::Cifar,
        width: 16,
    };
    let weights = values(config.init(0, &Device::flex()).layer3[0].conv1.weight.val());
    let variance = weights.iter().map(|value| value * value).sum::<f32>() / weights.len() as f32;
    // 64 channels out, 32 in, so fan-in would double it; 18,432 draws give the variance to within 1 %.
    let expected = 2.0 / (64.0 * 9.0);
    assert!((variance / expected - 1.0).abs() < 0.05, "{variance} is not {expected}");
}

#[test]
fn momentum_averages_parameters_and_leaves_statistics_alone() {
    let online_device = Device::flex().autodiff();
    let online = encoder(1, &online_device);
    online.projections(images([4, 3, 16, 16], &online_device), Mode::Train);
    let target = ema_target(&encoder(2, &online_device));

    let before = values(target.trunk.layer2[0].conv2.weight.val());
    let towards = values(online.trunk.layer2[0].conv2.weight.val());
    let statistics = values(target.trunk.bn1.running_mean.value());
    let target = ema_update(target, &online, 0.9);

    let expected: Vec<f32> = before.iter().zip(&towards).map(|(t, o)| 0.9 * t + 0.1 * o).collect();
    assert_close(&values(target.trunk.layer2[0].conv2.weight.val()), &expected);
    assert!(expected.iter().zip(&before).any(|(e, b)| (e - b).abs() > 1e-2));
    assert_eq!(values(target.trunk.bn1.running_mean.value()), statistics);
    assert_ne!(values(online.trunk.bn1.running_mean.value()), statistics);
    assert!(!target.trunk.conv1.weight.is_require_grad());
}

#[test]
fn momentum_zero_copies_and_momentum_one_keeps() {
    let device = Device::flex();
    let (online, target) = (encoder(1, &device), encoder(2, &device));
    let weight = |encoder: &ImageEncoder| values(encoder.head.out.weight.val());
    assert_eq!(weight(&ema_update(target.clone(), &online, 0.0)), weight(&online));
    assert_eq!(weight(&ema_update(target.clone(), &online, 1.0)), weight(&target));
}

#[test]
#[should_panic(expected = "the target's parameter hidden.weight has shape [3, 5]")]
fn modules_of_other_sizes_are_not_averaged() {
    let device = Device::flex();
    let head = |hidden| {
        ProjectionHeadConfig {
            hidden,
            out: 2,
            ..ProjectionHeadConfig::default()
        }
        .init(3, 0, &device)
    };
    ema_update(head(5), &head(4), 0.5);
}

#[test]
fn recipes_hold_the_depth_as_a_number() {
    let config: ResNetConfig = serde_json::from_str(r#"{ "depth": 18, "stem": "cifar", "width": 16 }"#).expect("well-formed");
    assert_eq!(
        (config.depth, config.stem, config.width),
        (ResNetDepth::ResNet18, Stem::Cifar, 16)
    );
    assert_eq!(
        serde_json::to_string(&config).expect("serialises"),
        r#"{"depth":18,"stem":"cifar","width":16}"#
    );
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let parse = |text| serde_json::from_str::<ImageEncoderConfig>(text);
    let refused = |text| parse(text).expect("well-formed").check().expect_err("out of range");
    assert!(refused(r#"{ "trunk": { "width": 0 } }"#).contains("width is 0"));
    assert!(refused(r#"{ "head": { "hidden": 0 } }"#).contains("hidden is 0"));
    assert!(refused(r#"{ "head": { "out": 0 } }"#).contains("out is 0"));
    let error = parse(r#"{ "trunk": { "depth": 20 } }"#)
        .expect_err("no such depth")
        .to_string();
    assert!(error.contains("depth is 20, but must be 18, 34 or 50"), "{error}");
    assert!(parse(r#"{ "trunk": { "layers": 3 } }"#).is_err());
}
