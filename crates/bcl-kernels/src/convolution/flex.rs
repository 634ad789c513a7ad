//! Convolution on the CPU: one matrix for tiny images, Winograd's algorithm or windows of pixels where they suit, otherwise a matrix product. Its operand
//! is the image itself where each output pixel sees one input pixel, and otherwise made by im2col, a few images at a time so that the columns stay in
//! the cache.

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata};
use burn::tensor::DType;
use faer::traits::ComplexField;
use rayon::prelude::*;

use super::dense::Dense;
use super::geometry::Geometry;
use super::order::Order;
use super::windows::Windows;
use super::winograd::{self, Kernels, Tiling};
use super::{ConvolutionOps, portable};
use crate::cpu::{self, Value, by_float_type};
use crate::matrix::{Matrix, product};

impl ConvolutionOps for Flex {
    fn convolve(input: FlexTensor, weight: FlexTensor, stride: usize, padding: usize) -> FlexTensor {
        by_float_type!(
            input, T => {
                let geometry = geometry(&input, &weight, stride, padding);
                if let Some(dense) = Dense::of(&geometry) {
                    let (input, weight) = (cpu::contiguous(input), cpu::contiguous(weight));
                    outputs(&geometry, dense.forward(T::of(&input), T::of(&weight)))
                } else if let Some(tiling) = tiling(&geometry, &input) {
                    by_tiles(&geometry, &tiling, input, |values| Kernels::new(&geometry, values), weight)
                } else if let Some(windows) = windows(&geometry, &input) {
                    let (input, weight) = (cpu::contiguous(input), cpu::contiguous(weight));
                    outputs(&geometry, windows.forward(f32::of(&input), f32::of(&weight)))
                } else {
                    forward::<T>(&geometry, input, weight)
                }
            },
            portable::convolve::<Flex>(input, weight, stride, padding)
        )
    }

    fn convolve_input_backward(
        input: FlexTensor,
        weight: FlexTensor,
        grad: FlexTensor,
        stride: usize,
        padding: usize,
    ) -> FlexTensor {
        by_float_type!(
            input, T => {
                let geometry = geometry(&input, &weight, stride, padding);
                if let Some(dense) = Dense::of(&geometry) {
                    let (weight, grad) = (cpu::contiguous(weight), cpu::contiguous(grad));
                    return inputs(&geometry, dense.input_gradient(T::of(&weight), T::of(&grad)));
                }
                if let Some(windows) = windows(&geometry, &input) {
                    let (weight, grad) = (cpu::contiguous(weight), cpu::contiguous(grad));
                    return inputs(&geometry, windows.input_gradient(f32::of(&weight), f32::of(&grad)));
                }
                let Some(reversed) = geometry.reversed() else {
                    return input_backward::<T>(&geometry, weight, grad);
                };
                match tiling(&reversed, &input) {
                    Some(tiling) => by_tiles(&reversed, &tiling, grad, |values| Kernels::rotated(&reversed, values), weight),
                    None => forward::<T>(&reversed, grad, rotated::<T>(&geometry, weight)),
                }
            },
            portable::convolve_input_backward::<Flex>(input, weight, grad, stride, padding)
        )
    }

    fn convolve_weight_backward(
        input: FlexTensor,
        weight: FlexTensor,
        grad: FlexTensor,
        stride: usize,
        padding: usize,
    ) -> FlexTensor {
        by_float_type!(
            input, T => {
                let geometry = geometry(&input, &weight, stride, padding);
                if let Some(dense) = Dense::of(&geometry) {
                    let (input, grad) = (cpu::contiguous(input), cpu::contiguous(grad));
                    weights(&geometry, dense.weight_gradient(T::of(&input), T::of(&grad)))
                } else if let Some(tiling) = tiling(&geometry, &input) {
                    let (input, grad) = (cpu::contiguous(input), cpu::contiguous(grad));
                    weights(&geometry, winograd::weight_gradient(&tiling, f32::of(&input), f32::of(&grad)))
                } else if let Some(windows) = windows(&geometry, &input) {
                    let (input, grad) = (cpu::contiguous(input), cpu::contiguous(grad));
                    weights(&geometry, windows.weight_gradient(f32::of(&input), f32::of(&grad)))
                } else {
                    weight_backward::<T>(&geometry, input, grad)
                }
            },
            portable::convolve_weight_backward::<Flex>(input, weight, grad, stride, padding)
        )
    }
}

fn geometry(input: &FlexTensor, weight: &FlexTensor, stride: usize, padding: usize) -> Geometry {
    Geometry::new(input.shape().dims(), weight.shape().dims(), stride, padding)
}

/// The tiles of a convolution that Winograd's algorithm suits. Double precision is for exact results, and keeps to the definition.
fn tiling(geometry: &Geometry, input: &FlexTensor) -> Option<Tiling> {
    (input.dtype() == DType::F32).then(|| Tiling::of(geometry)).flatten()
}

/// The windows of a strided convolution that products over pixels suit, in single precision alone.
fn windows(geometry: &Geometry, input: &FlexTensor) -> Option<Windows> {
    (input.dtype() == DType::F32).then(|| Windows::of(geometry)).flatten()
}

fn inputs<T: Value>(geometry: &Geometry, values: Vec<T>) -> FlexTensor {
    let [height, width] = geometry.input;
    cpu::tensor(values, [geometry.batch_size, geometry.channels_in, height, width])
}

fn outputs<T: Value>(geometry: &Geometry, values: Vec<T>) -> FlexTensor {
    let [height, width] = geometry.output;
    cpu::tensor(values, [geometry.batch_size, geometry.channels_out, height, width])
}

fn weights<T: Value>(geometry: &Geometry, values: Vec<T>) -> FlexTensor {
    let [height, width] = geometry.kernel;
    cpu::tensor(values, [geometry.channels_out, geometry.channels_in, height, width])
}

fn by_tiles(
    geometry: &Geometry,
    tiling: &Tiling,
    input: FlexTensor,
    kernels: impl FnOnce(&[f32]) -> Kernels,
    weight: FlexTensor,
) -> FlexTensor {
    let (input, weight) = (cpu::contiguous(input), cpu::contiguous(weight));
    let mut out = vec![0.0; geometry.batch_size * geometry.image_out()];
    winograd::forward(tiling, &kernels(f32::of(&weight)), f32::of(&input), &mut out);
    outputs(geometry, out)
}

/// Scratch memory of one thread for one group of images.
struct Buffers<T> {
    /// The im2col matrix, `[taps, columns]`.
    columns: Vec<T>,
    /// Outputs or their gradient, `[channels_out, columns]`.
    rows: Vec<T>,
    images: Vec<T>,
}

impl<T: Value> Buffers<T> {
    fn new(geometry: &Geometry) -> Self {
        let group = geometry.group();
        if geometry.is_pointwise() && group == 1 {
            // All is read and written in place.
            return Self {
                columns: Vec::new(),
                rows: Vec::new(),
                images: Vec::new(),
            };
        }
        let zeros = |of_an_image: usize| vec![T::ZERO; of_an_image * group];
        Self {
            columns: zeros(geometry.taps() * geometry.output_pixels()),
            rows: zeros(geometry.image_out()),
            images: zeros(geometry.image()),
        }
    }
}

fn forward<T: Value + ComplexField>(geometry: &Geometry, input: FlexTensor, weight: FlexTensor) -> FlexTensor {
    let (input, weight) = (cpu::contiguous(input), cpu::contiguous(weight));
    let Geometry {
        batch_size,
        channels_out,
        ..
    } = *geometry;
    let (group, order) = (geometry.group(), Order::of(geometry));
    let weight = Matrix::new(T::of(&weight), channels_out, geometry.taps());
    let mut out = vec![T::ZERO; batch_size * geometry.image_out()];
    if !out.is_empty() {
        out.par_chunks_mut(group * geometry.image_out())
            .zip(T::of(&input).par_chunks(group * geometry.image()))
            .for_each_init(
                || Buffers::new(geometry),
                |Buffers { columns, rows, images }, (out, input)| {
                    let columns = in_columns(geometry, &order, input, images, columns);
                    if input.len() == geometry.image() {
                        return product(out, false, weight, columns, T::ONE);
                    }
                    let rows = &mut rows[..out.len()];
                    product(rows, false, weight, columns, T::ONE);
                    order.outputs(geometry, rows, out);
                },
            );
    }
    outputs(geometry, out)
}

/// Kernels with input and output channels swapped and rotated by 180°: `[channels_in, channels_out, kernel_height, kernel_width]`.
fn rotated<T: Value>(geometry: &Geometry, weight: FlexTensor) -> FlexTensor {
    let weight = cpu::contiguous(weight);
    let Geometry {
        channels_in,
        channels_out,
        kernel,
        ..
    } = *geometry;
    let taps = kernel[0] * kernel[1];
    let mut out = vec![T::ZERO; channels_in * channels_out * taps];
    for (index, kernel) in T::of(&weight).chunks_exact(taps).enumerate() {
        let (channel_out, channel_in) = (index / channels_in, index % channels_in);
        let start = (channel_in * channels_out + channel_out) * taps;
        for (out, &value) in out[start..start + taps].iter_mut().zip(kernel.iter().rev()) {
            *out = value;
        }
    }
    cpu::tensor(out, [channels_in, channels_out, kernel[0], kernel[1]])
}

fn input_backward<T: Value + ComplexField>(geometry: &Geometry, weight: FlexTensor, grad: FlexTensor) -> FlexTensor {
    let (weight, grad) = (cpu::contiguous(weight), cpu::contiguous(grad));
    let Geometry {
        batch_size,
        channels_out,
        ..
    } = *geometry;
    let (taps, output_pixels, group, order) = (
        geometry.taps(),
        geometry.output_pixels(),
        geometry.group(),
        Order::of(geometry),
    );
    let weight = Matrix::new(T::of(&weight), channels_out, taps).transpose();
    let mut out = vec![T::ZERO; batch_size * geometry.image()];
    if !out.is_empty() {
        out.par_chunks_mut(group * geometry.image())
            .zip(T::of(&grad).par_chunks(group * geometry.image_out()))
            .for_each_init(
                || Buffers::new(geometry),
                |Buffers { columns, rows, images }, (out, grads)| {
                    let columns = &mut columns[..taps * (out.len() / geometry.image()) * output_pixels];
                    let rows = in_rows(geometry, &order, grads, rows);
                    product(columns, false, weight, rows, T::ONE);
                    order.unsee(geometry, columns, images, out);
                },
            );
    }
    inputs(geometry, out)
}

fn weight_backward<T: Value + ComplexField>(geometry: &Geometry, input: FlexTensor, grad: FlexTensor) -> FlexTensor {
    let (input, grad) = (cpu::contiguous(input), cpu::contiguous(grad));
    let channels_out = geometry.channels_out;
    let (taps, group, shard) = (geometry.taps(), geometry.group(), geometry.shard());
    let order = Order::of(geometry);
    let sums: Vec<Vec<T>> = T::of(&input)
        .par_chunks(shard * geometry.image())
        .zip(T::of(&grad).par_chunks(shard * geometry.image_out()))
        .map(|(input, grads)| {
            let mut sum = vec![T::ZERO; channels_out * taps];
            let Buffers {
                mut columns,
                mut rows,
                mut images,
            } = Buffers::new(geometry);
            let groups = input.chunks(group * geometry.image());
            for (input, grads) in groups.zip(grads.chunks(group * geometry.image_out())) {
                let columns = in_columns(geometry, &order, input, &mut images, &mut columns);
                let rows = in_rows(geometry, &order, grads, &mut rows);
                product(&mut sum, true, rows, columns.transpose(), T::ONE);
            }
            sum
        })
        .collect();
    let mut sums = sums.into_iter();
    let mut total = sums.next().unwrap_or_else(|| vec![T::ZERO; channels_out * taps]);
    for sum in sums {
        for (total, &value) in total.iter_mut().zip(&sum) {
            *total += value;
        }
    }
    weights(geometry, total)
}

/// The input windows of some images as columns, `[taps, columns]`.
fn in_columns<'a, T: Value>(
    geometry: &Geometry,
    order: &Order,
    input: &'a [T],
    images: &mut [T],
    buffer: &'a mut [T],
) -> Matrix<'a, T> {
    let (taps, output_pixels) = (geometry.taps(), geometry.output_pixels());
    let count = input.len() / geometry.image();
    if count == 1 && geometry.is_pointwise() {
        return Matrix::new(input, taps, output_pixels);
    }
    let columns = &mut buffer[..taps * count * output_pixels];
    order.see(geometry, input, images, columns);
    Matrix::new(columns, taps, count * output_pixels)
}

/// The gradient of some images' outputs as `[channels_out, columns]`.
fn in_rows<'a, T: Value>(geometry: &Geometry, order: &Order, grads: &'a [T], buffer: &'a mut [T]) -> Matrix<'a, T> {
    let (channels_out, output_pixels) = (geometry.channels_out, geometry.output_pixels());
    let count = grads.len() / geometry.image_out();
    if count == 1 {
        return Matrix::new(grads, channels_out, output_pixels);
    }
    let buffer = &mut buffer[..grads.len()];
    order.rows(geometry, grads, buffer);
    Matrix::new(buffer, channels_out, count * output_pixels)
}
