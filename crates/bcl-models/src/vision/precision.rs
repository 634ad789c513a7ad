//! Mixed precision: a network computes in the precision of its input, whatever that of its parameters is.
//!
//! Each layer casts its parameters where it uses them, so that gradients come back in the parameters' own precision; for an input in that
//! precision nothing is cast. Batch normalisation keeps to the parameters' precision, because its sums run over whole batches.

use burn::{
    nn::Linear,
    tensor::{FloatDType, Tensor, module},
};

/// How the numbers of a tensor are stored.
pub(super) fn precision<const D: usize>(tensor: &Tensor<D>) -> FloatDType {
    tensor.dtype().into()
}

/// A linear layer, in the precision of its input.
pub(super) fn linear(layer: &Linear, input: Tensor<2>) -> Tensor<2> {
    let narrow = precision(&input);
    let bias = layer.bias.as_ref().map(|bias| bias.val().cast(narrow));
    module::linear(input, layer.weight.val().cast(narrow), bias)
}
