//! Loops over the planes of a batch: the contiguous values of one channel of one sample.

use pulp::Simd;

use crate::cpu::{Kernel, Value};

/// Normalises the values of a channel: `(value - mean) · scale + shift`, with ReLU if `relu` is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Channel<T> {
    pub(super) mean: T,
    pub(super) scale: T,
    pub(super) shift: T,
    pub(super) relu: bool,
}

impl<T: Value> Channel<T> {
    #[inline(always)]
    pub(super) fn apply(&self, value: T) -> T {
        (value - self.mean) * self.scale + self.shift
    }

    /// Backpropagates through the ReLU, if there is one.
    #[inline(always)]
    pub(super) fn gate(&self, relu: bool, value: T, grad: T) -> T {
        if relu && self.apply(value) <= T::ZERO { T::ZERO } else { grad }
    }
}

/// For each plane, the sum and the sum of squared deviations from the plane's own mean.
pub(super) struct Moments<'a, T> {
    pub(super) input: &'a [T],
    pub(super) pixels: usize,
    pub(super) out: &'a mut [[T; 2]],
}

impl<T: Value> Kernel for Moments<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let inverse = T::from_f64(1.0 / self.pixels as f64);
        for (out, plane) in self.out.iter_mut().zip(self.input.chunks_exact(self.pixels)) {
            let total = sum(plane, |value| value);
            let mean = total * inverse;
            let squares = sum(plane, |value| (value - mean) * (value - mean));
            *out = [total, squares];
        }
    }
}

/// Normalises planes. The first plane must belong to the first channel.
pub(super) struct Normalised<'a, T> {
    pub(super) input: &'a [T],
    pub(super) pixels: usize,
    pub(super) channels: &'a [Channel<T>],
    pub(super) first: usize,
    pub(super) out: &'a mut [T],
}

impl<T: Value> Kernel for Normalised<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let planes = self.input.chunks_exact(self.pixels);
        for (index, (out, plane)) in self.out.chunks_exact_mut(self.pixels).zip(planes).enumerate() {
            let channel = self.channels[(self.first + index) % self.channels.len()];
            // Two loops, so that the branch is not taken for every value.
            if channel.relu {
                for (out, &value) in out.iter_mut().zip(plane) {
                    let normalised = channel.apply(value);
                    *out = if normalised <= T::ZERO { T::ZERO } else { normalised };
                }
            } else {
                for (out, &value) in out.iter_mut().zip(plane) {
                    *out = channel.apply(value);
                }
            }
        }
    }
}

/// For each plane, the sum of the gradient and of the gradient times the deviation from the channel's mean.
pub(super) struct GradientMoments<'a, T> {
    pub(super) input: &'a [T],
    pub(super) grad: &'a [T],
    pub(super) pixels: usize,
    pub(super) channels: &'a [Channel<T>],
    pub(super) first: usize,
    pub(super) out: &'a mut [[T; 2]],
}

impl<T: Value> Kernel for GradientMoments<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let planes = self.input.chunks_exact(self.pixels).zip(self.grad.chunks_exact(self.pixels));
        for (index, (out, (plane, grad))) in self.out.iter_mut().zip(planes).enumerate() {
            let channel = self.channels[(self.first + index) % self.channels.len()];
            *out = if channel.relu {
                moments(plane, grad, channel, true)
            } else {
                moments(plane, grad, channel, false)
            };
        }
    }
}

#[inline(always)]
fn moments<T: Value>(plane: &[T], grad: &[T], channel: Channel<T>, relu: bool) -> [T; 2] {
    [
        sum_of_two(plane, grad, |value, grad| channel.gate(relu, value, grad)),
        sum_of_two(plane, grad, |value, grad| {
            channel.gate(relu, value, grad) * (value - channel.mean)
        }),
    ]
}

/// The gradient of the input: `scale · (grad - offset - slope · (value - mean))`, with one offset and slope per channel.
pub(super) struct InputGradient<'a, T> {
    pub(super) input: &'a [T],
    pub(super) grad: &'a [T],
    pub(super) pixels: usize,
    pub(super) channels: &'a [Channel<T>],
    pub(super) lines: &'a [[T; 2]],
    pub(super) first: usize,
    pub(super) out: &'a mut [T],
}

impl<T: Value> Kernel for InputGradient<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let planes = self.input.chunks_exact(self.pixels).zip(self.grad.chunks_exact(self.pixels));
        for (index, (out, (plane, grad))) in self.out.chunks_exact_mut(self.pixels).zip(planes).enumerate() {
            let number = (self.first + index) % self.channels.len();
            let (channel, line) = (self.channels[number], self.lines[number]);
            if channel.relu {
                input_gradient(out, plane, grad, channel, line, true);
            } else {
                input_gradient(out, plane, grad, channel, line, false);
            }
        }
    }
}

#[inline(always)]
fn input_gradient<T: Value>(out: &mut [T], plane: &[T], grad: &[T], channel: Channel<T>, line: [T; 2], relu: bool) {
    let [offset, slope] = line;
    for ((out, &value), &grad) in out.iter_mut().zip(plane).zip(grad) {
        let grad = channel.gate(relu, value, grad);
        *out = (grad - offset - (value - channel.mean) * slope) * channel.scale;
    }
}

/// Number of partial sums kept side by side. The order of additions depends only on the number of values.
const LANES: usize = 32;

#[inline(always)]
fn sum<T: Value>(values: &[T], term: impl Fn(T) -> T) -> T {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut sums = [T::ZERO; LANES];
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += term(value);
        }
    }
    let mut total = total(sums);
    for &value in rest {
        total += term(value);
    }
    total
}

#[inline(always)]
fn sum_of_two<T: Value>(left: &[T], right: &[T], term: impl Fn(T, T) -> T) -> T {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [T::ZERO; LANES];
    for (left, right) in left.iter().zip(right) {
        for ((sum, &left), &right) in sums.iter_mut().zip(left).zip(right) {
            *sum += term(left, right);
        }
    }
    let mut total = total(sums);
    for (&left, &right) in left_rest.iter().zip(right_rest) {
        total += term(left, right);
    }
    total
}

/// Adds up halves, so that these additions vectorise too.
#[inline(always)]
fn total<T: Value>(mut sums: [T; LANES]) -> T {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        let (low, high) = sums.split_at_mut(width);
        for (low, &high) in low.iter_mut().zip(high.iter()) {
            *low += high;
        }
    }
    sums[0]
}
