//! Row masses on GPUs: ranks, weights, exponentials and sums in one kernel.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata, ops::FloatTensorOps};
use burn::tensor::{DType, FloatDType};
use cubecl::prelude::*;

use super::{MassOps, portable};
use crate::cube::{THREADS, addresses, empty, rows, single, sum_of_workgroup, workgroups};
use crate::ranks::cube::{Tilt, Weighted, weigh};

/// Scores that one workgroup sums in the kernel without ranks.
const BLOCK: usize = 8 * THREADS as usize;

impl MassOps for Cube {
    fn mass(scores: FloatTensor<Self>, offsets: FloatTensor<Self>, rate: f64) -> (FloatTensor<Self>, FloatTensor<Self>) {
        if scores.dtype() == DType::F64 || scores.shape().num_elements() == 0 {
            return portable::mass::<Self>(scores, offsets, rate);
        }
        let dtype = scores.dtype().into();
        finish(tilt(scores, offsets, rate), dtype)
    }

    fn ranked_mass(
        scores: FloatTensor<Self>,
        offsets: FloatTensor<Self>,
        table: FloatTensor<Self>,
        rate: f64,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        if scores.dtype() == DType::F64 || scores.shape().num_elements() == 0 {
            return portable::ranked_mass::<Self>(scores, offsets, table, rate);
        }
        let dtype = scores.dtype().into();
        let offsets = Some(single(offsets));
        finish(weigh(single(scores), single(table), Some(Tilt { offsets, rate })), dtype)
    }
}

/// Adds up the sums of the blocks and casts the masses to the precision of the input.
fn finish(Weighted { values, sums }: Weighted, dtype: FloatDType) -> (FloatTensor<Cube>, FloatTensor<Cube>) {
    let masses = if sums.shape()[1] == 1 {
        sums
    } else {
        Cube::float_sum_dim(sums, 1)
    };
    (Cube::float_cast(masses, dtype), Cube::float_cast(values, dtype))
}

fn tilt(scores: FloatTensor<Cube>, offsets: FloatTensor<Cube>, rate: f64) -> Weighted {
    let (scores, offsets) = (rows(single(scores)), rows(single(offsets)));
    let shape = scores.shape();
    let [num_rows, num_columns] = shape.dims();
    let blocks = num_columns.div_ceil(BLOCK);
    let values = empty(&scores, shape, DType::F32);
    let sums = empty(&scores, [num_rows, blocks], DType::F32);
    let client = scores.client.clone();
    tilt_blocks::launch(
        &client,
        workgroups(num_rows * blocks),
        CubeDim::new_1d(THREADS),
        addresses(&[&scores, &values]),
        scores.into_tensor_arg(),
        offsets.into_tensor_arg(),
        values.clone().into_tensor_arg(),
        sums.clone().into_tensor_arg(),
        num_rows,
        num_columns,
        rate as f32,
        BLOCK,
    );
    Weighted { values, sums }
}

/// One workgroup per block of a row.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn tilt_blocks(
    scores: &Tensor<f32>,
    offsets: &Tensor<f32>,
    values: &mut Tensor<f32>,
    sums: &mut Tensor<f32>,
    num_rows: usize,
    num_columns: usize,
    rate: f32,
    #[comptime] block: usize,
) {
    let blocks = num_columns.div_ceil(block);
    let row = CUBE_POS / blocks;
    if row >= num_rows {
        terminate!();
    }
    let start = row * num_columns;
    let first = CUBE_POS % blocks * block;
    let mut end = first + block;
    if end > num_columns {
        end = num_columns;
    }
    let offset = offsets[row];
    let mut sum = 0.0f32;
    let mut column = first + UNIT_POS as usize;
    while column < end {
        let value = ((scores[start + column] - offset) * rate).exp();
        values[start + column] = value;
        sum += value;
        column += CUBE_DIM as usize;
    }
    let mut scratch = Shared::<[u32]>::new_slice(comptime!(THREADS as usize));
    let sum = sum_of_workgroup(sum, &mut scratch);
    if UNIT_POS == 0 {
        sums[CUBE_POS] = sum;
    }
}
