//! Batch normalisation composed of tensor operations.

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;

pub(crate) fn batch_norm_by_batch<B: Backend>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    epsilon: f64,
    relu: bool,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let normalised = B::batch_norm_train(input, weight, bias, epsilon);
    let output = if relu { B::relu(normalised.output) } else { normalised.output };
    (output, normalised.mean, normalised.variance)
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
    let grad = if relu {
        let (mean, variance) = (mean.clone(), variance.clone());
        let output = B::relu(B::batch_norm(input.clone(), weight.clone(), bias, mean, variance, epsilon));
        B::relu_backward(output, grad)
    } else {
        grad
    };
    let grads = B::batch_norm_train_backward(input, weight, mean, variance, epsilon, grad);
    (grads.x_grad, grads.gamma_grad, grads.beta_grad)
}
