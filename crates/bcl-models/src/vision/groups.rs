//! Groups of a batch that are normalised separately.

use burn::tensor::Tensor;

/// The number of groups of a batch; sample n belongs to group `n mod count`.
///
/// A reshape makes the channels of each group channels of their own: `[batch_size, num_channels, ..]` is read as
/// `[batch_size / count, count · num_channels, ..]`. A single group leaves all tensors as they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Groups(usize);

impl Groups {
    pub(super) fn new(count: usize) -> Self {
        assert!(count > 0, "a batch cannot be split into 0 groups");
        Self(count)
    }

    /// Whether the whole batch is normalised together.
    pub(super) fn is_one(self) -> bool {
        self.0 == 1
    }

    /// Makes the channels of each group channels of their own.
    pub(super) fn split<const D: usize>(self, input: Tensor<D>) -> Tensor<D> {
        let Self(count) = self;
        if count == 1 {
            return input;
        }
        let mut shape = input.dims();
        let batch_size = shape[0];
        assert!(
            batch_size.is_multiple_of(count),
            "a batch of {batch_size} does not divide into {count} groups, but must be a multiple of {count}"
        );
        shape[0] /= count;
        shape[1] *= count;
        input.reshape(shape)
    }

    /// The opposite of [`split`](Self::split), for an input of the given shape.
    pub(super) fn merged<const D: usize>(self, output: Tensor<D>, shape: [usize; D]) -> Tensor<D> {
        match self.0 {
            1 => output,
            _ => output.reshape(shape),
        }
    }

    /// Gives each group the value of each channel: `[num_channels]` to `[count · num_channels]`.
    pub(super) fn repeated(self, values: Tensor<1>) -> Tensor<1> {
        match self.0 {
            1 => values,
            count => values.repeat_dim(0, count),
        }
    }

    /// Averages each channel over the groups: `[count · num_channels]` to `[num_channels]`.
    pub(super) fn averaged(self, values: Tensor<1>) -> Tensor<1> {
        match self.0 {
            1 => values,
            count => {
                let num_channels = values.dims()[0] / count;
                values.reshape([count, num_channels]).mean_dim(0).squeeze_dim(0)
            }
        }
    }
}
