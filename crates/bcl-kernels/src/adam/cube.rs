//! A step of Adam on GPUs: one launch per parameter instead of a dozen, and each number read once.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::{AdamDecay, AdamOps, AdamStep, portable};
use crate::cube::{THREADS, addresses, empty, rows, threads};

impl AdamOps for Cube {
    fn adam(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        spare: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let tensors = [&weight, &gradient, &moment_1, &moment_2];
        let number = weight.shape().num_elements();
        if number == 0 || tensors.iter().any(|tensor| tensor.dtype != DType::F32) {
            let (weight, moment_1, moment_2) = portable::adam::<Self>(weight, gradient, moment_1, moment_2, step);
            return (weight, moment_1, moment_2, spare);
        }
        let (weight, gradient) = (rows(weight), rows(gradient));
        let (moment_1, moment_2) = (owned(moment_1), owned(moment_2));
        let updated = empty(&weight, weight.shape(), DType::F32);
        let client = weight.client.clone();
        let (decoupled, decay) = match step.decay {
            AdamDecay::Coupled(decay) => (false, decay),
            AdamDecay::Decoupled(decay) => (true, step.shrinkage(decay) as f32),
        };
        let [first, second] = step.corrections();
        let [factor, epsilon] = if decoupled {
            [first.recip(), step.epsilon]
        } else {
            step.combined()
        };
        adam_of_each::launch(
            &client,
            threads(number),
            CubeDim::new_1d(THREADS),
            addresses(&[&weight, &gradient, &moment_1, &moment_2]),
            weight.into_tensor_arg(),
            gradient.into_tensor_arg(),
            moment_1.clone().into_tensor_arg(),
            moment_2.clone().into_tensor_arg(),
            updated.clone().into_tensor_arg(),
            number,
            step.rate as f32,
            step.beta_1,
            step.beta_2,
            decay,
            factor,
            second.recip(),
            epsilon,
            decoupled,
        );
        (updated, moment_1, moment_2, spare)
    }
}

/// A tensor in row-major order that nothing else sees, so that a kernel may write into it.
fn owned(tensor: CubeTensor) -> CubeTensor {
    let tensor = rows(tensor);
    if tensor.can_mut() { tensor } else { tensor.copy() }
}

/// `decay` is λ for Adam, and the factor of the weights for `AdamW`. Both differ in where the corrections and ε stand.
#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)] // one binding or number each
fn adam_of_each(
    weight: &Tensor<f32>,
    gradient: &Tensor<f32>,
    moment_1: &mut Tensor<f32>,
    moment_2: &mut Tensor<f32>,
    updated: &mut Tensor<f32>,
    number: usize,
    rate: f32,
    beta_1: f32,
    beta_2: f32,
    decay: f32,
    factor: f32,
    correction: f32,
    epsilon: f32,
    #[comptime] decoupled: bool,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let mut old = weight[position];
    let mut slope = gradient[position];
    if comptime!(decoupled) {
        old *= decay;
    } else {
        slope += old * decay;
    }
    let first = moment_1[position] * beta_1 + slope * (1.0f32 - beta_1);
    let mut second = moment_2[position] * beta_2 + slope * slope * (1.0f32 - beta_2);
    moment_1[position] = first;
    moment_2[position] = second;
    if comptime!(decoupled) {
        second *= correction;
    }
    updated[position] = old - rate * (first * factor / (second.sqrt() + epsilon));
}
