//! Batch normalisation, with its gradients, up to rounding.

use super::{
    common::{Numbers, assert_close},
    gpu, home,
};
use bcl_kernels::{BatchNormOptions, batch_norm_with};
use burn::tensor::{DType, Device, Tensor};

/// What follows the normalisation.
#[derive(Clone, Copy)]
enum Then {
    Nothing,
    Relu,
    AddRelu,
}

/// Output, statistics and gradients on a device, as matrices.
fn normalised(device: &Device, [batch, channels, height, width]: [usize; 4], then: Then, views: usize) -> Vec<Tensor<2>> {
    let device = device.clone().autodiff();
    let mut numbers = Numbers((batch * channels) as u64);
    let mut matrix = |shape: [usize; 2]| numbers.matrix(shape, DType::F32, &device);
    // Far from zero, where sums of squares would cancel.
    let input = (matrix([batch * channels, height * width]) + 3.0)
        .reshape([batch, channels, height, width])
        .require_grad();
    let [weight, bias] = [0, 1].map(|_| matrix([1, channels]).squeeze_dim::<1>(0).require_grad());
    let slopes = matrix([batch * channels, height * width]).reshape([batch, channels, height, width]);
    let residual = matrix([batch * channels, height * width])
        .reshape([batch, channels, height, width])
        .require_grad();
    let (added, relu) = match then {
        Then::Nothing => (None, false),
        Then::Relu => (None, true),
        Then::AddRelu => (Some(residual.clone()), true),
    };
    let options = BatchNormOptions {
        epsilon: 1e-5,
        relu,
        views,
    };
    let found = batch_norm_with(input.clone(), added, weight.clone(), bias.clone(), options);
    let gradients = (found.output.clone() * slopes).sum().backward();
    let row = |tensor: Tensor<1>| tensor.unsqueeze::<2>();
    let of_residual = residual.grad(&gradients).unwrap_or_else(|| residual.clone().inner());
    [
        of_residual.reshape([batch * channels, height * width]),
        found.output.inner().reshape([batch * channels, height * width]),
        row(found.mean.inner()),
        row(found.variance.inner()),
        input
            .grad(&gradients)
            .expect("tracked")
            .reshape([batch * channels, height * width]),
        row(weight.grad(&gradients).expect("tracked")),
        row(bias.grad(&gradients).expect("tracked")),
    ]
    .map(home)
    .into()
}

#[test]
fn batches_are_normalised_as_on_the_cpu() {
    let shapes = [
        ([2, 1, 1, 3], 1),
        ([4, 3, 5, 5], 2),
        ([3, 40, 7, 2], 3),
        ([16, 64, 8, 8], 1),
        ([16, 64, 8, 8], 2),
        ([2, 100, 1, 1], 1),
        ([64, 100, 1, 1], 2),
    ];
    for (shape, views) in shapes {
        for then in [Then::Nothing, Then::Relu, Then::AddRelu] {
            let there = normalised(&gpu(), shape, then, views);
            for (there, here) in there.into_iter().zip(normalised(&Device::flex(), shape, then, views)) {
                assert_close(there, here);
            }
        }
    }
}
