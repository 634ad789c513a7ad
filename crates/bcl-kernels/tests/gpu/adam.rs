//! Steps of Adam and `AdamW` have the result of the CPU, and leave what others still hold as it was.

use super::gpu;
use bcl_kernels::{AdamDecay, AdamInput, AdamStep, adam};
use burn::tensor::{Device, Tensor, TensorData, Tolerance};

/// Numbers between -1 and 1 without a pattern.
fn numbers(seed: usize, device: &Device) -> Tensor<2> {
    let values: Vec<f32> = (0..300 * 7)
        .map(|i| ((seed + i * i * 31) % 199) as f32 / 99.0 - 1.0)
        .collect();
    Tensor::from_data(TensorData::new(values, [300, 7]), device)
}

/// Weight and moments after three steps, of which the second keeps the moments before it, and these.
fn three_steps(decay: AdamDecay, device: &Device) -> Vec<TensorData> {
    let (mut weight, mut moments, mut spare, mut kept) = (numbers(5, device), None, None, None);
    for time in 1..=3 {
        // As a gradient of a transposed product lies in memory.
        let gradient = numbers(time, device).reshape([7, 300]).transpose();
        if time == 2 {
            kept.clone_from(&moments);
        }
        let step = AdamStep {
            rate: 0.01,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            decay,
            time,
        };
        let updated = adam(
            AdamInput {
                weight,
                gradient,
                moments,
                spare,
            },
            step,
        );
        (weight, moments, spare) = (updated.weight, Some(updated.moments), updated.spare);
    }
    let moments = moments.into_iter().chain(kept).flatten();
    std::iter::once(weight).chain(moments).map(Tensor::into_data).collect()
}

#[test]
fn steps_have_the_result_of_the_cpu() {
    let decays = [
        AdamDecay::Coupled(0.0),
        AdamDecay::Coupled(0.1),
        AdamDecay::Decoupled(0.0),
        AdamDecay::Decoupled(0.1),
    ];
    for decay in decays {
        let found = three_steps(decay, &gpu());
        let expected = three_steps(decay, &Device::flex());
        assert_eq!(found.len(), 5);
        for (found, expected) in found.iter().zip(&expected) {
            found.assert_approx_eq::<f32>(expected, Tolerance::absolute(1e-6));
        }
    }
}
