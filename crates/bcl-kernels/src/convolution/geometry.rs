//! The sizes of a convolution, and how its work is cut.

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

/// Places that a matrix product should have at least, so that reading the kernels pays.
const PLACES: usize = 256;

/// Parts into which the gradient of a kernel is cut. Each has a sum of its own, added up in their order: few, for memory, but enough for
/// many processors. A constant, for the same sums whatever the number of threads.
const SHARDS: usize = 8;

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

    /// The convolution of the output's gradient that is the gradient of the input, with the kernels turned by half a circle; none where
    /// the stride spreads that gradient out, or more is padded than the kernel sees.
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

    /// Whether rows of input and output lie side by side alike, so that a tap sees the image shifted.
    pub(super) fn shifts(&self) -> bool {
        self.stride == 1 && self.input == self.output
    }

    /// Values of an image.
    pub(super) fn image(&self) -> usize {
        self.channels_in * self.input[0] * self.input[1]
    }

    /// Places of an image's output.
    pub(super) fn places(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Values of an image's output.
    pub(super) fn image_out(&self) -> usize {
        self.channels_out * self.places()
    }

    /// Values that a place of the output sees: the rows of the columns' matrix.
    pub(super) fn taps(&self) -> usize {
        self.channels_in * self.kernel[0] * self.kernel[1]
    }

    /// Images that share a matrix product.
    pub(super) fn group(&self) -> usize {
        PLACES.div_ceil(self.places()).min(self.batch_size.div_ceil(SHARDS)).max(1)
    }

    /// Images in each part of the gradient of a kernel: whole groups.
    pub(super) fn shard(&self) -> usize {
        self.batch_size.div_ceil(SHARDS).next_multiple_of(self.group()).max(1)
    }

    /// The places of a row of the output that see the input through a column of the kernel, and the first that they see.
    pub(super) fn visible(&self, axis: usize, tap: usize) -> (Range<usize>, usize) {
        let first = self.padding.saturating_sub(tap).div_ceil(self.stride);
        // Above the last place that is seen; none may be.
        let end = (self.input[axis] + self.padding).saturating_sub(tap).div_ceil(self.stride);
        let end = end.min(self.output[axis]).max(first);
        (first..end, (first * self.stride + tap).saturating_sub(self.padding))
    }
}
