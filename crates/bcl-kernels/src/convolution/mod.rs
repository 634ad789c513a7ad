//! 2D convolution whose backward pass costs at most twice the forward pass.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;

mod autodiff;
mod columns;
#[cfg(feature = "cube")]
pub(crate) mod cube;
mod dense;
mod flex;
mod geometry;
mod interleaved;
mod order;
mod pixels;
pub(crate) mod portable;
mod rounding;
mod windows;
mod winograd;

pub use rounding::with_tf32;

/// Convolves a batch of images with a set of kernels, without a bias.
///
/// ```text
/// output[b, o, y, x] = Σ_{c, i, j} weight[o, c, i, j] · input[b, c, stride y + i - padding, stride x + j - padding]
/// ```
///
/// The input is zero outside its borders. Differentiable in input and weight. Burn computes the gradient of the weight as a
/// convolution with a kernel as large as the image; here all three passes are matrix products.
///
/// On the CPU, 3 x 3 kernels with stride 1 use Winograd's F(4 x 4, 3 x 3) in single precision: a quarter of the multiplications, with
/// about ten times the error of adding up the taps. Double precision always adds up the taps.
///
/// Source: Lavin and Gray, [Fast Algorithms for Convolutional Neural Networks](https://arxiv.org/abs/1509.09308).
///
/// # Shapes
/// - input:  `[batch_size, channels_in, height, width]`, `f32` or `f64`
/// - weight: `[channels_out, channels_in, kernel_height, kernel_width]`
/// - output: `[batch_size, channels_out, (height + 2 padding - kernel_height) / stride + 1, ..]`, rounded down
///
/// # Panics
/// Panics if the numbers of channels differ, the stride is 0, or the padded input is smaller than the kernel.
///
/// # Example
/// ```
/// use bcl_kernels::convolve;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let row = Tensor::<4>::from_floats([[[[1.0, 2.0, 4.0]]]], &device);
/// let differences = Tensor::<4>::from_floats([[[[-1.0, 1.0]]]], &device);
///
/// let output = convolve(row, differences, 1, 0).into_data();
///
/// assert_eq!(output.as_slice::<f32>().unwrap(), [1.0, 2.0]);
/// ```
pub fn convolve(input: Tensor<4>, weight: Tensor<4>, stride: usize, padding: usize) -> Tensor<4> {
    check_shapes(input.dims(), weight.dims(), stride, padding);
    Tensor::from_dispatch(Dispatch::convolve(
        input.into_dispatch(),
        weight.into_dispatch(),
        stride,
        padding,
    ))
}

pub(crate) fn check_shapes(input: [usize; 4], weight: [usize; 4], stride: usize, padding: usize) {
    assert!(
        input[1] == weight[1],
        "the input has {} channels, but the kernels have {}",
        input[1],
        weight[1]
    );
    assert!(stride > 0, "the stride of a convolution is 0, but must be at least 1");
    let fits = |axis: usize| input[axis] + 2 * padding >= weight[axis].max(1);
    assert!(
        fits(2) && fits(3),
        "an input of {} x {} with padding {padding} is smaller than a kernel of {} x {}",
        input[2],
        input[3],
        weight[2],
        weight[3]
    );
}

/// The convolution kernels of a backend. The default bodies use Burn's convolution.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait ConvolutionOps: Backend {
    /// The kernel behind [`convolve`](crate::convolve).
    fn convolve(input: FloatTensor<Self>, weight: FloatTensor<Self>, stride: usize, padding: usize) -> FloatTensor<Self> {
        portable::convolve::<Self>(input, weight, stride, padding)
    }

    /// The gradient of the input. Only the shape of `input` is used.
    fn convolve_input_backward(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        stride: usize,
        padding: usize,
    ) -> FloatTensor<Self> {
        portable::convolve_input_backward::<Self>(input, weight, grad, stride, padding)
    }

    /// The gradient of the weight. Only the shape of `weight` is used.
    fn convolve_weight_backward(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        stride: usize,
        padding: usize,
    ) -> FloatTensor<Self> {
        portable::convolve_weight_backward::<Self>(input, weight, grad, stride, padding)
    }
}
