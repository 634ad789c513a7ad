//! Batch normalisation with an explicit choice of statistics.

use super::{RunningStatistic, precision::precision};
use bcl_kernels::{BatchNormalised, batch_norm, batch_norm_relu};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::relu},
};

/// PyTorch's defaults for epsilon and momentum.
const EPSILON: f64 = 1e-5;
const MOMENTUM: f64 = 0.1;

/// Which statistics batch normalisation uses, and whether it updates the running ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Normalises by the batch and updates the running statistics. For training, with or without gradients, like PyTorch's train mode.
    Train,
    /// Normalises by the batch and leaves the running statistics unchanged. For repeated passes, as in gradient caching.
    BatchStatistics,
    /// Normalises by the running statistics, so that each row is independent of the others. For evaluation.
    Eval,
}

/// Batch normalisation over all axes but the second:
///
/// ```text
/// y = (x - mean) / √(variance + 1e-5) · weight + bias
/// running <- 0.9 running + 0.1 batch
/// ```
///
/// Parameter names, momentum and statistics are those of PyTorch: the batch is normalised by its biased variance, but the running
/// variance averages the unbiased one, which is `n / (n - 1)` times larger for n values per channel. Burn's own module keeps the biased
/// one, and uses the statistics of the batch only on autodiff devices.
///
/// Source: Ioffe and Szegedy, [Batch Normalization](https://arxiv.org/abs/1502.03167).
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// Scale of each channel, `[num_channels]`.
    pub weight: Param<Tensor<1>>,
    /// Shift of each channel, `[num_channels]`.
    pub bias: Param<Tensor<1>>,
    /// Running mean, `[num_channels]`.
    pub running_mean: RunningStatistic,
    /// Running unbiased variance, `[num_channels]`.
    pub running_var: RunningStatistic,
}

impl BatchNorm {
    /// A layer with scale 1, shift 0, running mean 0 and running variance 1.
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

    /// Normalises each channel, always in the precision of the parameters.
    ///
    /// # Shapes
    /// - input:  `[batch_size, num_channels, ..]`
    /// - output: same as the input
    ///
    /// # Panics
    /// Panics if `mode` uses the statistics of the batch and a channel has a single value, whose variance is undefined.
    pub fn forward<const D: usize>(&self, input: Tensor<D>, mode: Mode) -> Tensor<D> {
        let (narrow, input) = (precision(&input), self.widen(input));
        let output = match mode {
            Mode::Eval => self.by_running(input),
            _ => self.by_batch(input, mode, batch_norm),
        };
        output.cast(narrow)
    }

    /// Normalises each channel and applies ReLU at no extra cost: `max(0, forward(input))`.
    ///
    /// # Shapes
    /// Same as for [`forward`](Self::forward).
    ///
    /// # Panics
    /// Panics in the same cases as [`forward`](Self::forward).
    pub fn forward_relu<const D: usize>(&self, input: Tensor<D>, mode: Mode) -> Tensor<D> {
        let (narrow, input) = (precision(&input), self.widen(input));
        let output = match mode {
            Mode::Eval => relu(self.by_running(input)),
            _ => self.by_batch(input, mode, batch_norm_relu),
        };
        output.cast(narrow)
    }

    /// Casts the input to the precision of the parameters.
    fn widen<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        input.cast(precision(&self.weight.val()))
    }

    /// With running statistics each channel is a linear map: one product and one sum per value.
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
            "batch normalisation by the batch needs more than 1 value per channel, but the input has shape {shape:?}"
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

/// A kernel that normalises by the batch's own statistics.
type Norm<const D: usize> = fn(Tensor<D>, Tensor<1>, Tensor<1>, f64) -> BatchNormalised<D>;
