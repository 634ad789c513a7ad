//! Batch normalisation composed of tensor operations.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::FloatDType;

use super::NormOps;

pub(crate) fn batch_norm_by_batch<B: Backend>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    epsilon: f64,
    relu: bool,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let narrow = precision::<B>(&input);
    let input = B::float_cast(input, precision::<B>(&weight));
    let normalised = B::batch_norm_train(input, weight, bias, epsilon);
    let output = if relu { B::relu(normalised.output) } else { normalised.output };
    (B::float_cast(output, narrow), normalised.mean, normalised.variance)
}

#[expect(clippy::too_many_arguments, reason = "same as the trait's function")]
pub(crate) fn batch_norm_by_batch_backward<B: Backend>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    mean: FloatTensor<B>,
    variance: FloatTensor<B>,
    grad: FloatTensor<B>,
    epsilon: f64,
    relu: bool,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let narrow = precision::<B>(&input);
    let wide = precision::<B>(&weight);
    let (input, grad) = (B::float_cast(input, wide), B::float_cast(grad, wide));
    let grad = if relu {
        let (mean, variance) = (mean.clone(), variance.clone());
        let output = B::relu(B::batch_norm(input.clone(), weight.clone(), bias, mean, variance, epsilon));
        B::relu_backward(output, grad)
    } else {
        grad
    };
    let grads = B::batch_norm_train_backward(input, weight, mean, variance, epsilon, grad);
    (B::float_cast(grads.x_grad, narrow), grads.gamma_grad, grads.beta_grad)
}

pub(crate) fn batch_norm_add_relu<B: Backend + NormOps>(
    input: FloatTensor<B>,
    residual: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    epsilon: f64,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let (normalised, mean, variance) = B::batch_norm_by_batch(input, weight, bias, epsilon, false);
    (B::relu(B::float_add(normalised, residual)), mean, variance)
}

pub(crate) fn relu_gradient<B: Backend>(output: FloatTensor<B>, grad: FloatTensor<B>) -> FloatTensor<B> {
    B::relu_backward(output, grad)
}

/// The precision of a tensor.
pub(super) fn precision<B: Backend>(tensor: &FloatTensor<B>) -> FloatDType {
    tensor.dtype().into()
}
