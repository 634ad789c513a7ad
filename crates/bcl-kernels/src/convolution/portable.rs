//! Convolution through Burn's own operations: the reference, and the default on GPUs.

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;
use burn::tensor::ops::ConvOptions;

fn options(stride: usize, padding: usize) -> ConvOptions<2> {
    ConvOptions::new([stride; 2], [padding; 2], [1; 2], 1)
}

pub(crate) fn convolve<B: Backend>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    stride: usize,
    padding: usize,
) -> FloatTensor<B> {
    B::conv2d(input, weight, None, options(stride, padding))
}

pub(crate) fn convolve_input_backward<B: Backend>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    grad: FloatTensor<B>,
    stride: usize,
    padding: usize,
) -> FloatTensor<B> {
    B::conv2d_x_backward(input, weight, grad, options(stride, padding))
}

pub(crate) fn convolve_weight_backward<B: Backend>(
    input: FloatTensor<B>,
    weight: FloatTensor<B>,
    grad: FloatTensor<B>,
    stride: usize,
    padding: usize,
) -> FloatTensor<B> {
    B::conv2d_weight_backward(input, weight, grad, options(stride, padding))
}
