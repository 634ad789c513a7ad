//! Batch normalisation composed of tensor operations.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Slice};

use super::{BatchNormOptions, NormOps};

pub(crate) fn batch_norm_by_batch<B: Backend + NormOps>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    options: BatchNormOptions,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    if options.views > 1 {
        return by_view::<B>(input, weight, bias, options);
    }
    let BatchNormOptions { epsilon, relu, .. } = options;
    let narrow = precision::<B>(&input);
    let input = B::float_cast(input, precision::<B>(&weight));
    let normalised = B::batch_norm_train(input, weight, bias, epsilon);
    let output = if relu { B::relu(normalised.output) } else { normalised.output };
    (B::float_cast(output, narrow), normalised.mean, normalised.variance)
}

pub(crate) fn batch_norm_by_batch_backward<B: Backend + NormOps>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    mean: FloatTensor<B>,
    variance: FloatTensor<B>,
    grad: FloatTensor<B>,
    options: BatchNormOptions,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    if options.views > 1 {
        return by_view_backward::<B>(input, weight, bias, mean, variance, grad, options);
    }
    let BatchNormOptions { epsilon, relu, .. } = options;
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
    options: BatchNormOptions,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let (normalised, mean, variance) = B::batch_norm_by_batch(input, weight, bias, BatchNormOptions { relu: false, ..options });
    (B::relu(B::float_add(normalised, residual)), mean, variance)
}

/// Normalises one view after the other.
pub(super) fn by_view<B: Backend + NormOps>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    options: BatchNormOptions,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let alone = BatchNormOptions { views: 1, ..options };
    let (mut outputs, mut means, mut variances) = (Vec::new(), Vec::new(), Vec::new());
    for view in parts::<B>(&input, options.views) {
        let (output, mean, variance) = B::batch_norm_by_batch(view, weight.clone(), bias.clone(), alone);
        outputs.push(output);
        means.push(mean);
        variances.push(variance);
    }
    (B::float_cat(outputs, 0), B::float_cat(means, 0), B::float_cat(variances, 0))
}

/// The gradients of [`by_view`].
pub(super) fn by_view_backward<B: Backend + NormOps>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    mean: FloatTensor<B>,
    variance: FloatTensor<B>,
    grad: FloatTensor<B>,
    options: BatchNormOptions,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let alone = BatchNormOptions { views: 1, ..options };
    let [inputs, means, variances, grads] = [input, mean, variance, grad].map(|tensor| parts::<B>(&tensor, options.views));
    let (mut of_input, mut of_parameters) = (Vec::new(), None);
    for (((input, mean), variance), grad) in inputs.into_iter().zip(means).zip(variances).zip(grads) {
        let (input, of_weight, of_bias) =
            B::batch_norm_by_batch_backward(input, weight.clone(), bias.clone(), mean, variance, grad, alone);
        of_input.push(input);
        of_parameters = Some(match of_parameters {
            None => (of_weight, of_bias),
            Some((weight, bias)) => (B::float_add(weight, of_weight), B::float_add(bias, of_bias)),
        });
    }
    let (of_weight, of_bias) = of_parameters.expect("there is at least one view");
    (B::float_cat(of_input, 0), of_weight, of_bias)
}

/// Equal parts of a tensor, one after the other along its first axis.
fn parts<B: Backend>(tensor: &FloatTensor<B>, count: usize) -> Vec<FloatTensor<B>> {
    let size = tensor.shape()[0] / count;
    let part = |index| B::float_slice(tensor.clone(), &[Slice::from(index * size..(index + 1) * size)]);
    (0..count).map(part).collect()
}

pub(crate) fn relu_gradient<B: Backend>(output: FloatTensor<B>, grad: FloatTensor<B>) -> FloatTensor<B> {
    B::relu_backward(output, grad)
}

/// The precision of a tensor.
pub(super) fn precision<B: Backend>(tensor: &FloatTensor<B>) -> FloatDType {
    tensor.dtype().into()
}
