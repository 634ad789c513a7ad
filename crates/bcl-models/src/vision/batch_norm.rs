//! Batch normalisation with an explicit choice of statistics.

use super::{RunningStatistic, groups::Groups, over_processes::normalised_over_processes, precision::precision};
use bcl_collective::Collective;
use bcl_kernels::{BatchNormOptions, BatchNormalised, batch_norm_with};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::relu},
};
use std::sync::Arc;

/// PyTorch's defaults for epsilon and momentum.
pub(super) const EPSILON: f64 = 1e-5;
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

/// One pass of a batch through a network. A [`Mode`] alone is a pass of a single view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Which statistics batch normalisation uses.
    pub mode: Mode,
    /// Number of equal parts of the batch, one after the other, with statistics of their own: views of the same images.
    pub views: usize,
}

impl From<Mode> for Pass {
    fn from(mode: Mode) -> Self {
        Self { mode, views: 1 }
    }
}

/// Batch normalisation over all axes but the second:
///
/// ```text
/// y = (x - mean) / √(variance + 1e-5) · weight + bias
/// running <- 0.9 running + 0.1 batch
/// ```
///
/// Parameter names, momentum and statistics follow PyTorch: the batch is normalised by its biased variance, but the running variance
/// averages the unbiased variance, which is `n / (n - 1)` times larger for n values per channel. Burn's module keeps the biased
/// variance, and uses the statistics of the batch only on autodiff devices.
///
/// Source: Ioffe and Szegedy, [Batch Normalization](https://arxiv.org/abs/1502.03167).
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// Scale of each channel, `[num_channels]`; always 1 if absent.
    pub weight: Option<Param<Tensor<1>>>,
    /// Shift of each channel, `[num_channels]`; always 0 if absent.
    pub bias: Option<Param<Tensor<1>>>,
    /// Running mean, `[num_channels]`.
    pub running_mean: RunningStatistic,
    /// Running unbiased variance, `[num_channels]`.
    pub running_var: RunningStatistic,
    /// How statistics of the batch are computed; not part of records.
    #[module(skip)]
    groups: Groups,
    /// The processes whose samples are normalised together, if this one's are not enough; not part of records.
    #[module(skip)]
    processes: Option<Arc<dyn Collective>>,
}

impl BatchNorm {
    /// A layer with scale 1, shift 0, running mean 0 and running variance 1.
    pub fn new(num_channels: usize, device: &Device) -> Self {
        Self {
            weight: Some(Param::from_tensor(Tensor::ones([num_channels], device))),
            bias: Some(Param::from_tensor(Tensor::zeros([num_channels], device))),
            ..Self::plain(num_channels, device)
        }
    }

    /// A layer without parameters: scale 1 and shift 0, as PyTorch's `affine=False`.
    pub fn plain(num_channels: usize, device: &Device) -> Self {
        Self {
            weight: None,
            bias: None,
            running_mean: RunningStatistic::new(Tensor::zeros([num_channels], device)),
            running_var: RunningStatistic::new(Tensor::ones([num_channels], device)),
            groups: Groups::new(1),
            processes: None,
        }
    }

    /// Normalises by the statistics of `count` groups of the batch instead of the whole batch's; sample n belongs to group `n mod count`.
    /// Running statistics are averaged over the groups, and [`Mode::Eval`] does not change.
    ///
    /// A momentum encoder on one device needs this: with statistics of the whole batch, a query could recognise its key by them. The
    /// number of groups is not part of records.
    ///
    /// Source: He et al., [Momentum Contrast](https://arxiv.org/abs/1911.05722), section 3.3, in the form of its CIFAR-10 demo.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    pub fn with_groups(mut self, count: usize) -> Self {
        self.set_groups(count);
        self
    }

    pub(super) fn set_groups(&mut self, count: usize) {
        self.groups = Groups::new(count);
    }

    /// Normalises by the statistics of the samples of all processes of a [`Collective`], or of this process alone if `None`. All processes then have to run
    /// the same forward and backward passes. [`Mode::Eval`] stays as it is. The processes are not part of records.
    #[must_use]
    pub fn over_processes(mut self, processes: Option<Arc<dyn Collective>>) -> Self {
        self.set_processes(processes);
        self
    }

    pub(super) fn set_processes(&mut self, processes: Option<Arc<dyn Collective>>) {
        self.processes = processes;
    }

    /// Normalises each channel, always in the precision of the parameters.
    ///
    /// # Shapes
    /// - input:  `[batch_size, num_channels, ..]`
    /// - output: same as the input
    ///
    /// # Panics
    /// Panics if the mode uses the statistics of the batch and a channel has a single value, whose variance is undefined; or if the batch
    /// does not divide into the views or the [groups](Self::with_groups).
    pub fn forward<const D: usize>(&self, input: Tensor<D>, pass: impl Into<Pass>) -> Tensor<D> {
        match pass.into() {
            Pass { mode: Mode::Eval, .. } => self.by_running(input),
            pass => self.by_batch(input, pass, None, false),
        }
    }

    /// Normalises each channel and applies ReLU at no extra cost: `max(0, forward(input))`.
    ///
    /// # Shapes
    /// Same as for [`forward`](Self::forward).
    ///
    /// # Panics
    /// Panics in the same cases as [`forward`](Self::forward).
    pub fn forward_relu<const D: usize>(&self, input: Tensor<D>, pass: impl Into<Pass>) -> Tensor<D> {
        match pass.into() {
            Pass { mode: Mode::Eval, .. } => relu(self.by_running(input)),
            pass => self.by_batch(input, pass, None, true),
        }
    }

    /// Normalises each channel, adds the residual of a block and applies ReLU: `max(0, forward(input) + residual)`.
    ///
    /// # Shapes
    /// Same as for [`forward`](Self::forward); the residual has the shape of the input.
    ///
    /// # Panics
    /// Panics in the same cases as [`forward`](Self::forward), and if the residual has another shape.
    pub fn forward_add_relu<const D: usize>(&self, input: Tensor<D>, residual: Tensor<D>, pass: impl Into<Pass>) -> Tensor<D> {
        match pass.into() {
            Pass { mode: Mode::Eval, .. } => relu(self.by_running(input) + residual),
            pass => self.by_batch(input, pass, Some(residual), true),
        }
    }

    /// Casts the input to the precision of the parameters and the statistics.
    fn widen<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        input.cast(precision(&self.running_mean.value()))
    }

    fn scale(&self) -> Tensor<1> {
        let ones = || self.running_var.value().ones_like();
        self.weight.as_ref().map_or_else(ones, Param::val)
    }

    fn shift(&self) -> Tensor<1> {
        let zeros = || self.running_mean.value().zeros_like();
        self.bias.as_ref().map_or_else(zeros, Param::val)
    }

    /// With running statistics each channel is a linear map: one product and one sum per value.
    fn by_running<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let (narrow, input) = (precision(&input), self.widen(input));
        let scale = self.scale() / (self.running_var.value() + EPSILON).sqrt();
        let shift = self.shift() - self.running_mean.value() * scale.clone();
        let mut shape = [1; D];
        shape[1] = scale.dims()[0];
        (input * scale.reshape(shape) + shift.reshape(shape)).cast(narrow)
    }

    /// With a residual, which is added, ReLU always follows.
    fn by_batch<const D: usize>(
        &self,
        input: Tensor<D>,
        pass: Pass,
        residual: Option<Tensor<D>>,
        ends_with_relu: bool,
    ) -> Tensor<D> {
        let groups = self.groups;
        let Pass { mode, views } = pass;
        if views > 1 && (self.processes.is_some() || !groups.is_one()) {
            return self.view_by_view(input, pass, residual, ends_with_relu);
        }
        let shape = input.dims();
        let input = groups.split(input);
        let split = input.dims();
        let own_count = split.iter().product::<usize>() / (split[1] * views);
        let [scale, shift] = [self.scale(), self.shift()].map(|values| groups.repeated(values));
        let residual = residual.map(|residual| groups.split(residual));
        let (count, normalised) = match (&self.processes, residual) {
            (Some(processes), residual) => {
                let narrow = precision(&input);
                let fused = ends_with_relu && residual.is_none();
                let (count, normalised) = normalised_over_processes(self.widen(input), scale, shift, EPSILON, fused, processes);
                let output = normalised.output.cast(narrow);
                let output = match residual {
                    Some(residual) => relu(output + residual),
                    None => output,
                };
                (count, BatchNormalised { output, ..normalised })
            }
            (None, residual) => {
                let options = BatchNormOptions {
                    epsilon: EPSILON,
                    relu: ends_with_relu,
                    views,
                };
                (own_count, batch_norm_with(input, residual, scale, shift, options))
            }
        };
        assert!(
            count > 1,
            "batch normalisation by the batch needs more than 1 value per channel, but the input has shape {split:?}"
        );
        if mode == Mode::Train {
            let unbiased = normalised.variance * (count as f64 / (count - 1) as f64);
            self.running_mean.update(groups.averaged(normalised.mean), MOMENTUM);
            self.running_var.update(groups.averaged(unbiased), MOMENTUM);
        }
        groups.merged(normalised.output, shape)
    }

    /// Normalises one view after the other, where statistics cover several processes or only groups of a view.
    fn view_by_view<const D: usize>(
        &self,
        input: Tensor<D>,
        Pass { mode, views }: Pass,
        residual: Option<Tensor<D>>,
        ends_with_relu: bool,
    ) -> Tensor<D> {
        let mut residuals = residual.map(|residual| residual.chunk(views, 0).into_iter());
        let outputs = input.chunk(views, 0).into_iter().map(|view| {
            let residual = residuals.as_mut().and_then(Iterator::next);
            self.by_batch(view, mode.into(), residual, ends_with_relu)
        });
        Tensor::cat(outputs.collect(), 0)
    }
}

#[cfg(test)]
mod tests;
