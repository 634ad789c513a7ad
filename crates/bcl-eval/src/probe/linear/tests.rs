//! The linear probe against Burn's own layer, loss and optimiser, and on features with known accuracy.

use super::*;
use crate::probe::{
    labelled::to_host,
    planted::{clusters, coins, noise},
};
use burn::{
    module::{Module, Param},
    nn::{Linear, LinearConfig, loss::CrossEntropyLossConfig},
    optim::{AdamConfig, GradientsParams, decay::WeightDecayConfig},
    tensor::Device,
};
use std::cell::Cell;

const SEED: Seed = Seed(5);

fn assert_close(found: Tensor<2>, expected: Tensor<2>, tolerance: f64) {
    let (found, expected) = (to_host(found), to_host(expected));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.into_iter().zip(expected) {
        assert!(f64::from((found - expected).abs()) < tolerance, "{found} not {expected}");
    }
}

fn classes(labels: &[u32], device: &Device) -> Tensor<1, Int> {
    let labels: Vec<i32> = labels.iter().map(|&label| label as i32).collect();
    Tensor::from_data(TensorData::new(labels.clone(), [labels.len()]), device)
}

/// Burn's linear layer with our weights, on an autodiff device.
fn burns_layer(layer: &Layer) -> Linear {
    let [dim, num_classes] = layer.weight.dims();
    let mut linear = LinearConfig::new(dim, num_classes).init(&Device::flex().autodiff());
    linear.weight = Param::from_tensor(layer.weight.clone().autodiff());
    linear.bias = Some(Param::from_tensor(layer.bias.clone().autodiff().squeeze_dim(0)));
    linear
}

#[test]
fn the_gradient_is_that_of_burns_automatic_differentiation() {
    let device = Device::flex().autodiff();
    let layer = Layer::init(6, 4, SEED, &Device::flex());
    let (features, labels) = (noise(9, 6, 1) * 3.0, coins(9, 4, 1));
    let gradient = layer.gradient(features.clone(), classes(&labels, &Device::flex()));

    let linear = burns_layer(&layer);
    let loss = CrossEntropyLossConfig::new().init(&device);
    let gradients = loss
        .forward(linear.forward(features.autodiff()), classes(&labels, &device))
        .backward();
    assert_close(gradient.weight, linear.weight.val().grad(&gradients).unwrap(), 1e-6);
    let bias = linear.bias.unwrap().val().grad(&gradients).unwrap();
    assert_close(gradient.bias, bias.unsqueeze_dim(0), 1e-6);
}

#[test]
fn steps_are_those_of_burns_layer_loss_and_optimiser() {
    let device = Device::flex().autodiff();
    let config = LinearProbeConfig {
        epochs: 3,
        learning_rate: 0.01,
        weight_decay: 0.01,
        batch_size: 16,
    };
    let train = clusters(50, 5, 3, 0.5, 2);
    let init = Layer::init(5, 3, SEED.named("probe init"), &Device::flex());

    let mut linear = burns_layer(&init);
    let decay = WeightDecayConfig::new(config.weight_decay as f32);
    let mut adam = AdamConfig::new().with_epsilon(1e-8).with_weight_decay(Some(decay)).init();
    let loss = CrossEntropyLossConfig::new().init(&device);
    // Batches come in the order in which our probe requests them.
    let batch = |_: usize, indices: &[usize]| {
        let features = train.features.clone().select(0, positions(indices, &train.features));
        let labels: Vec<u32> = indices.iter().map(|&index| train.labels[index]).collect();
        let scores = linear.forward(features.clone().autodiff());
        let gradients = loss.forward(scores, classes(&labels, &device)).backward();
        let gradients = GradientsParams::from_grads(gradients, &linear);
        linear = adam.step(config.learning_rate, linear.clone(), gradients);
        Ok::<_, ProbeError>(features)
    };
    let layer = train_layer(&train.labels, 3, &config, SEED, batch).unwrap();
    let linear = linear.valid();
    assert_close(layer.weight, linear.weight.val(), 1e-5);
    assert_close(layer.bias, linear.bias.unwrap().val().unsqueeze_dim(0), 1e-5);
}

#[test]
fn first_weights_fill_the_interval_of_pytorch_and_no_more() {
    let weight = to_host(Layer::init(100, 50, SEED, &Device::flex()).weight);
    let largest = weight.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    assert!((0.099..=0.1).contains(&largest), "{largest}");
    assert!(weight.iter().sum::<f32>().abs() / 5000.0 < 0.003);
}

#[test]
fn separate_clusters_are_classified_perfectly() {
    let (train, test) = (clusters(400, 16, 10, 0.05, 1), clusters(100, 16, 10, 0.05, 2));
    let config = LinearProbeConfig {
        learning_rate: 0.05,
        epochs: 40,
        ..LinearProbeConfig::default()
    };
    let found = probe_fixed(&train, &test, 10, &config, SEED).unwrap();
    assert_eq!(
        found,
        TopK {
            top1: 1.0,
            top5: Some(1.0)
        }
    );
}

#[test]
fn labels_without_meaning_are_guessed_by_chance() {
    let random = |n, seed| Labelled {
        features: noise(n, 16, seed),
        labels: coins(n, 2, seed),
    };
    let config = LinearProbeConfig {
        epochs: 10,
        ..LinearProbeConfig::default()
    };
    let found = probe_fixed(&random(1000, 1), &random(2000, 2), 2, &config, SEED).unwrap();
    // Three standard errors.
    assert!((found.top1 - 0.5).abs() < 0.034, "{found:?}");
}

#[test]
fn a_callback_that_returns_the_fixed_features_gives_the_fixed_probe() {
    let (train, test) = (clusters(130, 8, 3, 0.6, 3), clusters(200, 8, 3, 0.6, 4));
    let config = LinearProbeConfig {
        epochs: 4,
        batch_size: 32,
        ..LinearProbeConfig::default()
    };
    let fixed = probe_fixed(&train, &test, 3, &config, SEED).unwrap();
    let mut asked = vec![Vec::<usize>::new(); 4];
    let batch = |epoch: usize, indices: &[usize]| {
        asked[epoch].extend(indices);
        Ok(train.features.clone().select(0, positions(indices, &train.features)))
    };
    let views = probe_views(&train.labels, 3, &config, SEED, batch, || Ok::<_, ProbeError>(test.clone()));
    assert_eq!(views.unwrap(), fixed);
    assert_ne!(asked[0], asked[1], "each epoch has its own order");
    let mut alone: Vec<usize> = (0..130).collect();
    alone.shuffle(&mut SEED.named("probe order").index(3).rng());
    assert_eq!(asked[3], alone, "the order of an epoch must not depend on earlier epochs");
    for mut order in asked {
        order.sort_unstable();
        assert_eq!(order, (0..130).collect::<Vec<_>>(), "each sample comes once per epoch");
    }
}

#[test]
fn the_seed_determines_the_layer() {
    let train = clusters(100, 8, 3, 0.6, 3);
    let config = LinearProbeConfig {
        epochs: 2,
        batch_size: 32,
        ..LinearProbeConfig::default()
    };
    let weight = |seed| {
        let batch = |_, indices: &[usize]| {
            let features = train.features.clone().select(0, positions(indices, &train.features));
            Ok::<_, ProbeError>(features)
        };
        to_host(train_layer(&train.labels, 3, &config, seed, batch).unwrap().weight)
    };
    assert_eq!(weight(SEED), weight(SEED));
    assert_ne!(weight(SEED), weight(Seed(6)));
}

#[test]
fn features_of_an_autodiff_device_have_the_same_metrics() {
    let (train, test) = (clusters(60, 8, 3, 0.6, 3), clusters(60, 8, 3, 0.6, 4));
    let with_gradients = |set: &Labelled| Labelled {
        features: set.features.clone().autodiff().require_grad(),
        labels: set.labels.clone(),
    };
    let config = LinearProbeConfig {
        epochs: 2,
        ..LinearProbeConfig::default()
    };
    let expected = probe_fixed(&train, &test, 3, &config, SEED).unwrap();
    let (train, test) = (with_gradients(&train), with_gradients(&test));
    assert_eq!(probe_fixed(&train, &test, 3, &config, SEED).unwrap(), expected);
    let batch = |_, indices: &[usize]| Ok(train.features.clone().select(0, positions(indices, &train.features)));
    let views = probe_views(&train.labels, 3, &config, SEED, batch, || Ok::<_, ProbeError>(test.clone()));
    assert_eq!(views.unwrap(), expected);
}

#[test]
fn test_features_are_computed_after_the_last_epoch() {
    let (train, test) = (clusters(60, 8, 3, 0.6, 3), clusters(60, 8, 3, 0.6, 4));
    let config = LinearProbeConfig {
        epochs: 3,
        batch_size: 20,
        ..LinearProbeConfig::default()
    };
    let batches = Cell::new(0);
    let batch = |_, indices: &[usize]| {
        batches.set(batches.get() + 1);
        Ok(train.features.clone().select(0, positions(indices, &train.features)))
    };
    let last = || {
        assert_eq!(batches.get(), 9);
        Err(ProbeError::Diverged)
    };
    assert_eq!(
        probe_views(&train.labels, 3, &config, SEED, batch, last),
        Err(ProbeError::Diverged)
    );

    let short = Labelled {
        features: test.features.clone().narrow(1, 0, 5),
        ..test
    };
    let batch = |_, indices: &[usize]| Ok(train.features.clone().select(0, positions(indices, &train.features)));
    assert_eq!(
        probe_views(&train.labels, 3, &config, SEED, batch, || Ok(short)),
        Err(ProbeError::FeatureLength { train: 8, test: 5 })
    );
}

#[test]
fn a_view_that_is_not_a_number_names_its_sample_in_the_data_set() {
    let train = clusters(60, 8, 3, 0.6, 3);
    let broken = train
        .features
        .clone()
        .slice_assign([42..43, 0..1], Tensor::full([1, 1], f32::NAN, &Device::flex()));
    let config = LinearProbeConfig {
        batch_size: 7,
        ..LinearProbeConfig::default()
    };
    let batch = |_, indices: &[usize]| Ok(broken.clone().select(0, positions(indices, &broken)));
    let found = probe_views(&train.labels, 3, &config, SEED, batch, || Ok(train.clone()));
    assert_eq!(
        found,
        Err(ProbeError::NotFinite {
            set: "training",
            sample: 42
        })
    );
}

#[test]
fn a_probe_that_diverges_says_so() {
    let mut train = clusters(60, 8, 3, 0.6, 3);
    train.features = train.features * 1e10;
    let config = LinearProbeConfig {
        learning_rate: 1e30,
        epochs: 3,
        ..LinearProbeConfig::default()
    };
    let error = probe_fixed(&train, &train, 3, &config, SEED).unwrap_err();
    assert_eq!(error, ProbeError::Diverged);
    assert!(error.to_string().contains("lower evaluation.probe.learning_rate"));
}

#[test]
fn values_out_of_range_are_refused() {
    let base = LinearProbeConfig::default;
    for (config, name) in [
        (LinearProbeConfig { epochs: 0, ..base() }, "epochs"),
        (
            LinearProbeConfig {
                learning_rate: 0.0,
                ..base()
            },
            "learning_rate",
        ),
        (
            LinearProbeConfig {
                weight_decay: 1.0,
                ..base()
            },
            "weight_decay",
        ),
        (LinearProbeConfig { batch_size: 0, ..base() }, "batch_size"),
    ] {
        assert_eq!(config.check().unwrap_err().name, name);
    }
}
