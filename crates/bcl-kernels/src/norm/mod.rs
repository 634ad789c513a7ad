//! Batch normalisation with the statistics of the batch.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod planes;
pub(crate) mod portable;
mod rows;

/// The output of [`batch_norm`] and the statistics it normalised with.
#[derive(Debug, Clone)]
pub struct BatchNormalised<const D: usize> {
    /// The normalised batch, with the shape of the input.
    pub output: Tensor<D>,
    /// Mean of each channel, `[views * num_channels]`, view by view; no gradient flows through it.
    pub mean: Tensor<1>,
    /// Biased variance of each channel, `[views * num_channels]`, view by view; no gradient flows through it.
    pub variance: Tensor<1>,
}

/// How [`batch_norm_with`] normalises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchNormOptions {
    /// ε, which is added to the variance.
    pub epsilon: f64,
    /// Whether ReLU follows.
    pub relu: bool,
    /// Number of equal parts of the batch, one after the other, that are normalised separately. So several views of the same images go through a network as one
    /// batch, and no view sees the statistics of another.
    pub views: usize,
}

impl Default for BatchNormOptions {
    fn default() -> Self {
        Self {
            epsilon: 1e-5,
            relu: false,
            views: 1,
        }
    }
}

/// Normalises each channel by its mean and variance over the batch and all positions.
///
/// ```text
/// output = (input - mean) / √(variance + epsilon) · weight + bias
/// ```
///
/// Differentiable in input, weight and bias.
///
/// Source: Ioffe and Szegedy, [Batch Normalization](https://arxiv.org/abs/1502.03167).
///
/// # Shapes
/// - input:  `[batch_size, num_channels, ..]`, of any float type
/// - weight: `[num_channels]`, `f32` or `f64`
/// - bias:   `[num_channels]`, of the type of the weight
///
/// The output has the type of the input. Everything is computed in the type of the weight, in which the statistics are, too.
///
/// # Panics
/// Panics if the weight or bias has a different number of channels, or the input is empty.
///
/// # Example
/// ```
/// use bcl_kernels::batch_norm;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let input = Tensor::<2>::from_floats([[1.0, 5.0], [3.0, 5.0]], &device);
/// let (weight, bias) = (Tensor::ones([2], &device), Tensor::zeros([2], &device));
///
/// let normalised = batch_norm(input, weight, bias, 0.25);
///
/// assert_eq!(normalised.mean.into_data().as_slice::<f32>().unwrap(), [2.0, 5.0]);
/// assert_eq!(normalised.variance.into_data().as_slice::<f32>().unwrap(), [1.0, 0.0]);
/// assert_eq!(normalised.output.into_data().as_slice::<f32>().unwrap()[1], 0.0);
/// ```
pub fn batch_norm<const D: usize>(input: Tensor<D>, weight: Tensor<1>, bias: Tensor<1>, epsilon: f64) -> BatchNormalised<D> {
    batch_norm_with(
        input,
        None,
        weight,
        bias,
        BatchNormOptions {
            epsilon,
            ..BatchNormOptions::default()
        },
    )
}

/// Applies [`batch_norm`], then ReLU, in the same passes over the batch: `output = max(0, batch_norm(input))`.
///
/// # Shapes
/// Same as for [`batch_norm`].
///
/// # Panics
/// Panics in the same cases as [`batch_norm`].
pub fn batch_norm_relu<const D: usize>(input: Tensor<D>, weight: Tensor<1>, bias: Tensor<1>, epsilon: f64) -> BatchNormalised<D> {
    let options = BatchNormOptions {
        epsilon,
        relu: true,
        views: 1,
    };
    batch_norm_with(input, None, weight, bias, options)
}

/// Applies [`batch_norm`], adds the residual of a block, if there is one, and applies ReLU, if asked to, in the same passes over the batch:
/// `output = max(0, batch_norm(input) + residual)`. Each view is normalised by statistics of its own.
///
/// Differentiable in the residual, too.
///
/// # Shapes
/// Same as for [`batch_norm`]; the residual has the shape and the type of the input.
///
/// # Panics
/// Panics in the same cases as [`batch_norm`], and if the residual has another shape or no ReLU follows it, or the batch does not divide into the views.
pub fn batch_norm_with<const D: usize>(
    input: Tensor<D>,
    residual: Option<Tensor<D>>,
    weight: Tensor<1>,
    bias: Tensor<1>,
    options: BatchNormOptions,
) -> BatchNormalised<D> {
    let shape = input.dims();
    check_shapes(shape, weight.dims()[0], bias.dims()[0]);
    let views = options.views;
    assert!(
        views > 0 && shape[0].is_multiple_of(views),
        "a batch of {} does not divide into {views} views",
        shape[0]
    );
    let [input, weight, bias] = [input.into_dispatch(), weight.into_dispatch(), bias.into_dispatch()];
    BatchNormalised::from_dispatch(match residual {
        None => Dispatch::batch_norm_by_batch(input, weight, bias, options),
        Some(residual) => {
            assert_eq!(residual.dims(), shape, "the residual must have the shape of the input");
            assert!(options.relu, "ReLU follows the residual of a block");
            Dispatch::batch_norm_add_relu(input, residual.into_dispatch(), weight, bias, options)
        }
    })
}

impl<const D: usize> BatchNormalised<D> {
    fn from_dispatch((output, mean, variance): (FloatTensor<Dispatch>, FloatTensor<Dispatch>, FloatTensor<Dispatch>)) -> Self {
        Self {
            output: Tensor::from_dispatch(output),
            mean: Tensor::from_dispatch(mean),
            variance: Tensor::from_dispatch(variance),
        }
    }
}

pub(crate) fn check_shapes<const D: usize>(input: [usize; D], weight: usize, bias: usize) {
    assert!(
        D >= 2 && input.iter().all(|&size| size > 0),
        "batch normalisation needs a batch of at least one value in each of its channels, but the input has shape {input:?}"
    );
    assert!(
        weight == input[1] && bias == input[1],
        "the input has {} channels, but there are {weight} weights and {bias} biases",
        input[1]
    );
}

/// The batch normalisation kernels of a backend. The default bodies compose tensor operations.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait NormOps: Backend {
    /// The kernel behind [`batch_norm_with`](crate::batch_norm_with) without a residual. Returns output, mean and variance.
    fn batch_norm_by_batch(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        portable::batch_norm_by_batch::<Self>(input, weight, bias, options)
    }

    /// The gradients of input, weight and bias, given the statistics that the forward pass returned. Weight and bias have the sum over all views. With the normalised input `x̂`, the
    /// standard deviation `s` and the mean `⟨·⟩` over a channel,
    ///
    /// ```text
    /// bias' = Σ grad,   weight' = Σ grad x̂,   input' = weight / s · (grad - ⟨grad⟩ - x̂ ⟨grad x̂⟩)
    /// ```
    fn batch_norm_by_batch_backward(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        portable::batch_norm_by_batch_backward::<Self>(input, weight, bias, mean, variance, grad, options)
    }

    /// The kernel behind [`batch_norm_with`](crate::batch_norm_with) with a residual. Returns output, mean and variance.
    fn batch_norm_add_relu(
        input: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        portable::batch_norm_add_relu::<Self>(input, residual, weight, bias, options)
    }

    /// The gradient of what a ReLU was applied to, given its output: `grad` where the output is positive.
    fn relu_gradient(output: FloatTensor<Self>, grad: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::relu_gradient::<Self>(output, grad)
    }
}
