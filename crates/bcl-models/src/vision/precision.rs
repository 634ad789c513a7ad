//! Mixed precision: a network computes in the precision of its input, for parameters of any precision.
//!
//! Each layer casts its parameters where it uses them, so gradients have the parameters' own precision. Nothing is cast if the input has
//! that precision, too. Batch normalisation stays in the parameters' precision, because it sums over whole batches.

use burn::{
    nn::Linear,
    tensor::{FloatDType, Tensor},
};

/// The float type of a tensor.
pub(super) fn precision<const D: usize>(tensor: &Tensor<D>) -> FloatDType {
    tensor.dtype().into()
}

/// Applies a linear layer in the precision of the input.
pub(crate) fn linear(layer: &Linear, input: Tensor<2>) -> Tensor<2> {
    let narrow = precision(&input);
    let bias = layer.bias.as_ref().map(|bias| bias.val().cast(narrow));
    bcl_kernels::linear(input, layer.weight.val().cast(narrow), bias)
}
