//! Two views in one pass through an encoder on a GPU, against one after the other on the CPU. Mesa's software driver is enough.
#![cfg(any(feature = "cuda", feature = "metal", feature = "vulkan", feature = "wgpu"))]

#[path = "../../bcl-kernels/tests/gpu/device.rs"]
mod device;

use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
use burn::tensor::{Device, Tensor, TensorData};
use device::gpu;

/// Pixels between 0 and 1 without a pattern.
fn images(seed: usize, device: &Device) -> Tensor<4> {
    let pixels: Vec<f32> = (0..6 * 3 * 8 * 8)
        .map(|i| ((seed + i * i * 31) % 199) as f32 / 199.0)
        .collect();
    Tensor::from_data(TensorData::new(pixels, [6, 3, 8, 8]), device)
}

/// The projections of two views, running statistics and gradients.
fn trained(device: &Device) -> Vec<TensorData> {
    let device = device.clone().autodiff();
    let trunk = ResNetConfig {
        depth: ResNetDepth::ResNet18,
        stem: Stem::Cifar,
        width: 4,
    };
    let head = ProjectionHeadConfig {
        hidden: 8,
        out: 4,
        ..ProjectionHeadConfig::default()
    };
    let encoder = ImageEncoderConfig {
        trunk,
        head,
        split_channels: None,
    }
    .init(0, &device);
    let views = [1, 2].map(|seed| images(seed, &device)).to_vec();
    let projections = encoder.projections_of_views(views, Mode::Train);
    let [first, second] = [&projections[0], &projections[1]];
    let gradients = (first.clone() * second.clone()).sum().backward();
    let trunk = &encoder.trunk;
    vec![
        first.to_data(),
        second.to_data(),
        trunk.bn1.running_mean.value().into_data(),
        trunk.bn1.running_var.value().into_data(),
        trunk.layer4[1].bn2.running_var.value().into_data(),
        trunk.conv1.weight.grad(&gradients).expect("trained").into_data(),
        trunk
            .bn1
            .weight
            .as_ref()
            .and_then(|weight| weight.grad(&gradients))
            .expect("trained")
            .into_data(),
        encoder.head.out.weight.grad(&gradients).expect("trained").into_data(),
    ]
}

#[test]
fn two_views_in_one_pass_have_the_values_of_one_after_the_other() {
    let (there, here) = (trained(&gpu()), trained(&Device::flex()));
    for (index, (there, here)) in there.iter().zip(&here).enumerate() {
        let largest = here.iter::<f32>().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        for (found, expected) in there.iter::<f32>().zip(here.iter::<f32>()) {
            assert!(
                (found - expected).abs() <= 1e-3 * largest,
                "{index}: {found} is not {expected}"
            );
        }
    }
}
