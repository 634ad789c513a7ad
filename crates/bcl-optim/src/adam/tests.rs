//! Adam and `AdamW` against Burn's.

use super::*;
use bcl_kernels::gather_rows;
use burn::{
    module::{Module, Param},
    nn::Linear,
    optim::{self, GradientsParams, ModuleOptimizer, decay::WeightDecayConfig},
    tensor::{Int, TensorData},
};

/// More than one task of the kernel.
const SHAPE: [usize; 2] = [300, 130];

/// Numbers in about [-1, 1], a few of them zero.
fn numbers(seed: usize) -> Tensor<2> {
    let number = |i: usize| match (i * 2_654_435_761 + seed * 40_503) % 1009 {
        residue if residue < 20 => 0.0,
        residue => residue as f32 / 504.0 - 1.0,
    };
    let values: Vec<f32> = (0..SHAPE[0] * SHAPE[1]).map(number).collect();
    Tensor::from_data(TensorData::new(values, SHAPE), &Device::flex())
}

fn values(tensor: &Tensor<2>) -> Vec<f32> {
    tensor.to_data().iter::<f32>().collect()
}

/// The weights after each of six steps with different rates.
fn trained<O: Optimizer>(optimizer: &O, keeps_old_weights: bool) -> Vec<Vec<f32>> {
    let (mut weight, mut state) = (numbers(7), None);
    let mut results = Vec::new();
    for step in 0..6 {
        // A training loop keeps the model while it is updated.
        let old = keeps_old_weights.then(|| weight.clone());
        let rate = 0.01 / (step + 1) as f64;
        (weight, state) = optimizer.step(rate, weight, numbers(step), state);
        drop(old);
        results.push(values(&weight));
    }
    results
}

#[test]
fn adam_has_the_bits_of_burns() {
    for decay in [0.0, 0.01] {
        let burns = optim::AdamConfig::new()
            .with_epsilon(1e-8)
            .with_weight_decay((decay > 0.0).then(|| WeightDecayConfig::new(decay)))
            .build();
        let config = AdamConfig {
            decay: AdamDecay::Coupled(decay),
            ..AdamConfig::default()
        };
        for keeps_old_weights in [false, true] {
            assert_eq!(
                trained(&config.init(), keeps_old_weights),
                trained(&burns, false),
                "decay {decay}"
            );
        }
    }
}

#[test]
fn adamw_has_the_bits_of_burns() {
    for decay in [0.0, 0.01] {
        let burns = optim::AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(decay).build();
        let config = AdamConfig {
            decay: AdamDecay::Decoupled(decay),
            ..AdamConfig::default()
        };
        assert_eq!(trained(&config.init(), false), trained(&burns, false), "decay {decay}");
    }
}

#[test]
fn weights_in_use_elsewhere_do_not_change() {
    let adam = AdamConfig::default().init();
    let (first, gradient) = (numbers(1), numbers(2));
    let before = values(&first);
    let (second, state) = adam.step(0.1, first.clone(), gradient.clone(), None);
    let after_one = values(&second);
    let (third, state) = adam.step(0.1, second.clone(), gradient.clone(), state);
    let after_two = values(&third);
    // `first` was the spare tensor of the step before, but is still in use.
    assert_eq!((values(&first), values(&second)), (before, after_one.clone()));
    drop(first);
    let (fourth, _) = adam.step(0.1, third.clone(), gradient, state);
    assert_eq!((values(&second), values(&third)), (after_one, after_two.clone()));
    assert_ne!(values(&fourth), after_two);
}

#[test]
fn moments_in_use_elsewhere_do_not_change() {
    let adam = AdamConfig::default().init();
    let (weight, state) = adam.step(0.1, numbers(1), numbers(2), None);
    let kept = state.clone().expect("Adam has a state");
    let moments = || [&kept.momentum.moment_1, &kept.momentum.moment_2].map(values);
    let before = moments();
    let (_, state) = adam.step(0.1, weight, numbers(3), state);
    assert_eq!(moments(), before);
    assert_ne!(values(&state.expect("Adam has a state").momentum.moment_1), before[0]);
}

/// A layer, and the weight after a step with a gradient of ones.
fn stepped(optimizer: &mut ModuleOptimizer, layer: &Linear) -> Linear {
    let mut gradients = GradientsParams::new();
    gradients.register(layer.weight.id, Tensor::<2>::ones([2, 2], &Device::flex()));
    optimizer.step(0.1, layer.clone(), gradients)
}

#[test]
fn records_are_those_of_burn() {
    let device = Device::flex().autodiff();
    let layer = Linear {
        weight: Param::from_data(TensorData::from([[1.0f32, 2.0], [3.0, 4.0]]), &device),
        bias: None,
    };
    let ours = || ModuleOptimizer::from(AdamConfig::default().init());
    let burns = || optim::AdamConfig::new().with_epsilon(1e-8).init();
    for (mut writer, reader) in [(ours(), burns()), (burns(), ours()), (ours(), ours())] {
        let once = stepped(&mut writer, &layer);
        let bytes = writer.into_bytes().expect("a state can be written");
        let mut reader = reader.from_bytes(bytes).expect("and read");
        let twice = stepped(&mut reader, &once).weight.val();
        assert_eq!(values(&twice), values(&stepped(&mut writer, &once).weight.val()));
        assert!(once.num_params() == 4 && values(&twice) != values(&once.weight.val()));
    }
}

const USERS: [usize; 2] = [20_000, 16];

/// Rows of a large table that steps read, some of them again.
fn users(step: usize) -> Tensor<1, Int> {
    let rows: Vec<i64> = (0..50).map(|i| ((i * 397 + step * 31) % 700 * 28) as i64).collect();
    Tensor::from_data(TensorData::from(&*rows), &Device::flex())
}

/// The gradient of the rows of a step, as a lookup computes it, or a copy of it.
fn gradient_of_rows(table: &Tensor<2>, step: usize, copied: bool) -> Tensor<2> {
    let table = Tensor::<2>::from_inner(table.clone()).require_grad();
    let rows = gather_rows(table.clone(), Tensor::from_inner(users(step)));
    let gradient = table.grad(&rows.sin().sum().backward()).expect("it was read");
    if copied {
        Tensor::from_data(gradient.into_data(), &Device::flex())
    } else {
        gradient
    }
}

/// Trains a large table lazily. A lookup tells which rows have gradients, a copy of its gradient does not.
fn lazily_trained(copied: bool, keeps_old_weights: bool) -> Vec<Tensor<2>> {
    let lazy = AdamConfig {
        lazy: true,
        decay: AdamDecay::Coupled(0.01),
        ..AdamConfig::default()
    };
    let start: Vec<f32> = (0..USERS[0] * USERS[1]).map(|i| (i as f32).sin()).collect();
    let mut weight = Tensor::<2>::from_data(TensorData::new(start, USERS), &Device::flex());
    let (adam, mut state) = (lazy.init(), None);
    let mut results = Vec::new();
    for step in 0..5 {
        let gradient = gradient_of_rows(&weight, step, copied);
        let old = keeps_old_weights.then(|| weight.clone());
        (weight, state) = adam.step(0.01, weight, gradient, state);
        drop(old);
        results.push(Tensor::from_data(weight.to_data(), &Device::flex()));
        if step == 2 {
            // Somebody else changes the weights, as a loaded checkpoint does.
            weight = weight * 0.5;
        }
    }
    results
}

#[test]
fn known_rows_give_the_bits_of_a_pass_over_the_whole_table() {
    let expected = lazily_trained(true, false);
    for (copied, keeps_old_weights) in [(false, false), (false, true), (true, true)] {
        for (found, expected) in lazily_trained(copied, keeps_old_weights).iter().zip(&expected) {
            assert!(values(found) == values(expected), "copied {copied}, kept {keeps_old_weights}");
        }
    }
}

#[test]
fn rows_without_gradient_stay_and_the_others_move_as_in_dense_adam() {
    let [lazy, dense] = [true, false].map(|lazy| {
        let config = AdamConfig {
            lazy,
            ..AdamConfig::default()
        };
        config.init()
    });
    let (weight, everywhere) = (numbers(1), numbers(2) + 2.0);
    let some = everywhere.clone().slice_fill([10..], 0.0);
    let (after_lazy, state_lazy) = lazy.step(0.1, weight.clone(), everywhere.clone(), None);
    let (after_dense, state_dense) = dense.step(0.1, weight, everywhere, None);
    assert_eq!(values(&after_lazy), values(&after_dense));
    let (twice_lazy, _) = lazy.step(0.1, after_lazy.clone(), some.clone(), state_lazy);
    let (twice_dense, _) = dense.step(0.1, after_dense.clone(), some, state_dense);
    let rows = |tensor: &Tensor<2>, rows| values(&tensor.clone().slice_dim(0, rows));
    let split = |tensor: &Tensor<2>| (rows(tensor, 0..10), rows(tensor, 10..SHAPE[0]));
    let ((moved, stayed), (moved_dense, faded)) = (split(&twice_lazy), split(&twice_dense));
    assert_eq!((moved, stayed.clone()), (moved_dense, split(&after_lazy).1));
    assert_ne!(faded, stayed);
}
