//! Batches with one value per channel and sample, such as the output of a linear layer: loops over rows, which vectorise over channels.
//!
//! All sums run over samples in order, in double precision, so results have the same bits as with planes of one value.

use pulp::Simd;
use rayon::prelude::*;

use super::planes::Channel;
use crate::cpu::{Kernel, Value, rows_per_task};

/// The channels as one list per field.
pub(super) struct Columns<T> {
    mean: Vec<T>,
    scale: Vec<T>,
    shift: Vec<T>,
    relu: bool,
}

impl<T: Value> Columns<T> {
    pub(super) fn new(channels: &[Channel<T>]) -> Self {
        Self {
            mean: channels.iter().map(|channel| channel.mean).collect(),
            scale: channels.iter().map(|channel| channel.scale).collect(),
            shift: channels.iter().map(|channel| channel.shift).collect(),
            relu: channels.iter().any(|channel| channel.relu),
        }
    }

    fn len(&self) -> usize {
        self.mean.len()
    }

    /// The channels, each as one value, with `relu` known to the compiler.
    #[inline(always)]
    fn channels(&self, relu: bool) -> impl Iterator<Item = Channel<T>> {
        let fields = self.mean.iter().zip(&self.scale).zip(&self.shift);
        fields.map(move |((&mean, &scale), &shift)| Channel {
            mean,
            scale,
            shift,
            relu,
        })
    }
}

/// Values per task.
fn chunk(num_channels: usize) -> usize {
    rows_per_task(4 * num_channels) * num_channels
}

/// Mean and biased variance of each channel.
pub(super) fn statistics<T: Value>(input: &[T], num_channels: usize) -> (Vec<f64>, Vec<f64>) {
    let count = (input.len() / num_channels) as f64;
    let mut mean = vec![0.0; num_channels];
    Sums { input, sums: &mut mean }.dispatch();
    for mean in &mut mean {
        *mean /= count;
    }
    let mut variance = vec![0.0; num_channels];
    let squares = SquaredDeviations {
        input,
        mean: &mean,
        sums: &mut variance,
    };
    squares.dispatch();
    for variance in &mut variance {
        *variance /= count;
    }
    (mean, variance)
}

pub(super) fn normalise<T: Value>(input: &[T], columns: &Columns<T>, out: &mut [T]) {
    let chunk = chunk(columns.len());
    out.par_chunks_mut(chunk)
        .zip(input.par_chunks(chunk))
        .for_each(|(out, input)| Normalised { input, columns, out }.dispatch());
}

/// For each channel, the sum of the gradient and of the gradient times the deviation from the mean.
pub(super) fn gradient_sums<T: Value>(input: &[T], grad: &[T], columns: &Columns<T>) -> [Vec<f64>; 2] {
    let [mut sums, mut along] = [0, 1].map(|_| vec![0.0; columns.len()]);
    GradientSums {
        input,
        grad,
        columns,
        sums: &mut sums,
        along: &mut along,
    }
    .dispatch();
    [sums, along]
}

/// The gradient of the input, with one offset and slope per channel.
pub(super) fn input_gradient<T: Value>(input: &[T], grad: &[T], columns: &Columns<T>, lines: &[[T; 2]], out: &mut [T]) {
    let chunk = chunk(columns.len());
    let [offset, slope] = [0, 1].map(|field| lines.iter().map(|line| line[field]).collect::<Vec<T>>());
    out.par_chunks_mut(chunk)
        .zip(input.par_chunks(chunk))
        .zip(grad.par_chunks(chunk))
        .for_each(|((out, input), grad)| {
            let kernel = InputGradient {
                input,
                grad,
                columns,
                offset: &offset,
                slope: &slope,
                out,
            };
            kernel.dispatch();
        });
}

struct Sums<'a, T> {
    input: &'a [T],
    sums: &'a mut [f64],
}

impl<T: Value> Kernel for Sums<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for row in self.input.chunks_exact(self.sums.len()) {
            for (sum, value) in self.sums.iter_mut().zip(row) {
                *sum += value.as_f64();
            }
        }
    }
}

struct SquaredDeviations<'a, T> {
    input: &'a [T],
    mean: &'a [f64],
    sums: &'a mut [f64],
}

impl<T: Value> Kernel for SquaredDeviations<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for row in self.input.chunks_exact(self.sums.len()) {
            for ((sum, value), mean) in self.sums.iter_mut().zip(row).zip(self.mean) {
                let deviation = value.as_f64() - mean;
                *sum += deviation * deviation;
            }
        }
    }
}

struct Normalised<'a, T> {
    input: &'a [T],
    columns: &'a Columns<T>,
    out: &'a mut [T],
}

impl<T: Value> Kernel for Normalised<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { input, columns, out } = self;
        let rows = input.chunks_exact(columns.len());
        for (out, row) in out.chunks_exact_mut(columns.len()).zip(rows) {
            // Two loops, so that the branch is not taken for every value.
            if columns.relu {
                for ((out, &value), channel) in out.iter_mut().zip(row).zip(columns.channels(true)) {
                    let normalised = channel.apply(value);
                    *out = if normalised <= T::ZERO { T::ZERO } else { normalised };
                }
            } else {
                for ((out, &value), channel) in out.iter_mut().zip(row).zip(columns.channels(false)) {
                    *out = channel.apply(value);
                }
            }
        }
    }
}

struct GradientSums<'a, T> {
    input: &'a [T],
    grad: &'a [T],
    columns: &'a Columns<T>,
    sums: &'a mut [f64],
    along: &'a mut [f64],
}

impl<T: Value> Kernel for GradientSums<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) {
        if self.columns.relu {
            self.add_rows(true);
        } else {
            self.add_rows(false);
        }
    }
}

impl<T: Value> GradientSums<'_, T> {
    #[inline(always)]
    fn add_rows(&mut self, relu: bool) {
        let num_channels = self.columns.len();
        let rows = self.input.chunks_exact(num_channels);
        for (row, grads) in rows.zip(self.grad.chunks_exact(num_channels)) {
            let values = row.iter().zip(grads).zip(self.columns.channels(relu));
            let sums = self.sums.iter_mut().zip(self.along.iter_mut());
            for (((&value, &grad), channel), (sum, along)) in values.zip(sums) {
                let grad = channel.gate(relu, value, grad);
                *sum += grad.as_f64();
                *along += (grad * (value - channel.mean)).as_f64();
            }
        }
    }
}

struct InputGradient<'a, T> {
    input: &'a [T],
    grad: &'a [T],
    columns: &'a Columns<T>,
    offset: &'a [T],
    slope: &'a [T],
    out: &'a mut [T],
}

impl<T: Value> Kernel for InputGradient<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) {
        if self.columns.relu {
            self.write_rows(true);
        } else {
            self.write_rows(false);
        }
    }
}

impl<T: Value> InputGradient<'_, T> {
    #[inline(always)]
    fn write_rows(&mut self, relu: bool) {
        let num_channels = self.columns.len();
        let rows = self.input.chunks_exact(num_channels);
        let rows = rows.zip(self.grad.chunks_exact(num_channels));
        for (out, (row, grads)) in self.out.chunks_exact_mut(num_channels).zip(rows) {
            let values = row.iter().zip(grads).zip(self.columns.channels(relu));
            let lines = self.offset.iter().zip(self.slope);
            for ((out, ((&value, &grad), channel)), (&offset, &slope)) in out.iter_mut().zip(values).zip(lines) {
                let grad = channel.gate(relu, value, grad);
                *out = (grad - offset - (value - channel.mean) * slope) * channel.scale;
            }
        }
    }
}
