//! Every estimator on a GPU against itself on the CPU. Mesa's software driver is enough.
#![cfg(any(feature = "cuda", feature = "metal", feature = "vulkan", feature = "wgpu"))]

#[path = "../../bcl-kernels/tests/gpu/device.rs"]
mod device;

use bcl_core::{EstimatorConfig, Pairs, Reduction, SideInformation, Similarity};
use burn::tensor::{Bool, Device, Tensor, TensorData};
use device::gpu;

const BATCH: usize = 24;
const DIM: usize = 16;

/// Numbers in [-1, 1) that depend on the seed alone.
fn numbers(seed: u64, len: usize) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(next).collect()
}

/// Loss and gradients of two views that are `noise` apart, with or without a mask.
fn measured(config: &EstimatorConfig, noise: f32, masked: bool, device: Device) -> Vec<f64> {
    let device = device.autodiff();
    let (mean, difference) = (numbers(1, BATCH * DIM), numbers(2, BATCH * DIM));
    let view = |sign: f32| {
        let values: Vec<f32> = mean.iter().zip(&difference).map(|(m, d)| m + sign * noise * d).collect();
        Tensor::<2>::from_data(TensorData::new(values, [BATCH, DIM]), &device).require_grad()
    };
    let (first, second) = (view(1.0), view(-1.0));
    let mut scores = Pairs::from_views(first.clone(), second.clone(), Similarity::Cosine).into_scores();
    let shape = [2 * BATCH, 2 * BATCH - 2];
    let truth = |seed, share| {
        let values: Vec<bool> = numbers(seed, shape[0] * shape[1]).iter().map(|&x| x < share).collect();
        Tensor::<2, Bool>::from_data(TensorData::new(values, shape), &device)
    };
    let estimator = config.init();
    let mut side = SideInformation::none();
    if masked {
        scores = scores.with_mask(truth(3, 0.5));
    }
    if estimator.requirements().truth {
        side = side.with_same_class(truth(4, -0.8));
    }
    if estimator.requirements().gamma_shape.is_some() {
        let draws: Vec<f32> = numbers(5, 2 * BATCH).iter().map(|x| 1.0 + x.abs()).collect();
        side = side.with_noise(Tensor::from_data(TensorData::from(&*draws), &device));
    }
    let loss = estimator.forward_with(scores, &side, Reduction::Mean);
    let gradients = loss.backward();
    let mut found: Vec<f64> = loss.into_data().iter().collect();
    for view in [first, second] {
        found.extend(view.grad(&gradients).expect("both take part").into_data().iter::<f64>());
    }
    found
}

#[test]
fn losses_and_gradients_are_those_of_the_cpu() {
    for config in EstimatorConfig::all() {
        for masked in [false, true] {
            // Views far apart, and views so close that the losses are tiny.
            for noise in [1.0, 0.01] {
                let there = measured(&config, noise, masked, gpu());
                let here = measured(&config, noise, masked, Device::flex());
                let largest = here[1..].iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                let what = format!("{}, masked: {masked}, noise {noise}", config.name());
                assert!(
                    (there[0] - here[0]).abs() <= 1e-5 * here[0].abs(),
                    "{what}: {} {}",
                    there[0],
                    here[0]
                );
                for (there, here) in there[1..].iter().zip(&here[1..]) {
                    assert!((there - here).abs() <= 2e-5 * largest, "{what}: {there} {here}");
                }
            }
        }
    }
}
