//! Sampled dot products on GPUs. Nothing of shape `[num_anchors, num_sampled, dim]` is stored, and every sum has a fixed order.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Cube, TensorMetadata, ops::FloatTensorOps, ops::IntTensorOps};
use burn::tensor::{DType, FloatDType, Shape};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::inverse::{Inverse, row_numbers};
use super::{SampledOps, portable};
use crate::cube::{THREADS, addresses, empty, rows, single, threads};

impl SampledOps for Cube {
    fn sampled_dot(anchors: FloatTensor<Self>, table: FloatTensor<Self>, indices: IntTensor<Self>) -> FloatTensor<Self> {
        if is_special(&table, &indices) {
            return portable::sampled_dot::<Self>(anchors, table, indices);
        }
        let shape = indices.shape();
        let (num_scores, num_sampled, dim) = (shape.num_elements(), shape[1], table.shape()[1]);
        in_single(table, |table| {
            let anchors = rows(single(anchors));
            let out = empty(&table, shape, DType::F32);
            let client = table.client.clone();
            dots::launch(
                &client,
                threads(num_scores),
                CubeDim::new_1d(THREADS),
                addresses(&[&anchors, &table, &out]),
                anchors.into_tensor_arg(),
                table.into_tensor_arg(),
                row_numbers(indices).into_tensor_arg(),
                out.clone().into_tensor_arg(),
                num_scores,
                num_sampled,
                dim,
            );
            out
        })
    }

    fn sampled_sum(weights: FloatTensor<Self>, table: FloatTensor<Self>, indices: IntTensor<Self>) -> FloatTensor<Self> {
        if is_special(&table, &indices) {
            return portable::sampled_sum::<Self>(weights, table, indices);
        }
        let [num_anchors, num_sampled] = indices.shape().dims();
        let dim = table.shape()[1];
        in_single(table, |table| {
            let weights = rows(single(weights));
            let out = empty(&table, [num_anchors, dim], DType::F32);
            let client = table.client.clone();
            sums::launch(
                &client,
                threads(num_anchors * dim),
                CubeDim::new_1d(THREADS),
                addresses(&[&weights, &table, &out]),
                weights.into_tensor_arg(),
                table.into_tensor_arg(),
                row_numbers(indices).into_tensor_arg(),
                out.clone().into_tensor_arg(),
                num_anchors * dim,
                num_sampled,
                dim,
            );
            out
        })
    }

    fn scatter_sum(
        weights: FloatTensor<Self>,
        anchors: FloatTensor<Self>,
        indices: IntTensor<Self>,
        num_rows: usize,
    ) -> FloatTensor<Self> {
        if is_special(&anchors, &indices) || num_rows == 0 {
            return portable::scatter_sum::<Self>(weights, anchors, indices, num_rows);
        }
        in_single(anchors, |anchors| {
            scattered(Some(rows(single(weights))), anchors, indices, num_rows)
        })
    }

    fn scatter_rows(read: FloatTensor<Self>, indices: IntTensor<Self>, num_rows: usize) -> FloatTensor<Self> {
        if is_special(&read, &indices) || num_rows == 0 {
            return portable::scatter_rows::<Self>(read, indices, num_rows);
        }
        let num_read = indices.shape().num_elements();
        in_single(read, |read| {
            let indices = Cube::int_reshape(indices, Shape::from([num_read, 1]));
            scattered(None, read, indices, num_rows)
        })
    }
}

/// Whether the portable body must run: for doubles and empty tensors.
fn is_special(table: &CubeTensor, indices: &CubeTensor) -> bool {
    table.dtype() == DType::F64 || table.shape().num_elements() == 0 || indices.shape().num_elements() == 0
}

/// Computes in 32 bits and casts the result to the type of the input.
fn in_single(tensor: CubeTensor, compute: impl FnOnce(CubeTensor) -> CubeTensor) -> CubeTensor {
    let dtype: FloatDType = tensor.dtype().into();
    Cube::float_cast(compute(rows(single(tensor))), dtype)
}

/// `out[r] = Σ weights[e] · anchors[e / num_sampled]` over the entries `e` that name row `r`. Without weights, each is 1.
fn scattered(weights: Option<CubeTensor>, anchors: CubeTensor, indices: CubeTensor, num_rows: usize) -> CubeTensor {
    let num_sampled = indices.shape()[1];
    let dim = anchors.shape()[1];
    let Inverse { starts, entries } = Inverse::new(row_numbers(indices), num_rows);
    let is_weighted = weights.is_some();
    // Without weights, any tensor serves as a placeholder.
    let weights = weights.unwrap_or_else(|| anchors.clone());
    let out = empty(&anchors, [num_rows, dim], DType::F32);
    let client = anchors.client.clone();
    scatter::launch(
        &client,
        threads(num_rows * dim),
        CubeDim::new_1d(THREADS),
        addresses(&[&weights, &anchors, &out]),
        starts.into_tensor_arg(),
        entries.into_tensor_arg(),
        weights.into_tensor_arg(),
        anchors.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        num_rows * dim,
        num_sampled,
        dim,
        is_weighted,
    );
    out
}

/// One thread per score.
#[cube(launch, address_type = "dynamic")]
fn dots(
    anchors: &Tensor<f32>,
    table: &Tensor<f32>,
    indices: &Tensor<u32>,
    out: &mut Tensor<f32>,
    num_scores: usize,
    num_sampled: usize,
    dim: usize,
) {
    let position = ABSOLUTE_POS;
    if position >= num_scores {
        terminate!();
    }
    let anchor = position / num_sampled * dim;
    let row = indices[position] as usize * dim;
    let mut sum = 0.0f32;
    for column in 0..dim {
        sum += anchors[anchor + column] * table[row + column];
    }
    out[position] = sum;
}

/// One thread per component of an anchor's sum. Neighbouring threads read adjacent numbers.
#[cube(launch, address_type = "dynamic")]
fn sums(
    weights: &Tensor<f32>,
    table: &Tensor<f32>,
    indices: &Tensor<u32>,
    out: &mut Tensor<f32>,
    num_elements: usize,
    num_sampled: usize,
    dim: usize,
) {
    let position = ABSOLUTE_POS;
    if position >= num_elements {
        terminate!();
    }
    let first = position / dim * num_sampled;
    let column = position % dim;
    let mut sum = 0.0f32;
    for entry in first..first + num_sampled {
        sum += weights[entry] * table[indices[entry] as usize * dim + column];
    }
    out[position] = sum;
}

/// One thread per component of a row's sum.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn scatter(
    starts: &Tensor<u32>,
    entries: &Tensor<u32>,
    weights: &Tensor<f32>,
    anchors: &Tensor<f32>,
    out: &mut Tensor<f32>,
    num_elements: usize,
    num_sampled: usize,
    dim: usize,
    #[comptime] is_weighted: bool,
) {
    let position = ABSOLUTE_POS;
    if position >= num_elements {
        terminate!();
    }
    let row = position / dim;
    let column = position % dim;
    let start = starts[row] as usize;
    let end = starts[row + 1] as usize;
    let mut sum = 0.0f32;
    for i in start..end {
        let entry = entries[i] as usize;
        let value = anchors[entry / num_sampled * dim + column];
        if comptime!(is_weighted) {
            sum += weights[entry] * value;
        } else {
            sum += value;
        }
    }
    out[position] = sum;
}
