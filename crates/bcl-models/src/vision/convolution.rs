//! Convolution without a bias.

use super::{draws::Draws, precision::precision};
use bcl_kernels::convolve;
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, s},
};

/// A 2D convolution without a bias, padded by half its kernel, as residual networks use it before batch normalisation.
#[derive(Module, Debug)]
pub struct Convolution {
    /// `[channels_out, channels_in, kernel_size, kernel_size]`
    pub weight: Param<Tensor<4>>,
    /// Distance between the places the kernel is put.
    #[module(skip)]
    pub stride: usize,
}

impl Convolution {
    /// A square kernel with values drawn as torchvision draws them.
    pub(super) fn new(channels: [usize; 2], kernel_size: usize, stride: usize, draws: &mut Draws, device: &Device) -> Self {
        let [channels_in, channels_out] = channels;
        let shape = [channels_out, channels_in, kernel_size, kernel_size];
        Self {
            weight: draws.kaiming_normal(shape, channels_out * kernel_size * kernel_size, device),
            stride,
        }
    }

    /// Convolves.
    ///
    /// # Shapes
    /// - input:  `[batch_size, channels_in, height, width]`
    /// - output: `[batch_size, channels_out, ⌈height / stride⌉, ⌈width / stride⌉]` for odd kernels
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let weight = self.weight.val().cast(precision(&input));
        let [_, _, kernel_size, _] = weight.dims();
        if kernel_size == 1 {
            return pointwise(self.every_stride(input), weight.flatten(1, 3));
        }
        convolve(input, weight, self.stride, kernel_size / 2)
    }

    /// The places a kernel of size 1 is put.
    fn every_stride(&self, input: Tensor<4>) -> Tensor<4> {
        if self.stride == 1 {
            return input;
        }
        let step = self.stride as isize;
        input.slice(s![.., .., ..;step, ..;step])
    }
}

/// A convolution with a kernel of size 1, as a matrix product.
///
/// Burn computes the gradient of a kernel as a convolution with the output's gradient for a kernel as large as the image. On the CPU the
/// product takes a tenth of that time, and forward and backward together a quarter.
///
/// # Shapes
/// - input:  `[batch_size, channels_in, height, width]`
/// - weight: `[channels_out, channels_in]`
fn pointwise(input: Tensor<4>, weight: Tensor<2>) -> Tensor<4> {
    let [batch_size, channels_in, height, width] = input.dims();
    let [channels_out, _] = weight.dims();
    let places = height * width;
    // One product an image leaves everything where it is, but its gradient holds a kernel an image. One product for all of them moves
    // the channels to the front and back. What is smaller depends on how many places there are.
    if channels_in * channels_out <= places * (channels_in + channels_out) {
        let output = weight.unsqueeze::<3>().matmul(input.flatten::<3>(2, 3));
        return output.reshape([batch_size, channels_out, height, width]);
    }
    let input = input.swap_dims(0, 1).reshape([channels_in, batch_size * places]);
    let output = weight.matmul(input);
    output.reshape([channels_out, batch_size, height, width]).swap_dims(0, 1)
}
