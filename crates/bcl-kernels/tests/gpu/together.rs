//! Updates that are launched together have the bits that they have one by one, and the results of the CPU.

use super::{common::Numbers, gpu};
use bcl_kernels::{
    AdamDecay, AdamInput, AdamStep, LarsAdaptation, LarsInput, LarsStep, adam, add_squares, lars, moving_average, scale_by,
    together,
};
use burn::tensor::{DType, Device, Tensor, TensorData, Tolerance};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One number, parts of a workgroup's, exactly its numbers, and several workgroups', in more tensors than one launch takes on any GPU.
fn shapes() -> Vec<[usize; 2]> {
    let odd = [[1, 1], [3, 7], [1, 255], [64, 64], [17, 241], [5, 1639], [110, 113]];
    odd.into_iter().cycle().take(150).collect()
}

/// A tensor of each shape.
fn tensors(seed: u64, device: &Device) -> Vec<Tensor<2>> {
    let mut numbers = Numbers(seed);
    shapes()
        .into_iter()
        .map(|shape| numbers.matrix(shape, DType::F32, device))
        .collect()
}

/// Gradients lie in memory as of transposed products.
fn gradients(seed: u64, device: &Device) -> Vec<Tensor<2>> {
    let mut numbers = Numbers(seed);
    let mut gradient = |[rows, columns]: [usize; 2]| numbers.matrix([columns, rows], DType::F32, device).transpose();
    shapes().into_iter().map(&mut gradient).collect()
}

/// Runs an update of tensors one by one on a device, together on the GPU, and on the CPU.
fn assert_alike(update: impl Fn(&Device) -> Vec<Tensor<2>>) {
    let data = |tensors: Vec<Tensor<2>>| -> Vec<TensorData> { tensors.into_iter().map(Tensor::into_data).collect() };
    let found = data(together(|| update(&gpu())));
    let one_by_one = data(update(&gpu()));
    let expected = data(update(&Device::flex()));
    assert_eq!(found.len(), expected.len());
    for ((found, single), expected) in found.iter().zip(&one_by_one).zip(&expected) {
        assert_eq!(found.as_slice::<f32>().unwrap(), single.as_slice::<f32>().unwrap());
        found.assert_approx_eq::<f32>(expected, Tolerance::absolute(2e-6));
    }
}

#[test]
fn steps_of_adam() {
    for decay in [AdamDecay::Coupled(0.1), AdamDecay::Decoupled(0.1)] {
        assert_alike(|device| {
            let mut weights = tensors(1, device);
            let mut moments: Vec<_> = weights.iter().map(|_| None).collect();
            // The second step reads what the first one left waiting.
            for time in 1..=2 {
                let step = AdamStep {
                    rate: 0.01,
                    beta_1: 0.9,
                    beta_2: 0.999,
                    epsilon: 1e-8,
                    decay,
                    time,
                };
                let gradients = gradients(time as u64 + 1, device);
                for ((weight, gradient), moments) in weights.iter_mut().zip(gradients).zip(&mut moments) {
                    let input = AdamInput {
                        weight: weight.clone(),
                        gradient,
                        moments: moments.take(),
                        spare: None,
                    };
                    let updated = adam(input, step);
                    (*weight, *moments) = (updated.weight, Some(updated.moments));
                }
            }
            weights.into_iter().chain(moments.into_iter().flatten().flatten()).collect()
        });
    }
}

#[test]
fn steps_of_lars() {
    let adaptation = LarsAdaptation {
        trust_coefficient: 0.02,
        weight_decay: 0.1,
    };
    for adaptation in [None, Some(adaptation)] {
        assert_alike(|device| {
            let mut weights = tensors(1, device);
            let mut velocities: Vec<_> = weights.iter().map(|_| None).collect();
            for time in 1..=2 {
                let step = LarsStep {
                    rate: 0.5,
                    momentum: 0.9,
                    adaptation,
                };
                let gradients = gradients(time + 1, device);
                for ((weight, gradient), velocity) in weights.iter_mut().zip(gradients).zip(&mut velocities) {
                    let input = LarsInput {
                        weight: weight.clone(),
                        gradient,
                        velocity: velocity.take(),
                    };
                    let updated = lars(input, step);
                    (*weight, *velocity) = (updated.weight, Some(updated.velocity));
                }
            }
            weights.into_iter().chain(velocities.into_iter().flatten()).collect()
        });
    }
}

#[test]
fn a_norm_of_zero_turns_the_adaptation_of_lars_off() {
    let step = LarsStep {
        rate: 0.5,
        momentum: 0.9,
        adaptation: Some(LarsAdaptation {
            trust_coefficient: 0.02,
            weight_decay: 0.0,
        }),
    };
    assert_alike(|device| {
        let updated = |(weight, gradient)| {
            lars(
                LarsInput {
                    weight,
                    gradient,
                    velocity: None,
                },
                step,
            )
            .weight
        };
        let zeros = || tensors(1, device).into_iter().map(|tensor| tensor.zeros_like());
        let of_zeros = zeros().zip(gradients(2, device)).map(updated);
        of_zeros
            .chain(tensors(3, device).into_iter().zip(zeros()).map(updated))
            .collect()
    });
}

#[test]
fn moving_averages() {
    assert_alike(|device| {
        let moved = |average: Tensor<2>, new| moving_average(average, new, [0.9, 0.1]);
        let once: Vec<_> = tensors(1, device)
            .into_iter()
            .zip(gradients(2, device))
            .map(|(average, new)| moved(average, new))
            .collect();
        // These read what waits.
        let several = |new: Tensor<2>| Tensor::cat(vec![new.clone(), new.clone() * 2.0, new - 1.0], 0);
        once.into_iter()
            .zip(tensors(3, device))
            .map(|(average, new)| moved(average, several(new)))
            .collect()
    });
}

#[test]
fn squares_are_added_to_a_sum() {
    let sum = |device: &Device| {
        let zero = Tensor::<1>::zeros([1], device);
        gradients(1, device).into_iter().fold(zero, add_squares).into_scalar::<f32>()
    };
    let waiting = |device: &Device| {
        let zero = Tensor::<1>::zeros([1], device);
        together(|| gradients(1, device).into_iter().fold(zero, add_squares)).into_scalar::<f32>()
    };
    let expected = sum(&Device::flex());
    for found in [sum(&gpu()), waiting(&gpu())] {
        assert!((found / expected - 1.0).abs() < 1e-5, "{found} for {expected}");
    }
}

#[test]
fn tensors_are_scaled_by_a_factor() {
    assert_alike(|device| {
        // This waits, too.
        let factor = moving_average(Tensor::<1>::ones([1], device), Tensor::ones([1], device), [0.5, 0.1]);
        let scaled = |tensor| scale_by(tensor, factor.clone());
        gradients(1, device).into_iter().map(scaled).collect()
    });
}

#[test]
fn updates_wait_for_the_outermost_call() {
    let device = gpu();
    let moved = |value: f32| {
        moving_average(
            Tensor::<1>::zeros([3], &device),
            Tensor::full([3], value, &device),
            [0.5, 0.5],
        )
    };
    let found = together(|| {
        let inner = together(|| moved(2.0));
        [inner, moved(4.0)]
    });
    assert_eq!(found.map(|tensor| tensor.sum().into_scalar::<f32>()), [3.0, 6.0]);
}

#[test]
fn a_panic_leaves_nothing_waiting() {
    let device = gpu();
    let moved = || moving_average(Tensor::<1>::zeros([3], &device), Tensor::ones([3], &device), [0.5, 0.5]);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        together(|| {
            let _lost = moved();
            panic!("on purpose");
        })
    }));
    assert!(caught.is_err());
    // Launched at once.
    assert_eq!(moved().sum().into_scalar::<f32>(), 1.5);
}
