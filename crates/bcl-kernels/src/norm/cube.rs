//! Batch normalisation on GPUs, in single precision: two small kernels for the statistics and one pass to normalise, forward and backward alike.
//!
//! Images stay in memory as they are after a convolution, with their channels last, so that neighbouring threads read neighbouring channels. Burn's
//! reductions over such images take a hundred times as long. All sums have a fixed order.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::{permute_nchw_to_nhwc, permute_nhwc_to_nchw};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::{NormOps, portable};
use crate::cube::{THREADS, addresses, empty, rows, threads, workgroups};

/// Channels per workgroup in the kernels that sum.
const LANES: usize = 32;

/// Rows that a workgroup reads at a time.
const STRANDS: usize = THREADS as usize / LANES;

/// About as many workgroups as keep a large GPU busy.
const WORKGROUPS: usize = 1024;

impl NormOps for Cube {
    fn batch_norm_by_batch(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        epsilon: f64,
        relu: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let Some(input) = Table::of(&input, &weight) else {
            return portable::batch_norm_by_batch::<Self>(input, weight, bias, epsilon, relu);
        };
        let (mean, variance) = input.moments();
        let output = input.alike();
        let client = input.values.client.clone();
        normalise::launch(
            &client,
            threads(input.len()),
            CubeDim::new_1d(THREADS),
            addresses(&[&input.values]),
            input.values.clone().into_tensor_arg(),
            rows(weight).into_tensor_arg(),
            rows(bias).into_tensor_arg(),
            mean.clone().into_tensor_arg(),
            variance.clone().into_tensor_arg(),
            output.clone().into_tensor_arg(),
            input.num_channels,
            input.len(),
            epsilon as f32,
            relu,
        );
        (input.back(output), mean, variance)
    }

    fn batch_norm_by_batch_backward(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        epsilon: f64,
        relu: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let tables = Table::of(&input, &weight).zip(Table::of(&grad, &weight));
        let Some((input, grad)) = tables else {
            return portable::batch_norm_by_batch_backward::<Self>(input, weight, bias, mean, variance, grad, epsilon, relu);
        };
        let layer = Layer {
            weight: rows(weight),
            bias: rows(bias),
            mean: rows(mean),
            variance: rows(variance),
            epsilon: epsilon as f32,
            relu,
        };
        let (of_weight, of_bias) = input.gradient_sums(&grad, &layer);
        let output = input.alike();
        let client = input.values.client.clone();
        input_gradient::launch(
            &client,
            threads(input.len()),
            CubeDim::new_1d(THREADS),
            addresses(&[&input.values]),
            input.values.clone().into_tensor_arg(),
            grad.values.into_tensor_arg(),
            layer.weight.into_tensor_arg(),
            layer.bias.into_tensor_arg(),
            layer.mean.into_tensor_arg(),
            layer.variance.into_tensor_arg(),
            of_weight.clone().into_tensor_arg(),
            of_bias.clone().into_tensor_arg(),
            output.clone().into_tensor_arg(),
            input.num_rows,
            input.num_channels,
            input.len(),
            layer.epsilon,
            relu,
        );
        (input.back(output), of_weight, of_bias)
    }
}

/// A layer and the statistics of its batch.
struct Layer {
    weight: CubeTensor,
    bias: CubeTensor,
    mean: CubeTensor,
    variance: CubeTensor,
    epsilon: f32,
    relu: bool,
}

/// A batch as rows of channels, in one piece of memory.
struct Table {
    values: CubeTensor,
    num_rows: usize,
    num_channels: usize,
    is_images: bool,
}

impl Table {
    /// `None` for what the kernels do not compute: other precisions, and batches that are neither rows nor images.
    fn of(batch: &CubeTensor, weight: &CubeTensor) -> Option<Self> {
        let shape = batch.shape();
        let is_images = shape.num_dims() == 4;
        if batch.dtype != DType::F32 || weight.dtype != DType::F32 || !(is_images || shape.num_dims() == 2) {
            return None;
        }
        let values = if is_images {
            permute_nchw_to_nhwc(batch.clone())
        } else {
            batch.clone()
        };
        let num_channels = shape[1];
        Some(Self {
            values: into_contiguous(values),
            num_rows: shape.num_elements() / num_channels,
            num_channels,
            is_images,
        })
    }

    fn len(&self) -> usize {
        self.num_rows * self.num_channels
    }

    /// Memory for another table of this shape.
    fn alike(&self) -> CubeTensor {
        empty(&self.values, self.values.shape(), DType::F32)
    }

    /// A table in the order of the batch, without a copy.
    fn back(&self, table: CubeTensor) -> CubeTensor {
        if self.is_images { permute_nhwc_to_nchw(table) } else { table }
    }

    /// Mean and biased variance of each channel.
    fn moments(&self) -> (CubeTensor, CubeTensor) {
        let parts = Parts::of(self);
        let partial = parts.sums(self);
        let client = self.values.client.clone();
        sum_values::launch(
            &client,
            parts.workgroups(),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.values]),
            self.values.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            self.num_rows,
            self.num_channels,
            parts.rows,
            parts.number,
        );
        let [mean, variance] = [0, 1].map(|_| empty(&self.values, [self.num_channels], DType::F32));
        moments_of_sums::launch(
            &client,
            threads(self.num_channels),
            CubeDim::new_1d(THREADS),
            addresses(&[&partial, &self.values]),
            self.values.clone().into_tensor_arg(),
            partial.into_tensor_arg(),
            mean.clone().into_tensor_arg(),
            variance.clone().into_tensor_arg(),
            self.num_rows,
            self.num_channels,
            parts.number,
        );
        (mean, variance)
    }

    /// The gradients of weight and bias: sums over each channel.
    fn gradient_sums(&self, grad: &Self, layer: &Layer) -> (CubeTensor, CubeTensor) {
        let parts = Parts::of(self);
        let partial = parts.sums(self);
        let client = self.values.client.clone();
        sum_gradients::launch(
            &client,
            parts.workgroups(),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.values]),
            self.values.clone().into_tensor_arg(),
            grad.values.clone().into_tensor_arg(),
            layer.weight.clone().into_tensor_arg(),
            layer.bias.clone().into_tensor_arg(),
            layer.mean.clone().into_tensor_arg(),
            layer.variance.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            self.num_rows,
            self.num_channels,
            parts.rows,
            parts.number,
            layer.epsilon,
            layer.relu,
        );
        let [of_weight, of_bias] = [0, 1].map(|_| empty(&self.values, [self.num_channels], DType::F32));
        add_parts::launch(
            &client,
            threads(self.num_channels),
            CubeDim::new_1d(THREADS),
            addresses(&[&partial]),
            partial.into_tensor_arg(),
            of_bias.clone().into_tensor_arg(),
            of_weight.clone().into_tensor_arg(),
            self.num_channels,
            parts.number,
        );
        (of_weight, of_bias)
    }
}

/// How the rows of a table are divided among workgroups.
struct Parts {
    number: usize,
    /// Rows per part.
    rows: usize,
    /// Groups of channels.
    blocks: usize,
}

impl Parts {
    fn of(table: &Table) -> Self {
        let blocks = table.num_channels.div_ceil(LANES);
        let wanted = (WORKGROUPS / blocks).clamp(1, table.num_rows.div_ceil(4 * STRANDS));
        let rows = table.num_rows.div_ceil(wanted);
        Self {
            number: table.num_rows.div_ceil(rows),
            rows,
            blocks,
        }
    }

    fn workgroups(&self) -> CubeCount {
        workgroups(self.number * self.blocks)
    }

    /// Memory for two sums per part and channel.
    fn sums(&self, table: &Table) -> CubeTensor {
        empty(&table.values, [2 * self.number, table.num_channels], DType::F32)
    }
}

/// Sums the values of a part of each channel, and their squares, relative to the channel's first value, so that no digits cancel.
#[cube(launch, address_type = "dynamic")]
fn sum_values(
    input: &Tensor<f32>,
    partial: &mut Tensor<f32>,
    num_rows: usize,
    num_channels: usize,
    rows_per_part: usize,
    num_parts: usize,
) {
    let blocks = num_channels.div_ceil(LANES);
    let part = CUBE_POS / blocks;
    if part >= num_parts {
        terminate!();
    }
    let channel = CUBE_POS % blocks * LANES + UNIT_POS as usize % LANES;
    let mut sum = 0.0f32;
    let mut squares = 0.0f32;
    if channel < num_channels {
        let first = input[channel];
        let mut row = part * rows_per_part + UNIT_POS as usize / LANES;
        let mut end = (part + 1) * rows_per_part;
        if end > num_rows {
            end = num_rows;
        }
        while row < end {
            let value = input[row * num_channels + channel] - first;
            sum += value;
            squares += value * value;
            row += STRANDS;
        }
    }
    write_sums(partial, sum, squares, part, channel, num_channels);
}

/// Sums the gradients of a part of each channel, and their products with the normalised input.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn sum_gradients(
    input: &Tensor<f32>,
    grad: &Tensor<f32>,
    weight: &Tensor<f32>,
    bias: &Tensor<f32>,
    mean: &Tensor<f32>,
    variance: &Tensor<f32>,
    partial: &mut Tensor<f32>,
    num_rows: usize,
    num_channels: usize,
    rows_per_part: usize,
    num_parts: usize,
    epsilon: f32,
    #[comptime] relu: bool,
) {
    let blocks = num_channels.div_ceil(LANES);
    let part = CUBE_POS / blocks;
    if part >= num_parts {
        terminate!();
    }
    let channel = CUBE_POS % blocks * LANES + UNIT_POS as usize % LANES;
    let mut sum = 0.0f32;
    let mut products = 0.0f32;
    if channel < num_channels {
        let deviation = (variance[channel] + epsilon).sqrt();
        let mut row = part * rows_per_part + UNIT_POS as usize / LANES;
        let mut end = (part + 1) * rows_per_part;
        if end > num_rows {
            end = num_rows;
        }
        while row < end {
            let normalised = (input[row * num_channels + channel] - mean[channel]) / deviation;
            let mut slope = grad[row * num_channels + channel];
            if comptime!(relu) {
                if normalised * weight[channel] + bias[channel] <= 0.0f32 {
                    slope = 0.0f32;
                }
            }
            sum += slope;
            products += slope * normalised;
            row += STRANDS;
        }
    }
    write_sums(partial, sum, products, part, channel, num_channels);
}

/// Adds up what the threads of a workgroup have of each channel, in a fixed order, and writes both sums of a part.
#[cube]
fn write_sums(partial: &mut Tensor<f32>, first: f32, second: f32, part: usize, channel: usize, num_channels: usize) {
    let mut of_first = Shared::<[u32]>::new_slice(comptime!(THREADS as usize));
    let mut of_second = Shared::<[u32]>::new_slice(comptime!(THREADS as usize));
    let position = UNIT_POS as usize;
    of_first[position] = u32::reinterpret(first);
    of_second[position] = u32::reinterpret(second);
    sync_cube();
    if position < LANES && channel < num_channels {
        let mut sum = 0.0f32;
        let mut other = 0.0f32;
        let mut strand = position;
        while strand < LANES * STRANDS {
            sum += f32::reinterpret(of_first[strand]);
            other += f32::reinterpret(of_second[strand]);
            strand += LANES;
        }
        partial[2 * part * num_channels + channel] = sum;
        partial[(2 * part + 1) * num_channels + channel] = other;
    }
}

/// One thread per channel.
#[cube(launch, address_type = "dynamic")]
fn moments_of_sums(
    input: &Tensor<f32>,
    partial: &Tensor<f32>,
    mean: &mut Tensor<f32>,
    variance: &mut Tensor<f32>,
    num_rows: usize,
    num_channels: usize,
    num_parts: usize,
) {
    let channel = ABSOLUTE_POS;
    if channel >= num_channels {
        terminate!();
    }
    let mut sum = 0.0f32;
    let mut squares = 0.0f32;
    let mut at = channel;
    while at < 2 * num_parts * num_channels {
        sum += partial[at];
        squares += partial[at + num_channels];
        at += 2 * num_channels;
    }
    let count = f32::cast_from(num_rows as u32);
    let above_first = sum / count;
    let mut spread = squares / count - above_first * above_first;
    if spread < 0.0f32 {
        spread = 0.0f32;
    }
    mean[channel] = input[channel] + above_first;
    variance[channel] = spread;
}

/// One thread per channel.
#[cube(launch, address_type = "dynamic")]
fn add_parts(partial: &Tensor<f32>, first: &mut Tensor<f32>, second: &mut Tensor<f32>, num_channels: usize, num_parts: usize) {
    let channel = ABSOLUTE_POS;
    if channel >= num_channels {
        terminate!();
    }
    let mut sum = 0.0f32;
    let mut other = 0.0f32;
    let mut at = channel;
    while at < 2 * num_parts * num_channels {
        sum += partial[at];
        other += partial[at + num_channels];
        at += 2 * num_channels;
    }
    first[channel] = sum;
    second[channel] = other;
}

/// One thread per value.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn normalise(
    input: &Tensor<f32>,
    weight: &Tensor<f32>,
    bias: &Tensor<f32>,
    mean: &Tensor<f32>,
    variance: &Tensor<f32>,
    output: &mut Tensor<f32>,
    num_channels: usize,
    len: usize,
    epsilon: f32,
    #[comptime] relu: bool,
) {
    if ABSOLUTE_POS >= len {
        terminate!();
    }
    let channel = ABSOLUTE_POS % num_channels;
    let deviation = (variance[channel] + epsilon).sqrt();
    let mut value = (input[ABSOLUTE_POS] - mean[channel]) / deviation * weight[channel] + bias[channel];
    if comptime!(relu) {
        if value < 0.0f32 {
            value = 0.0f32;
        }
    }
    output[ABSOLUTE_POS] = value;
}

/// One thread per value.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn input_gradient(
    input: &Tensor<f32>,
    grad: &Tensor<f32>,
    weight: &Tensor<f32>,
    bias: &Tensor<f32>,
    mean: &Tensor<f32>,
    variance: &Tensor<f32>,
    of_weight: &Tensor<f32>,
    of_bias: &Tensor<f32>,
    output: &mut Tensor<f32>,
    num_rows: usize,
    num_channels: usize,
    len: usize,
    epsilon: f32,
    #[comptime] relu: bool,
) {
    if ABSOLUTE_POS >= len {
        terminate!();
    }
    let channel = ABSOLUTE_POS % num_channels;
    let deviation = (variance[channel] + epsilon).sqrt();
    let normalised = (input[ABSOLUTE_POS] - mean[channel]) / deviation;
    let mut slope = grad[ABSOLUTE_POS];
    if comptime!(relu) {
        if normalised * weight[channel] + bias[channel] <= 0.0f32 {
            slope = 0.0f32;
        }
    }
    let count = f32::cast_from(num_rows as u32);
    output[ABSOLUTE_POS] =
        weight[channel] / deviation * (slope - of_bias[channel] / count - normalised * of_weight[channel] / count);
}
