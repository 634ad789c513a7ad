//! Convolution without a bias.

use super::precision::precision;
use crate::draws::Draws;
use bcl_kernels::{convolve, large_batches_are_faster};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, s},
};

/// A square 2D convolution without a bias and with padding `kernel_size / 2`, for use before batch normalisation.
#[derive(Module, Debug)]
pub struct Convolution {
    /// `[channels_out, channels_in, kernel_size, kernel_size]`
    pub weight: Param<Tensor<4>>,
    /// Step between kernel positions.
    #[module(skip)]
    pub stride: usize,
}

impl Convolution {
    /// A square kernel, initialised as in torchvision.
    pub(super) fn new(channels: [usize; 2], kernel_size: usize, stride: usize, draws: &mut Draws, device: &Device) -> Self {
        let [channels_in, channels_out] = channels;
        let shape = [channels_out, channels_in, kernel_size, kernel_size];
        Self {
            weight: draws.kaiming_normal(shape, channels_out * kernel_size * kernel_size, device),
            stride,
        }
    }

    /// Applies the convolution, in the precision of the input.
    ///
    /// # Shapes
    /// - input:  `[batch_size, channels_in, height, width]`
    /// - output: `[batch_size, channels_out, ⌈height / stride⌉, ⌈width / stride⌉]` for odd kernels
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let weight = self.weight.val().cast(precision(&input));
        let [_, _, kernel_size, _] = weight.dims();
        // On a GPU, images have their channels last, and these products would move them.
        if kernel_size == 1 && !large_batches_are_faster(&input.device()) {
            return pointwise(self.every_stride(input), weight.flatten(1, 3));
        }
        convolve(input, weight, self.stride, kernel_size / 2)
    }

    /// Keeps the pixels that a 1x1 kernel with this stride reads.
    fn every_stride(&self, input: Tensor<4>) -> Tensor<4> {
        if self.stride == 1 {
            return input;
        }
        let step = self.stride as isize;
        input.slice(s![.., .., ..;step, ..;step])
    }
}

/// A 1x1 convolution, as a matrix product.
///
/// Burn computes the gradient of the weight as a convolution with a kernel as large as the image. On the CPU the matrix product takes a
/// tenth of that time; forward and backward together take a quarter.
///
/// # Shapes
/// - input:  `[batch_size, channels_in, height, width]`
/// - weight: `[channels_out, channels_in]`
fn pointwise(input: Tensor<4>, weight: Tensor<2>) -> Tensor<4> {
    let [batch_size, channels_in, height, width] = input.dims();
    let [channels_out, _] = weight.dims();
    let places = height * width;
    // One product per image needs no reordering, but its gradient is one kernel per image. A single product for the whole batch moves the
    // channels to the front and back. The number of pixels decides which is smaller.
    if channels_in * channels_out <= places * (channels_in + channels_out) {
        let output = weight.unsqueeze::<3>().matmul(input.flatten::<3>(2, 3));
        return output.reshape([batch_size, channels_out, height, width]);
    }
    let input = input.swap_dims(0, 1).reshape([channels_in, batch_size * places]);
    let output = weight.matmul(input);
    output.reshape([channels_out, batch_size, height, width]).swap_dims(0, 1)
}
