//! The sizes of a convolution, and how its work is split.

use std::ops::Range;

/// The sizes of a convolution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    pub(super) batch_size: usize,
    pub(super) channels_in: usize,
    pub(super) channels_out: usize,
    /// Height and width.
    pub(super) input: [usize; 2],
    pub(super) kernel: [usize; 2],
    pub(super) output: [usize; 2],
    pub(super) stride: usize,
    pub(super) padding: usize,
}

/// Output pixels that one matrix product should have at least, so that reading the kernels pays off.
const OUTPUT_PIXELS: usize = 256;

/// Number of partial sums in the gradient of the weight, which are added in a fixed order: few, to save memory, but enough for many
/// processors. A constant, so that the result does not depend on the number of threads.
pub(super) const SHARDS: usize = 8;

impl Geometry {
    pub(super) fn new(input: [usize; 4], weight: [usize; 4], stride: usize, padding: usize) -> Self {
        let size = |axis: usize| (input[axis] + 2 * padding - weight[axis]) / stride + 1;
        Self {
            batch_size: input[0],
            channels_in: input[1],
            channels_out: weight[0],
            input: [input[2], input[3]],
            kernel: [weight[2], weight[3]],
            output: [size(2), size(3)],
            stride,
            padding,
        }
    }

    /// The convolution that computes the input's gradient from the output's, with transposed kernels rotated by 180°. `None` if the
    /// kernel is not square, the stride is not 1, or the padding is at least the kernel size.
    pub(super) fn reversed(&self) -> Option<Self> {
        let square = self.kernel[0] == self.kernel[1];
        (self.stride == 1 && square && self.padding < self.kernel[0]).then(|| Self {
            channels_in: self.channels_out,
            channels_out: self.channels_in,
            input: self.output,
            output: self.input,
            padding: self.kernel[0] - 1 - self.padding,
            ..*self
        })
    }

    /// Whether input and output have equal rows, so that each tap reads the image shifted by a constant offset.
    pub(super) fn shifts(&self) -> bool {
        self.stride == 1 && self.input == self.output
    }

    /// Whether an output pixel sees one input pixel, its own, so that the im2col matrix of an image is the image.
    pub(super) fn is_pointwise(&self) -> bool {
        self.kernel == [1, 1] && self.shifts()
    }

    /// Number of input pixels per image, for one channel.
    pub(super) fn input_pixels(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Number of values in one image.
    pub(super) fn image(&self) -> usize {
        self.channels_in * self.input_pixels()
    }

    /// Number of output pixels per image, for one channel.
    pub(super) fn output_pixels(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Number of output values per image.
    pub(super) fn image_out(&self) -> usize {
        self.channels_out * self.output_pixels()
    }

    /// Number of values in the input window of one output pixel: the rows of the im2col matrix.
    pub(super) fn taps(&self) -> usize {
        self.channels_in * self.kernel[0] * self.kernel[1]
    }

    /// Number of images that share a matrix product.
    pub(super) fn group(&self) -> usize {
        OUTPUT_PIXELS
            .div_ceil(self.output_pixels())
            .min(self.batch_size.div_ceil(SHARDS))
            .max(1)
    }

    /// Number of images in each partial sum of the weight's gradient; a multiple of the group size.
    pub(super) fn shard(&self) -> usize {
        self.batch_size.div_ceil(SHARDS).next_multiple_of(self.group()).max(1)
    }

    /// The output positions along an axis at which tap `tap` falls inside the input, and the input position that the first of them reads.
    pub(super) fn visible(&self, axis: usize, tap: usize) -> (Range<usize>, usize) {
        // On thin images, the first position may be beyond the last one.
        let first = self.padding.saturating_sub(tap).div_ceil(self.stride).min(self.output[axis]);
        // One past the last such position; the range may be empty.
        let end = (self.input[axis] + self.padding).saturating_sub(tap).div_ceil(self.stride);
        let end = end.min(self.output[axis]).max(first);
        (first..end, (first * self.stride + tap).saturating_sub(self.padding))
    }
}
