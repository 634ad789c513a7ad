//! Convolutions with a stride and few channels: products read the pixels of an image in place.
//!
//! With the channels of a pixel side by side, the taps of a kernel row are contiguous for each output pixel, and output pixels of a row are
//! a constant distance apart: what im2col would copy is a matrix already. Images and kernels that exceed the
//! limits below are left to im2col.

use pulp::Simd;
use rayon::prelude::*;

use super::geometry::{Geometry, SHARDS};
use super::pixels::{Window, padded};
use crate::cpu::Kernel;
use crate::strided::{LANES, Left, PANEL, Right, Sizes, product};

/// The most values in the window of an image, so that it stays in the cache of a core.
const VALUES: usize = 1 << 17;
/// The most kernels, input channels times output channels.
const KERNELS: usize = 1 << 14;

/// A convolution by windows: each holds an image with its padding.
#[derive(Clone, Copy)]
pub(super) struct Windows {
    geometry: Geometry,
    rows: usize,
    columns: usize,
}

impl Windows {
    /// The windows of a convolution; `None` if another algorithm suits it better.
    pub(super) fn of(geometry: &Geometry) -> Option<Self> {
        let &Geometry {
            channels_in,
            channels_out,
            kernel,
            stride,
            padding,
            ..
        } = geometry;
        // All that output pixels see, and the whole image.
        let [rows, columns] =
            [0, 1].map(|axis| ((geometry.output[axis] - 1) * stride + kernel[axis]).max(padding + geometry.input[axis]));
        let suits = stride > 1
            && kernel[0] * kernel[1] > 1
            && channels_in > 0
            && channels_in.is_multiple_of(LANES)
            && channels_in * padded(channels_out) <= KERNELS
            && rows * columns * channels_in <= VALUES;
        suits.then_some(Self {
            geometry: *geometry,
            rows,
            columns,
        })
    }

    /// Values of one kernel row for all input channels: tap by tap.
    fn row_taps(&self) -> usize {
        self.geometry.kernel[1] * self.geometry.channels_in
    }

    fn channels_out(&self) -> usize {
        padded(self.geometry.channels_out)
    }

    fn input(&self) -> Window {
        Window {
            image: self.geometry.input,
            channels: self.geometry.channels_in,
            first_row: -(self.geometry.padding as isize),
            rows: self.rows,
            columns: self.columns,
            left: self.geometry.padding,
        }
    }

    fn output(&self) -> Window {
        let [rows, columns] = self.geometry.output;
        Window {
            image: self.geometry.output,
            channels: self.geometry.channels_out,
            first_row: 0,
            rows,
            columns,
            left: 0,
        }
    }

    /// The pixels that a kernel row sees for a row of outputs.
    fn seen<'a>(&self, pixels: &'a [f32], output_row: usize, kernel_row: usize) -> &'a [f32] {
        let row = output_row * self.geometry.stride + kernel_row;
        &pixels[row * self.columns * self.geometry.channels_in..]
    }

    /// Values between the first taps of two output pixels of a row.
    fn step(&self) -> usize {
        self.geometry.stride * self.geometry.channels_in
    }

    /// Index of a value in the convolution's weight, `[channels_out, channels_in, kernel_height, kernel_width]`. `tap` counts along a
    /// kernel row as [`row_taps`](Self::row_taps) does.
    fn weight(&self, output: usize, row: usize, tap: usize) -> usize {
        let [height, width] = self.geometry.kernel;
        let (column, channel) = (tap / self.geometry.channels_in, tap % self.geometry.channels_in);
        ((output * self.geometry.channels_in + channel) * height + row) * width + column
    }

    /// Convolves all images.
    pub(super) fn forward(&self, input: &[f32], weight: &[f32]) -> Vec<f32> {
        let geometry = &self.geometry;
        let kernels = Kernels::towards_outputs(self, weight);
        let mut out = vec![0.0; geometry.batch_size * geometry.image_out()];
        out.par_chunks_mut(geometry.image_out())
            .zip(input.par_chunks(geometry.image()))
            .for_each_init(
                || Buffers::new(self),
                |buffers, (out, input)| {
                    Forward {
                        windows: self,
                        kernels: &kernels,
                        input,
                        buffers,
                        out,
                    }
                    .dispatch();
                },
            );
        out
    }

    /// The gradient of all images.
    pub(super) fn input_gradient(&self, weight: &[f32], grad: &[f32]) -> Vec<f32> {
        let geometry = &self.geometry;
        let kernels = Kernels::towards_inputs(self, weight);
        let mut out = vec![0.0; geometry.batch_size * geometry.image()];
        out.par_chunks_mut(geometry.image())
            .zip(grad.par_chunks(geometry.image_out()))
            .for_each_init(
                || (Buffers::new(self), vec![0.0; geometry.output_pixels() * self.row_taps()]),
                |(buffers, terms), (out, grad)| {
                    InputGradient {
                        windows: self,
                        kernels: &kernels,
                        grad,
                        buffers,
                        terms,
                        out,
                    }
                    .dispatch();
                },
            );
        out
    }

    /// The gradient of the weight.
    pub(super) fn weight_gradient(&self, input: &[f32], grad: &[f32]) -> Vec<f32> {
        let geometry = &self.geometry;
        let shard = geometry.batch_size.div_ceil(SHARDS).max(1);
        let columns = self.channels_out();
        let shards: Vec<Vec<f32>> = input
            .par_chunks(shard * geometry.image())
            .zip(grad.par_chunks(shard * geometry.image_out()))
            .map(|(input, grad)| {
                let mut sums = vec![0.0; geometry.kernel[0] * self.row_taps() * columns];
                WeightGradient {
                    windows: self,
                    input,
                    grad,
                    buffers: Buffers::new(self),
                    sums: &mut sums,
                }
                .dispatch();
                sums
            })
            .collect();
        let mut out = vec![0.0; geometry.channels_out * geometry.taps()];
        for sums in &shards {
            for (tap, sums) in sums.chunks_exact(columns).enumerate() {
                let (row, tap) = (tap / self.row_taps(), tap % self.row_taps());
                for (output, &sum) in sums[..geometry.channels_out].iter().enumerate() {
                    out[self.weight(output, row, tap)] += sum;
                }
            }
        }
        out
    }
}

/// The weight as the right operand of products, in panels of columns: one matrix per kernel row.
struct Kernels {
    values: Vec<f32>,
    panel: usize,
    panels: usize,
    steps: usize,
}

impl Kernels {
    /// From the taps of a kernel row to output channels.
    fn towards_outputs(windows: &Windows, weight: &[f32]) -> Self {
        let sizes = [windows.row_taps(), windows.channels_out()];
        Self::new(windows, sizes, |row, tap, output| {
            (output < windows.geometry.channels_out).then(|| weight[windows.weight(output, row, tap)])
        })
    }

    /// From output channels to the taps of a kernel row.
    fn towards_inputs(windows: &Windows, weight: &[f32]) -> Self {
        let sizes = [windows.geometry.channels_out, windows.row_taps()];
        Self::new(windows, sizes, |row, output, tap| {
            Some(weight[windows.weight(output, row, tap)])
        })
    }

    fn new(windows: &Windows, [steps, columns]: [usize; 2], value: impl Fn(usize, usize, usize) -> Option<f32>) -> Self {
        let (panel, panels) = (columns.min(PANEL), columns.div_ceil(PANEL));
        let rows = windows.geometry.kernel[0];
        let mut values = vec![0.0; rows * panels * steps * panel];
        for row in 0..rows {
            for step in 0..steps {
                for column in 0..columns {
                    let place = ((row * panels + column / PANEL) * steps + step) * panel + column % PANEL;
                    values[place] = value(row, step, column).unwrap_or(0.0);
                }
            }
        }
        Self {
            values,
            panel,
            panels,
            steps,
        }
    }

    /// The matrix of a kernel row.
    fn row(&self, row: usize) -> Right<'_> {
        let panel_stride = self.steps * self.panel;
        Right {
            values: &self.values[row * self.panels * panel_stride..],
            step_stride: self.panel,
            panel_stride,
        }
    }
}

/// Windows of one thread. What is beyond the image stays 0.
struct Buffers {
    input: Vec<f32>,
    output: Vec<f32>,
}

impl Buffers {
    fn new(windows: &Windows) -> Self {
        Self {
            input: vec![0.0; windows.input().len()],
            output: vec![0.0; windows.output().len()],
        }
    }
}

struct Forward<'a> {
    windows: &'a Windows,
    kernels: &'a Kernels,
    input: &'a [f32],
    buffers: &'a mut Buffers,
    out: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (windows, Buffers { input, output }) = (self.windows, self.buffers);
        let sizes = Sizes {
            rows: windows.geometry.output[1],
            steps: windows.row_taps(),
            columns: windows.channels_out(),
        };
        windows.input().load(simd, self.input, input);
        for (row, out) in output.chunks_exact_mut(sizes.rows * sizes.columns).enumerate() {
            for kernel_row in 0..windows.geometry.kernel[0] {
                let left = Left {
                    values: windows.seen(input, row, kernel_row),
                    row_stride: windows.step(),
                    step_stride: 1,
                };
                product(simd, out, kernel_row > 0, left, self.kernels.row(kernel_row), sizes);
            }
        }
        windows.output().store(simd, output, self.out);
    }
}

struct InputGradient<'a> {
    windows: &'a Windows,
    kernels: &'a Kernels,
    grad: &'a [f32],
    buffers: &'a mut Buffers,
    /// What each output pixel adds to those that a kernel row sees.
    terms: &'a mut [f32],
    out: &'a mut [f32],
}

impl Kernel for InputGradient<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (windows, Buffers { input, output }) = (self.windows, self.buffers);
        let [height, width] = windows.geometry.output;
        let sizes = Sizes {
            rows: height * width,
            steps: windows.geometry.channels_out,
            columns: windows.row_taps(),
        };
        windows.output().load(simd, self.grad, output);
        input.fill(0.0);
        for kernel_row in 0..windows.geometry.kernel[0] {
            let left = Left {
                values: output,
                row_stride: windows.channels_out(),
                step_stride: 1,
            };
            product(simd, self.terms, false, left, self.kernels.row(kernel_row), sizes);
            for (row, terms) in self.terms.chunks_exact(width * sizes.columns).enumerate() {
                let start = (row * windows.geometry.stride + kernel_row) * windows.columns * windows.geometry.channels_in;
                for (column, terms) in terms.chunks_exact(sizes.columns).enumerate() {
                    let pixels = &mut input[start + column * windows.step()..][..sizes.columns];
                    for (pixel, &term) in pixels.iter_mut().zip(terms) {
                        *pixel += term;
                    }
                }
            }
        }
        windows.input().store(simd, input, self.out);
    }
}

struct WeightGradient<'a> {
    windows: &'a Windows,
    input: &'a [f32],
    grad: &'a [f32],
    buffers: Buffers,
    /// `[kernel rows, row taps, channels_out in lanes]`
    sums: &'a mut [f32],
}

impl Kernel for WeightGradient<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let (windows, geometry) = (self.windows, &self.windows.geometry);
        let Buffers { input, output } = &mut self.buffers;
        let sizes = Sizes {
            rows: windows.row_taps(),
            steps: geometry.output[1],
            columns: windows.channels_out(),
        };
        let images = self.input.chunks_exact(geometry.image());
        for (image, grad) in images.zip(self.grad.chunks_exact(geometry.image_out())) {
            windows.input().load(simd, image, input);
            windows.output().load(simd, grad, output);
            for (row, grads) in output.chunks_exact(sizes.steps * sizes.columns).enumerate() {
                for (kernel_row, sums) in self.sums.chunks_exact_mut(sizes.rows * sizes.columns).enumerate() {
                    let left = Left {
                        values: windows.seen(input, row, kernel_row),
                        row_stride: 1,
                        step_stride: windows.step(),
                    };
                    let right = Right {
                        values: grads,
                        step_stride: sizes.columns,
                        panel_stride: PANEL,
                    };
                    product(simd, sums, true, left, right, sizes);
                }
            }
        }
    }
}
