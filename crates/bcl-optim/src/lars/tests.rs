//! LARS against its formula.

use super::*;
use burn::{
    module::{Module, Param},
    nn::Linear,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::TensorData,
};

const CONFIG: LarsConfig = LarsConfig {
    trust_coefficient: 0.02,
    momentum: 0.9,
    weight_decay: 0.1,
};

/// Learning rates of three steps. They differ, because velocities keep the rate of their step.
const RATES: [f64; 3] = [0.5, 1.0, 0.75];

const WEIGHT: [f64; 6] = [0.5, -1.0, 2.0, 0.25, 0.0, -1.5];
const GRADIENTS: [[f64; 6]; 3] = [
    [0.1, 0.2, -0.3, 0.4, -0.5, 0.6],
    [-0.2, 0.1, 0.0, 0.3, 0.7, -0.1],
    [0.05, -0.4, 0.2, -0.1, 0.3, 0.9],
];

fn norm_of(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The formula in f64, entry by entry.
fn by_hand(adapted: bool) -> Vec<f64> {
    let mut weight = WEIGHT.to_vec();
    let mut velocity = [0.0; 6];
    for (gradient, rate) in GRADIENTS.iter().zip(RATES) {
        let decay = if adapted { 0.1 } else { 0.0 };
        let decayed: Vec<f64> = gradient.iter().zip(&weight).map(|(g, w)| g + decay * w).collect();
        let ratio = if adapted {
            0.02 * norm_of(&weight) / norm_of(&decayed)
        } else {
            1.0
        };
        for i in 0..6 {
            velocity[i] = 0.9 * velocity[i] + rate * ratio * decayed[i];
            weight[i] -= velocity[i];
        }
    }
    weight
}

fn tensor<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape).convert::<f32>(), &Device::flex())
}

fn by_optimizer<const D: usize>(shape: [usize; D]) -> Vec<f64> {
    let (lars, mut weight, mut state) = (CONFIG.init(), tensor(&WEIGHT, shape), None);
    for (gradient, rate) in GRADIENTS.iter().zip(RATES) {
        (weight, state) = lars.step(rate, weight, tensor(gradient, shape), state);
    }
    weight.into_data().iter::<f64>().collect()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
}

#[test]
fn a_matrix_and_a_kernel_follow_the_formula() {
    assert_close(&by_optimizer([2, 3]), &by_hand(true));
    assert_close(&by_optimizer([1, 3, 2, 1]), &by_hand(true));
}

#[test]
fn a_vector_is_neither_decayed_nor_adapted() {
    assert_close(&by_optimizer([6]), &by_hand(false));
}

#[test]
fn the_length_of_a_step_does_not_depend_on_that_of_the_gradient() {
    for scale in [1e-6, 1.0, 1e6] {
        let gradient = tensor::<2>(&GRADIENTS[0], [2, 3]) * scale;
        let lars = LarsConfig {
            weight_decay: 0.0,
            ..CONFIG
        };
        let (moved, _) = lars.init().step(1.0, tensor(&WEIGHT, [2, 3]), gradient, None);
        let moved: Vec<f64> = (moved - tensor(&WEIGHT, [2, 3])).into_data().iter().collect();
        let distance = norm_of(&moved);
        assert!((distance - 0.02 * norm_of(&WEIGHT)).abs() < 1e-6, "{distance} at {scale}");
    }
}

#[test]
fn a_norm_of_zero_turns_adaptation_off() {
    let lars = LarsConfig {
        weight_decay: 0.0,
        ..CONFIG
    };
    let zeros = || tensor::<2>(&[0.0; 6], [2, 3]);
    let (moved, _) = lars.init().step(0.5, zeros(), tensor(&GRADIENTS[0], [2, 3]), None);
    let expected: Vec<f64> = GRADIENTS[0].iter().map(|gradient| -0.5 * gradient).collect();
    assert_close(&moved.into_data().iter::<f64>().collect::<Vec<_>>(), &expected);
    let (kept, _) = lars.init().step(0.5, tensor(&WEIGHT, [2, 3]), zeros(), None);
    assert_close(&kept.into_data().iter::<f64>().collect::<Vec<_>>(), &WEIGHT);
}

#[test]
fn steps_after_saving_and_loading_are_the_same_bits() {
    let device = Device::flex().autodiff();
    let layer = Linear {
        weight: Param::from_data(TensorData::from([[0.5f32, -1.0], [2.0, 0.25]]), &device),
        bias: Some(Param::from_data(TensorData::from([0.1f32, -0.3]), &device)),
    };
    let images = Tensor::<2>::from_data([[0.3f32, -0.7], [1.1, 0.2]], &device);
    let step = |optimizer: &mut ModuleOptimizer, layer: Linear, rate: f64| {
        let loss = layer.forward(images.clone()).square().mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &layer);
        optimizer.step(rate, layer, gradients)
    };
    let new = || ModuleOptimizer::from(CONFIG.init());

    let mut straight = new();
    let layer = RATES.iter().fold(layer, |layer, &rate| step(&mut straight, layer, rate));
    let mut resumed = new().from_bytes(straight.into_bytes().unwrap()).unwrap();

    let bits = |layer: Linear| layer.into_record().into_bytes().unwrap();
    let expected = bits(step(&mut straight, layer.clone(), 1.0));
    assert_eq!(bits(step(&mut resumed, layer.clone(), 1.0)), expected);
    // Without the velocities, the step differs.
    assert_ne!(bits(step(&mut new(), layer, 1.0)), expected);
}
