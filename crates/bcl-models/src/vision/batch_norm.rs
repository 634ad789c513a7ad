//! Batch normalisation that says which statistics it uses.

use super::{RunningStatistic, precision::precision};
use bcl_kernels::{BatchNormalised, batch_norm, batch_norm_relu};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::relu},
};

/// PyTorch's defaults.
const EPSILON: f64 = 1e-5;
const MOMENTUM: f64 = 0.1;

/// Which statistics batch normalisation uses, and whether it remembers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Normalises by the batch and moves the running statistics towards it: training, and any encoder that PyTorch code left in train
    /// mode, with or without gradients.
    Train,
    /// Normalises by the batch and leaves the running statistics alone: passes that are repeated, as for gradient caching.
    BatchStatistics,
    /// Normalises by the running statistics: evaluation. A row's output then does not depend on the other rows.
    Eval,
}

/// Batch normalisation over all axes but the second,
///
/// ```text
/// y = (x - mean) / √(variance + 1e-5) · weight + bias
/// running <- 0.9 running + 0.1 batch
/// ```
///
/// with the parameters' names, the momentum and the statistics of PyTorch: the batch is normalised by its biased variance, but the
/// running variance averages the unbiased one, `n / (n - 1)` times larger with n values a channel. Burn's own module keeps the biased one,
/// and takes the batch's statistics on autodiff devices only.
///
/// Source: Ioffe and Szegedy, [Batch Normalization](https://arxiv.org/abs/1502.03167).
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// Scale of each channel, `[num_channels]`.
    pub weight: Param<Tensor<1>>,
    /// Shift of each channel, `[num_channels]`.
    pub bias: Param<Tensor<1>>,
    /// Mean over past batches, `[num_channels]`.
    pub running_mean: RunningStatistic,
    /// Unbiased variance over past batches, `[num_channels]`.
    pub running_var: RunningStatistic,
}

impl BatchNorm {
    /// Scale 1, shift 0, running mean 0 and running variance 1.
    pub fn new(num_channels: usize, device: &Device) -> Self {
        let ones = || Tensor::ones([num_channels], device);
        let zeros = || Tensor::zeros([num_channels], device);
        Self {
            weight: Param::from_tensor(ones()),
            bias: Param::from_tensor(zeros()),
            running_mean: RunningStatistic::new(zeros()),
            running_var: RunningStatistic::new(ones()),
        }
    }

    /// Normalises each channel, in the precision of the parameters whatever that of the input is.
    ///
    /// # Shapes
    /// - input:  `[batch_size, num_channels, ..]`
    /// - output: the same
    ///
    /// # Panics
    /// When the batch's statistics are asked for and a channel has a single value, whose variance is not defined.
    pub fn forward<const D: usize>(&self, input: Tensor<D>, mode: Mode) -> Tensor<D> {
        let (narrow, input) = (precision(&input), self.widen(input));
        let output = match mode {
            Mode::Eval => self.by_running(input),
            _ => self.by_batch(input, mode, batch_norm),
        };
        output.cast(narrow)
    }

    /// Normalises each channel and replaces what is negative by 0, which costs no more: `max(0, forward(input))`.
    ///
    /// # Shapes
    /// As for [`forward`](Self::forward).
    ///
    /// # Panics
    /// As [`forward`](Self::forward).
    pub fn forward_relu<const D: usize>(&self, input: Tensor<D>, mode: Mode) -> Tensor<D> {
        let (narrow, input) = (precision(&input), self.widen(input));
        let output = match mode {
            Mode::Eval => relu(self.by_running(input)),
            _ => self.by_batch(input, mode, batch_norm_relu),
        };
        output.cast(narrow)
    }

    /// The input in the precision of the parameters.
    fn widen<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        input.cast(precision(&self.weight.val()))
    }

    /// The running statistics make a line of each channel: one product and one sum a value.
    fn by_running<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let scale = self.weight.val() / (self.running_var.value() + EPSILON).sqrt();
        let shift = self.bias.val() - self.running_mean.value() * scale.clone();
        let mut shape = [1; D];
        shape[1] = scale.dims()[0];
        input * scale.reshape(shape) + shift.reshape(shape)
    }

    fn by_batch<const D: usize>(&self, input: Tensor<D>, mode: Mode, norm: Norm<D>) -> Tensor<D> {
        let shape = input.dims();
        let count = shape.iter().product::<usize>() / shape[1];
        assert!(
            count > 1,
            "batch normalisation by the batch needs more than 1 value a channel, but the input has shape {shape:?}"
        );
        let normalised = norm(input, self.weight.val(), self.bias.val(), EPSILON);
        if mode == Mode::Train {
            let unbiased = normalised.variance * (count as f64 / (count - 1) as f64);
            self.running_mean.update(normalised.mean, MOMENTUM);
            self.running_var.update(unbiased, MOMENTUM);
        }
        normalised.output
    }
}

/// A kernel for the batch's own statistics.
type Norm<const D: usize> = fn(Tensor<D>, Tensor<1>, Tensor<1>, f64) -> BatchNormalised<D>;
