//! Batch normalisation on the CPU, with two passes over the batch forward and two backward.

use burn::backend::flex::FlexTensor;
use burn::backend::ops::FloatTensorOps;
use burn::backend::{Flex, TensorMetadata};
use burn::tensor::Shape;
use rayon::prelude::*;

use super::planes::{Channel, GradientMoments, InputGradient, Moments, Normalised};
use super::{
    BatchNormOptions, NormOps, portable,
    portable::precision,
    rows::{self, Columns},
};
use crate::cpu::{self, Kernel, Value, by_float_type, rows_per_task};

impl NormOps for Flex {
    fn batch_norm_by_batch(
        input: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        options: BatchNormOptions,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        if options.views > 1 {
            return portable::by_view::<Self>(input, weight, bias, options);
        }
        let narrow = precision::<Self>(&input);
        let wide = precision::<Self>(&weight);
        if narrow != wide {
            let (output, mean, variance) = Self::batch_norm_by_batch(Self::float_cast(input, wide), weight, bias, options);
            return (Self::float_cast(output, narrow), mean, variance);
        }
        by_float_type!(
            input, T => forward::<T>(input, weight, bias, options.epsilon, options.relu),
            portable::batch_norm_by_batch::<Flex>(input, weight, bias, options)
        )
    }

    fn batch_norm_by_batch_backward(
        input: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        mean: FlexTensor,
        variance: FlexTensor,
        grad: FlexTensor,
        options: BatchNormOptions,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        if options.views > 1 {
            return portable::by_view_backward::<Self>(input, weight, bias, mean, variance, grad, options);
        }
        let narrow = precision::<Self>(&input);
        let wide = precision::<Self>(&weight);
        if narrow != wide {
            let [input, grad] = [input, grad].map(|tensor| Self::float_cast(tensor, wide));
            let (input, weight, bias) = Self::batch_norm_by_batch_backward(input, weight, bias, mean, variance, grad, options);
            return (Self::float_cast(input, narrow), weight, bias);
        }
        by_float_type!(
            input, T => {
                let parameters = [weight, bias, mean, variance].map(|tensor| per_channel::<T>(tensor, &input));
                backward::<T>(input, parameters, grad, options.epsilon, options.relu)
            },
            portable::batch_norm_by_batch_backward::<Flex>(input, weight, bias, mean, variance, grad, options)
        )
    }
}

/// One value per channel, in double precision.
fn per_channel<T: Value>(tensor: FlexTensor, like: &FlexTensor) -> Vec<f64> {
    let tensor = cpu::contiguous(cpu::cast_like(tensor, like));
    T::of(&tensor).iter().map(|&value| value.as_f64()).collect()
}

fn to_tensor<T: Value>(values: &[f64]) -> FlexTensor {
    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
    let length = values.len();
    cpu::tensor(values, [length])
}

/// The memory layout of a batch: sample by sample, then channel by channel, with one contiguous plane per channel.
#[derive(Clone, Copy)]
struct Layout {
    num_channels: usize,
    pixels: usize,
    /// Planes per task.
    planes: usize,
    /// Values per channel.
    count: f64,
}

impl Layout {
    fn of(shape: &Shape) -> Self {
        let [batch_size, num_channels] = [shape[0], shape[1]];
        let pixels = shape.num_elements() / (batch_size * num_channels);
        Self {
            num_channels,
            pixels,
            planes: rows_per_task(4 * pixels),
            count: (batch_size * pixels) as f64,
        }
    }

    /// Whether each plane is a single value, so that samples are rows of channels.
    fn is_rows(&self) -> bool {
        self.pixels == 1
    }

    /// Values per task.
    fn chunk(&self) -> usize {
        self.planes * self.pixels
    }

    /// Adds up the results of a channel's planes over all samples, after applying `term` to the channel and the plane's two sums.
    ///
    /// The additions follow the order of the samples, so the result does not depend on the number of threads.
    fn over_samples<T: Value>(&self, planes: &[[T; 2]], term: impl Fn(usize, [f64; 2]) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.num_channels];
        for sample in planes.chunks_exact(self.num_channels) {
            for (channel, (sum, plane)) in sums.iter_mut().zip(sample).enumerate() {
                *sum += term(channel, plane.map(Value::as_f64));
            }
        }
        sums
    }
}

fn forward<T: Value>(
    input: FlexTensor,
    weight: FlexTensor,
    bias: FlexTensor,
    epsilon: f64,
    relu: bool,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let shape = input.shape();
    let layout = Layout::of(&shape);
    let [weight, bias] = [weight, bias].map(|tensor| per_channel::<T>(tensor, &input));
    let input = cpu::contiguous(input);
    let values = T::of(&input);

    let (mean, variance) = if layout.is_rows() {
        rows::statistics(values, layout.num_channels)
    } else {
        statistics(values, layout)
    };
    let channels = channels::<T>(&weight, &bias, &mean, &variance, epsilon, relu);
    let mut out = vec![T::ZERO; values.len()];
    if layout.is_rows() {
        rows::normalise(values, &Columns::new(&channels), &mut out);
    } else {
        normalise(values, layout, &channels, &mut out);
    }
    (cpu::tensor(out, shape), to_tensor::<T>(&mean), to_tensor::<T>(&variance))
}

fn normalise<T: Value>(values: &[T], layout: Layout, channels: &[Channel<T>], out: &mut [T]) {
    out.par_chunks_mut(layout.chunk())
        .zip(values.par_chunks(layout.chunk()))
        .enumerate()
        .for_each(|(task, (out, input))| {
            let kernel = Normalised {
                input,
                pixels: layout.pixels,
                channels,
                first: task * layout.planes,
                out,
            };
            kernel.dispatch();
        });
}

/// Mean and biased variance of each channel.
fn statistics<T: Value>(values: &[T], layout: Layout) -> (Vec<f64>, Vec<f64>) {
    let mut planes = vec![[T::ZERO; 2]; values.len() / layout.pixels];
    planes
        .par_chunks_mut(layout.planes)
        .zip(values.par_chunks(layout.chunk()))
        .for_each(|(out, input)| {
            let pixels = layout.pixels;
            Moments { input, pixels, out }.dispatch();
        });
    let pixels = layout.pixels as f64;
    let mean: Vec<f64> = layout
        .over_samples(&planes, |_, [sum, _]| sum)
        .iter()
        .map(|sum| sum / layout.count)
        .collect();
    // Total squared deviation = deviations within the planes + deviations of the planes' means.
    let squares = layout.over_samples(&planes, |channel, [sum, squares]| {
        squares + pixels * (sum / pixels - mean[channel]).powi(2)
    });
    let variance = squares.iter().map(|sum| sum / layout.count).collect();
    (mean, variance)
}

fn channels<T: Value>(weight: &[f64], bias: &[f64], mean: &[f64], variance: &[f64], epsilon: f64, relu: bool) -> Vec<Channel<T>> {
    let channel = |index: usize| Channel {
        mean: T::from_f64(mean[index]),
        scale: T::from_f64(weight[index] / (variance[index] + epsilon).sqrt()),
        shift: T::from_f64(bias[index]),
        relu,
    };
    (0..weight.len()).map(channel).collect()
}

fn backward<T: Value>(
    input: FlexTensor,
    [weight, bias, mean, variance]: [Vec<f64>; 4],
    grad: FlexTensor,
    epsilon: f64,
    relu: bool,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let shape = input.shape();
    let layout = Layout::of(&shape);
    let (input, grad) = (cpu::contiguous(input), cpu::contiguous(grad));
    let (values, grads) = (T::of(&input), T::of(&grad));
    let channels = channels::<T>(&weight, &bias, &mean, &variance, epsilon, relu);
    let columns = layout.is_rows().then(|| Columns::new(&channels));

    let [bias_grad, along] = match &columns {
        Some(columns) => rows::gradient_sums(values, grads, columns),
        None => gradient_sums(values, grads, layout, &channels),
    };
    let inverse_variance: Vec<f64> = variance.iter().map(|variance| 1.0 / (variance + epsilon)).collect();
    let line = |channel: usize| {
        let slope = along[channel] * inverse_variance[channel] / layout.count;
        [bias_grad[channel] / layout.count, slope].map(T::from_f64)
    };
    let lines: Vec<[T; 2]> = (0..layout.num_channels).map(line).collect();
    let weight_grad: Vec<f64> = along
        .iter()
        .zip(&inverse_variance)
        .map(|(along, inverse)| along * inverse.sqrt())
        .collect();

    let mut out = vec![T::ZERO; values.len()];
    match &columns {
        Some(columns) => rows::input_gradient(values, grads, columns, &lines, &mut out),
        None => input_gradient(values, grads, layout, &channels, &lines, &mut out),
    }
    (
        cpu::tensor(out, shape),
        to_tensor::<T>(&weight_grad),
        to_tensor::<T>(&bias_grad),
    )
}

/// For each channel, the sum of the gradient and of the gradient times the deviation from the mean.
fn gradient_sums<T: Value>(values: &[T], grads: &[T], layout: Layout, channels: &[Channel<T>]) -> [Vec<f64>; 2] {
    let mut planes = vec![[T::ZERO; 2]; values.len() / layout.pixels];
    planes
        .par_chunks_mut(layout.planes)
        .zip(values.par_chunks(layout.chunk()))
        .zip(grads.par_chunks(layout.chunk()))
        .enumerate()
        .for_each(|(task, ((out, input), grad))| {
            let kernel = GradientMoments {
                input,
                grad,
                pixels: layout.pixels,
                channels,
                first: task * layout.planes,
                out,
            };
            kernel.dispatch();
        });
    [
        layout.over_samples(&planes, |_, [sum, _]| sum),
        layout.over_samples(&planes, |_, [_, along]| along),
    ]
}

fn input_gradient<T: Value>(values: &[T], grads: &[T], layout: Layout, channels: &[Channel<T>], lines: &[[T; 2]], out: &mut [T]) {
    out.par_chunks_mut(layout.chunk())
        .zip(values.par_chunks(layout.chunk()))
        .zip(grads.par_chunks(layout.chunk()))
        .enumerate()
        .for_each(|(task, ((out, input), grad))| {
            let kernel = InputGradient {
                input,
                grad,
                pixels: layout.pixels,
                channels,
                lines,
                first: task * layout.planes,
                out,
            };
            kernel.dispatch();
        });
}

#[cfg(test)]
mod tests;
