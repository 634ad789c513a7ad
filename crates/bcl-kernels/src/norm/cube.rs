//! Batch normalisation on GPUs: two small kernels for the statistics and one pass to normalise, forward and backward alike.
//!
//! Images stay in memory as they are after a convolution, with their channels last, so that neighbouring threads read neighbouring channels. Burn's
//! reductions over such images take a hundred times as long. A batch in half precision is read and written as it is, and everything is computed in single
//! precision. All sums have a fixed order.

// The kernel language declares element types by arguments with an underscore.
#![allow(clippy::used_underscore_binding)]

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::{permute_nchw_to_nhwc, permute_nhwc_to_nchw};
use burn_cubecl::tensor::CubeTensor;
use cubecl::ir::{ElemType, FloatKind, VectorSize};
use cubecl::prelude::*;
use cubecl::tensor_vector_size_parallel;

use super::{BatchNormOptions, NormOps, portable};
use crate::cube::{THREADS, addresses, empty, rows, threads, workgroups};

/// Vectors of channels per workgroup in the kernels that sum, at most.
const LANES: usize = 32;

/// About as many workgroups as keep a large GPU busy.
const WORKGROUPS: usize = 1024;

/// Channels per vector, at most. Larger vectors would need more memory of a workgroup than every device has.
const CHANNELS: usize = 8;

/// Rows per thread in the kernels that normalise. What depends on the channel alone is computed once for all of them.
const ROWS: usize = 4;

impl NormOps for Cube {
    fn batch_norm_by_batch(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let Some(table) = Table::of(&input, &weight) else {
            return portable::batch_norm_by_batch::<Self>(input, weight, bias, options);
        };
        table.normalised(None, weight, bias, options)
    }

    fn batch_norm_add_relu(
        input: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let tables = Table::of(&input, &weight).zip(Table::of(&residual, &weight));
        let Some((table, other)) = tables.filter(|(table, other)| table.values.dtype == other.values.dtype) else {
            return portable::batch_norm_add_relu::<Self>(input, residual, weight, bias, options);
        };
        table.normalised(Some(other), weight, bias, BatchNormOptions { relu: true, ..options })
    }

    fn batch_norm_by_batch_backward(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let tables = Table::of(&input, &weight).zip(Table::of(&grad, &weight));
        let Some((input, grad)) = tables.filter(|(input, grad)| input.values.dtype == grad.values.dtype) else {
            return portable::batch_norm_by_batch_backward::<Self>(input, weight, bias, mean, variance, grad, options);
        };
        let layer = Layer {
            weight: rows(weight),
            bias: rows(bias),
            mean: rows(mean),
            variance: rows(variance),
            epsilon: options.epsilon as f32,
            relu: options.relu,
        };
        let views = options.views;
        let sums = input.gradient_sums(&grad, &layer, views);
        let output = input.alike();
        let client = input.values.client.clone();
        input_gradient::launch(
            &client,
            input.strands(views),
            CubeDim::new_1d(THREADS),
            addresses(&[&input.values]),
            input.vector,
            input.values.clone().into_tensor_arg(),
            grad.values.into_tensor_arg(),
            layer.weight.into_tensor_arg(),
            layer.bias.into_tensor_arg(),
            layer.mean.into_tensor_arg(),
            layer.variance.into_tensor_arg(),
            sums.weight_of_views.into_tensor_arg(),
            sums.bias_of_views.into_tensor_arg(),
            output.clone().into_tensor_arg(),
            input.num_rows / views,
            input.row_len(),
            views,
            layer.epsilon,
            layer.relu,
            input.element,
        );
        (input.back(output), sums.weight, sums.bias)
    }

    fn relu_gradient(output: FloatTensor<Self>, grad: FloatTensor<Self>) -> FloatTensor<Self> {
        let tables = Table::of_any(&output).zip(Table::of_any(&grad));
        let Some((output, grad)) = tables.filter(|(output, grad)| output.values.dtype == grad.values.dtype) else {
            return portable::relu_gradient::<Self>(output, grad);
        };
        let out = grad.alike();
        let client = grad.values.client.clone();
        gate::launch(
            &client,
            threads(grad.len()),
            CubeDim::new_1d(THREADS),
            addresses(&[&grad.values]),
            grad.vector,
            output.values.clone().into_tensor_arg(),
            grad.values.clone().into_tensor_arg(),
            out.clone().into_tensor_arg(),
            grad.len(),
            grad.element,
        );
        grad.back(out)
    }
}

/// The gradients of weight and bias, and what each view adds to them.
struct GradientSums {
    weight_of_views: CubeTensor,
    bias_of_views: CubeTensor,
    weight: CubeTensor,
    bias: CubeTensor,
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
    /// Channels per vector.
    vector: VectorSize,
    element: ElemType,
    is_images: bool,
}

impl Table {
    /// `None` for what the kernels do not compute: double precision, and batches that are neither rows nor images.
    fn of(batch: &CubeTensor, weight: &CubeTensor) -> Option<Self> {
        Self::of_any(batch).filter(|_| weight.dtype == DType::F32)
    }

    fn of_any(batch: &CubeTensor) -> Option<Self> {
        let shape = batch.shape();
        let is_images = shape.num_dims() == 4;
        let kind = match batch.dtype {
            DType::F32 => FloatKind::F32,
            DType::F16 => FloatKind::F16,
            DType::BF16 => FloatKind::BF16,
            _ => return None,
        };
        if !(is_images || shape.num_dims() == 2) {
            return None;
        }
        let values = into_contiguous(if is_images {
            permute_nchw_to_nhwc(batch.clone())
        } else {
            batch.clone()
        });
        let num_channels = shape[1];
        // Statistics are vectors of as many numbers in single precision.
        let sizes = values.client.io_optimized_vector_sizes(size_of::<f32>());
        let last = values.meta.num_dims() - 1;
        let vector = tensor_vector_size_parallel(
            sizes.filter(|&size| size <= CHANNELS),
            values.meta.shape(),
            values.meta.strides(),
            last,
        );
        Some(Self {
            values,
            num_rows: shape.num_elements() / num_channels,
            num_channels,
            vector,
            element: ElemType::Float(kind),
            is_images,
        })
    }

    /// Vectors per row.
    fn row_len(&self) -> usize {
        self.num_channels / self.vector
    }

    /// Vectors of the table.
    fn len(&self) -> usize {
        self.num_rows * self.row_len()
    }

    /// Workgroups in which each thread has [`ROWS`] rows of a vector of channels, all of one view.
    fn strands(&self, views: usize) -> CubeCount {
        threads(views * (self.num_rows / views).div_ceil(ROWS) * self.row_len())
    }

    /// Memory for another table of this shape and precision.
    fn alike(&self) -> CubeTensor {
        empty(&self.values, self.values.shape(), self.values.dtype)
    }

    /// A table in the order of the batch, without a copy.
    fn back(&self, table: CubeTensor) -> CubeTensor {
        if self.is_images { permute_nhwc_to_nchw(table) } else { table }
    }

    /// The batch, normalised, and plus another one if there is one; and mean and variance.
    fn normalised(
        &self,
        residual: Option<Self>,
        weight: CubeTensor,
        bias: CubeTensor,
        options: BatchNormOptions,
    ) -> (CubeTensor, CubeTensor, CubeTensor) {
        let (mean, variance) = self.moments(options.views);
        let output = self.alike();
        let adds = residual.is_some();
        let residual = residual.map_or_else(|| self.values.clone(), |other| other.values);
        let client = self.values.client.clone();
        normalise::launch(
            &client,
            self.strands(options.views),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.values]),
            self.vector,
            self.values.clone().into_tensor_arg(),
            residual.into_tensor_arg(),
            rows(weight).into_tensor_arg(),
            rows(bias).into_tensor_arg(),
            mean.clone().into_tensor_arg(),
            variance.clone().into_tensor_arg(),
            output.clone().into_tensor_arg(),
            self.num_rows / options.views,
            self.row_len(),
            options.views,
            options.epsilon as f32,
            adds,
            options.relu,
            self.element,
        );
        (self.back(output), mean, variance)
    }

    /// Mean and biased variance of each channel, view by view.
    fn moments(&self, views: usize) -> (CubeTensor, CubeTensor) {
        let parts = Parts::of(self, views);
        let partial = parts.sums(self);
        let client = self.values.client.clone();
        sum_values::launch(
            &client,
            parts.workgroups(),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.values]),
            self.vector,
            self.values.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            parts.rows_per_view,
            self.row_len(),
            parts.lanes,
            parts.rows,
            parts.per_view,
            views,
            self.element,
        );
        let [mean, variance] = [0, 1].map(|_| empty(&self.values, [views * self.num_channels], DType::F32));
        moments_of_sums::launch(
            &client,
            workgroups(views * self.row_len()),
            CubeDim::new_1d(THREADS),
            addresses(&[&partial, &self.values]),
            self.vector,
            self.values.clone().into_tensor_arg(),
            partial.into_tensor_arg(),
            mean.clone().into_tensor_arg(),
            variance.clone().into_tensor_arg(),
            parts.rows_per_view,
            self.row_len(),
            parts.per_view,
            views,
            self.element,
        );
        (mean, variance)
    }

    /// The gradients of weight and bias: sums over each channel.
    fn gradient_sums(&self, grad: &Self, layer: &Layer, views: usize) -> GradientSums {
        let parts = Parts::of(self, views);
        let partial = parts.sums(self);
        let client = self.values.client.clone();
        sum_gradients::launch(
            &client,
            parts.workgroups(),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.values]),
            self.vector,
            self.values.clone().into_tensor_arg(),
            grad.values.clone().into_tensor_arg(),
            layer.weight.clone().into_tensor_arg(),
            layer.bias.clone().into_tensor_arg(),
            layer.mean.clone().into_tensor_arg(),
            layer.variance.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            parts.rows_per_view,
            self.row_len(),
            parts.lanes,
            parts.rows,
            parts.per_view,
            views,
            layer.epsilon,
            layer.relu,
            self.element,
        );
        let [weight_of_views, bias_of_views] = [0, 1].map(|_| empty(&self.values, [views * self.num_channels], DType::F32));
        let [weight, bias] = [0, 1].map(|_| empty(&self.values, [self.num_channels], DType::F32));
        add_parts::launch(
            &client,
            workgroups(self.row_len()),
            CubeDim::new_1d(THREADS),
            addresses(&[&partial]),
            self.vector,
            partial.into_tensor_arg(),
            bias_of_views.clone().into_tensor_arg(),
            weight_of_views.clone().into_tensor_arg(),
            bias.clone().into_tensor_arg(),
            weight.clone().into_tensor_arg(),
            self.row_len(),
            parts.per_view,
            views,
        );
        GradientSums {
            weight_of_views,
            bias_of_views,
            weight,
            bias,
        }
    }
}

/// How the rows of a table are divided among workgroups. A part belongs to one view.
struct Parts {
    views: usize,
    per_view: usize,
    rows_per_view: usize,
    /// Rows per part.
    rows: usize,
    /// Vectors of channels that a workgroup reads at a time, a power of two.
    lanes: usize,
    /// Groups of lanes in a row.
    blocks: usize,
}

impl Parts {
    fn of(table: &Table, views: usize) -> Self {
        let lanes = table.row_len().next_power_of_two().min(LANES);
        let strands = THREADS as usize / lanes;
        let blocks = table.row_len().div_ceil(lanes);
        let rows_per_view = table.num_rows / views;
        let wanted = (WORKGROUPS / (blocks * views)).clamp(1, rows_per_view.div_ceil(4 * strands));
        let rows = rows_per_view.div_ceil(wanted);
        Self {
            views,
            per_view: rows_per_view.div_ceil(rows),
            rows_per_view,
            rows,
            lanes,
            blocks,
        }
    }

    fn workgroups(&self) -> CubeCount {
        workgroups(self.views * self.per_view * self.blocks)
    }

    /// Memory for two sums per part and channel.
    fn sums(&self, table: &Table) -> CubeTensor {
        empty(
            &table.values,
            [2 * self.views * self.per_view, table.num_channels],
            DType::F32,
        )
    }
}

/// Sums the values of a part of each channel, and their squares, relative to the channel's first value, so that no digits cancel.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn sum_values<E: Numeric, N: Size>(
    input: &Tensor<Vector<E, N>>,
    partial: &mut Tensor<Vector<f32, N>>,
    rows_per_view: usize,
    row_len: usize,
    lanes: usize,
    rows_per_part: usize,
    parts_per_view: usize,
    views: usize,
    #[define(E)] _dtype: ElemType,
) {
    let blocks = row_len.div_ceil(lanes);
    let part = CUBE_POS / blocks;
    if part >= parts_per_view * views {
        terminate!();
    }
    let position = UNIT_POS as usize;
    let place = CUBE_POS % blocks * lanes + position % lanes;
    let mut sum = Vector::<f32, N>::zero();
    let mut squares = Vector::<f32, N>::zero();
    if place < row_len {
        let first = Vector::<f32, N>::cast_from(input[place]);
        let mut row = first_row(part, parts_per_view, rows_per_part, rows_per_view) + position / lanes;
        let end = end_row(part, parts_per_view, rows_per_part, rows_per_view);
        while row < end {
            let value = Vector::<f32, N>::cast_from(input[row * row_len + place]) - first;
            sum += value;
            squares += value * value;
            row += THREADS as usize / lanes;
        }
    }
    write_sums(partial, sum, squares, part, place, row_len, lanes);
}

/// Sums the gradients of a part of each channel, and their products with the normalised input.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn sum_gradients<E: Numeric, N: Size>(
    input: &Tensor<Vector<E, N>>,
    grad: &Tensor<Vector<E, N>>,
    weight: &Tensor<Vector<f32, N>>,
    bias: &Tensor<Vector<f32, N>>,
    mean: &Tensor<Vector<f32, N>>,
    variance: &Tensor<Vector<f32, N>>,
    partial: &mut Tensor<Vector<f32, N>>,
    rows_per_view: usize,
    row_len: usize,
    lanes: usize,
    rows_per_part: usize,
    parts_per_view: usize,
    views: usize,
    epsilon: f32,
    #[comptime] relu: bool,
    #[define(E)] _dtype: ElemType,
) {
    let blocks = row_len.div_ceil(lanes);
    let part = CUBE_POS / blocks;
    if part >= parts_per_view * views {
        terminate!();
    }
    let position = UNIT_POS as usize;
    let place = CUBE_POS % blocks * lanes + position % lanes;
    let mut sum = Vector::<f32, N>::zero();
    let mut products = Vector::<f32, N>::zero();
    if place < row_len {
        let statistic = part / parts_per_view * row_len + place;
        let precision = reciprocal_deviation(variance[statistic], epsilon);
        let (centre, scale, shift) = (mean[statistic], weight[place], bias[place]);
        let mut row = first_row(part, parts_per_view, rows_per_part, rows_per_view) + position / lanes;
        let end = end_row(part, parts_per_view, rows_per_part, rows_per_view);
        while row < end {
            let at = row * row_len + place;
            let normalised = (Vector::<f32, N>::cast_from(input[at]) - centre) * precision;
            let slope = gated(Vector::<f32, N>::cast_from(grad[at]), normalised * scale + shift, relu);
            sum += slope;
            products += slope * normalised;
            row += THREADS as usize / lanes;
        }
    }
    write_sums(partial, sum, products, part, place, row_len, lanes);
}

/// The first row of a part.
#[cube]
fn first_row(part: usize, parts_per_view: usize, rows_per_part: usize, rows_per_view: usize) -> usize {
    part / parts_per_view * rows_per_view + part % parts_per_view * rows_per_part
}

/// The row after the last one of a part, which does not reach into the next view.
#[cube]
fn end_row(part: usize, parts_per_view: usize, rows_per_part: usize, rows_per_view: usize) -> usize {
    let mut end = (part % parts_per_view + 1) * rows_per_part;
    if end > rows_per_view {
        end = rows_per_view;
    }
    part / parts_per_view * rows_per_view + end
}

/// The gradient where the output is positive; with ReLU only. NaN stays visible.
#[cube]
fn gated<N: Size>(grad: Vector<f32, N>, output: Vector<f32, N>, #[comptime] relu: bool) -> Vector<f32, N> {
    let zero = Vector::<f32, N>::zero();
    if comptime!(relu) {
        select_many(output.less_equal(&zero), zero, grad)
    } else {
        grad
    }
}

/// Adds up what the threads of a workgroup have of each channel, in a fixed order, and writes both sums of a part.
#[cube]
fn write_sums<N: Size>(
    partial: &mut Tensor<Vector<f32, N>>,
    first: Vector<f32, N>,
    second: Vector<f32, N>,
    part: usize,
    place: usize,
    row_len: usize,
    lanes: usize,
) {
    let mut of_first = Shared::<[Vector<f32, N>]>::new_slice(comptime!(THREADS as usize));
    let mut of_second = Shared::<[Vector<f32, N>]>::new_slice(comptime!(THREADS as usize));
    let position = UNIT_POS as usize;
    of_first[position] = first;
    of_second[position] = second;
    sync_cube();
    if position < lanes && place < row_len {
        let mut sum = Vector::<f32, N>::zero();
        let mut other = Vector::<f32, N>::zero();
        let mut strand = position;
        while strand < THREADS as usize {
            sum += of_first[strand];
            other += of_second[strand];
            strand += lanes;
        }
        partial[2 * part * row_len + place] = sum;
        partial[(2 * part + 1) * row_len + place] = other;
    }
}

/// Adds up a view's parts of both sums of a vector of channels, in a fixed order, with all threads of a workgroup. The first thread has the results.
#[cube]
fn sums_of_parts<N: Size>(
    partial: &Tensor<Vector<f32, N>>,
    view: usize,
    place: usize,
    row_len: usize,
    parts_per_view: usize,
) -> (Vector<f32, N>, Vector<f32, N>) {
    let mut sum = Vector::<f32, N>::zero();
    let mut other = Vector::<f32, N>::zero();
    let mut part = view * parts_per_view + UNIT_POS as usize;
    while part < (view + 1) * parts_per_view {
        sum += partial[2 * part * row_len + place];
        other += partial[(2 * part + 1) * row_len + place];
        part += THREADS as usize;
    }
    let mut of_first = Shared::<[Vector<f32, N>]>::new_slice(comptime!(THREADS as usize));
    let mut of_second = Shared::<[Vector<f32, N>]>::new_slice(comptime!(THREADS as usize));
    let position = UNIT_POS as usize;
    of_first[position] = sum;
    of_second[position] = other;
    let mut width = comptime!(THREADS as usize / 2).runtime();
    while width > 0 {
        sync_cube();
        if position < width {
            let (left, right) = (of_first[position], of_second[position]);
            of_first[position] = left + of_first[position + width];
            of_second[position] = right + of_second[position + width];
        }
        width /= 2;
    }
    sync_cube();
    (of_first[0], of_second[0])
}

/// One workgroup per view and vector of channels.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn moments_of_sums<E: Numeric, N: Size>(
    input: &Tensor<Vector<E, N>>,
    partial: &Tensor<Vector<f32, N>>,
    mean: &mut Tensor<Vector<f32, N>>,
    variance: &mut Tensor<Vector<f32, N>>,
    rows_per_view: usize,
    row_len: usize,
    parts_per_view: usize,
    views: usize,
    #[define(E)] _dtype: ElemType,
) {
    if CUBE_POS >= views * row_len {
        terminate!();
    }
    let (view, place) = (CUBE_POS / row_len, CUBE_POS % row_len);
    let (sum, squares) = sums_of_parts(partial, view, place, row_len, parts_per_view);
    if UNIT_POS == 0 {
        let count = Vector::<f32, N>::new(f32::cast_from(rows_per_view as u32));
        let zero = Vector::<f32, N>::zero();
        let above_first = sum / count;
        let spread = squares / count - above_first * above_first;
        mean[CUBE_POS] = Vector::<f32, N>::cast_from(input[place]) + above_first;
        // Rounding can leave less than nothing, and NaN stays visible.
        variance[CUBE_POS] = select_many(spread.less_than(&zero), zero, spread);
    }
}

/// Adds up the parts of each view, and the views. One workgroup per vector of channels.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn add_parts<N: Size>(
    partial: &Tensor<Vector<f32, N>>,
    first_of_views: &mut Tensor<Vector<f32, N>>,
    second_of_views: &mut Tensor<Vector<f32, N>>,
    first: &mut Tensor<Vector<f32, N>>,
    second: &mut Tensor<Vector<f32, N>>,
    row_len: usize,
    parts_per_view: usize,
    views: usize,
) {
    let place = CUBE_POS;
    if place >= row_len {
        terminate!();
    }
    let mut of_all = Vector::<f32, N>::zero();
    let mut other_of_all = Vector::<f32, N>::zero();
    let mut view = 0usize.runtime();
    while view < views {
        let (sum, other) = sums_of_parts(partial, view, place, row_len, parts_per_view);
        of_all += sum;
        other_of_all += other;
        if UNIT_POS == 0 {
            first_of_views[view * row_len + place] = sum;
            second_of_views[view * row_len + place] = other;
        }
        // All threads have read the sums before the next view's take their place.
        sync_cube();
        view += 1;
    }
    if UNIT_POS == 0 {
        first[place] = of_all;
        second[place] = other_of_all;
    }
}

#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn normalise<E: Numeric, N: Size>(
    input: &Tensor<Vector<E, N>>,
    residual: &Tensor<Vector<E, N>>,
    weight: &Tensor<Vector<f32, N>>,
    bias: &Tensor<Vector<f32, N>>,
    mean: &Tensor<Vector<f32, N>>,
    variance: &Tensor<Vector<f32, N>>,
    output: &mut Tensor<Vector<E, N>>,
    rows_per_view: usize,
    row_len: usize,
    views: usize,
    epsilon: f32,
    #[comptime] adds: bool,
    #[comptime] relu: bool,
    #[define(E)] _dtype: ElemType,
) {
    let strands = rows_per_view.div_ceil(comptime!(ROWS));
    let place = ABSOLUTE_POS % row_len;
    let strand = ABSOLUTE_POS / row_len;
    let view = strand / strands;
    if view >= views {
        terminate!();
    }
    let statistic = view * row_len + place;
    let (centre, scale, shift) = (mean[statistic], weight[place], bias[place]);
    let precision = reciprocal_deviation(variance[statistic], epsilon);
    #[unroll]
    for i in 0..ROWS {
        let row = strand % strands + i * strands;
        if row < rows_per_view {
            let at = (view * rows_per_view + row) * row_len + place;
            let mut value = (Vector::<f32, N>::cast_from(input[at]) - centre) * precision * scale + shift;
            if comptime!(adds) {
                value += Vector::<f32, N>::cast_from(residual[at]);
            }
            output[at] = Vector::cast_from(gated(value, value, relu));
        }
    }
}

#[cube]
fn reciprocal_deviation<N: Size>(variance: Vector<f32, N>, epsilon: f32) -> Vector<f32, N> {
    Vector::<f32, N>::new(1.0f32) / (variance + Vector::new(epsilon)).sqrt()
}

#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn input_gradient<E: Numeric, N: Size>(
    input: &Tensor<Vector<E, N>>,
    grad: &Tensor<Vector<E, N>>,
    weight: &Tensor<Vector<f32, N>>,
    bias: &Tensor<Vector<f32, N>>,
    mean: &Tensor<Vector<f32, N>>,
    variance: &Tensor<Vector<f32, N>>,
    of_weight: &Tensor<Vector<f32, N>>,
    of_bias: &Tensor<Vector<f32, N>>,
    output: &mut Tensor<Vector<E, N>>,
    rows_per_view: usize,
    row_len: usize,
    views: usize,
    epsilon: f32,
    #[comptime] relu: bool,
    #[define(E)] _dtype: ElemType,
) {
    let strands = rows_per_view.div_ceil(comptime!(ROWS));
    let place = ABSOLUTE_POS % row_len;
    let strand = ABSOLUTE_POS / row_len;
    let view = strand / strands;
    if view >= views {
        terminate!();
    }
    let statistic = view * row_len + place;
    let (centre, scale, shift) = (mean[statistic], weight[place], bias[place]);
    let precision = reciprocal_deviation(variance[statistic], epsilon);
    let count = Vector::<f32, N>::new(f32::cast_from(rows_per_view as u32));
    let mean_slope = of_bias[statistic] / count;
    let mean_product = of_weight[statistic] / count;
    let factor = scale * precision;
    #[unroll]
    for i in 0..ROWS {
        let row = strand % strands + i * strands;
        if row < rows_per_view {
            let at = (view * rows_per_view + row) * row_len + place;
            let normalised = (Vector::<f32, N>::cast_from(input[at]) - centre) * precision;
            let slope = gated(Vector::<f32, N>::cast_from(grad[at]), normalised * scale + shift, relu);
            output[at] = Vector::cast_from(factor * (slope - mean_slope - normalised * mean_product));
        }
    }
}

/// One thread per vector.
#[cube(launch, address_type = "dynamic")]
fn gate<E: Numeric, N: Size>(
    output: &Tensor<Vector<E, N>>,
    grad: &Tensor<Vector<E, N>>,
    out: &mut Tensor<Vector<E, N>>,
    len: usize,
    #[define(E)] _dtype: ElemType,
) {
    if ABSOLUTE_POS >= len {
        terminate!();
    }
    let output = Vector::<f32, N>::cast_from(output[ABSOLUTE_POS]);
    let grad = Vector::<f32, N>::cast_from(grad[ABSOLUTE_POS]);
    out[ABSOLUTE_POS] = Vector::cast_from(gated(grad, output, true));
}
