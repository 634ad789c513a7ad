//! The sparse product on GPUs: one thread per output element walks its row in order. Without atomics, the order of additions is fixed.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata, ops::FloatTensorOps};
use burn::tensor::{DType, FloatDType};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::uploads::Upload;
use super::{SparseMatrix, SparseOps, portable};
use crate::cube::{THREADS, addresses, empty, rows, single, threads};

impl SparseOps for Cube {
    fn sparse_matmul(matrix: SparseMatrix, dense: FloatTensor<Self>) -> FloatTensor<Self> {
        match dense.dtype() {
            DType::F64 => portable::sparse_matmul::<Self>(&matrix, dense),
            _ => product(&matrix, dense, None, 1.0),
        }
    }

    fn sparse_matmul_add(
        matrix: SparseMatrix,
        dense: FloatTensor<Self>,
        addend: FloatTensor<Self>,
        scale: f64,
    ) -> FloatTensor<Self> {
        match dense.dtype() {
            DType::F64 => portable::sparse_matmul_add::<Self>(matrix, dense, addend, scale),
            _ => product(&matrix, dense, Some(addend), scale),
        }
    }
}

/// `scale · (addend + matrix · dense)`, computed in 32 bits.
fn product(matrix: &SparseMatrix, dense: CubeTensor, addend: Option<CubeTensor>, scale: f64) -> CubeTensor {
    let dtype: FloatDType = dense.dtype().into();
    let device = dense.device();
    let [num_rows, _] = matrix.shape();
    let num_columns = dense.shape()[1];
    if num_rows * num_columns == 0 || matrix.nnz() == 0 {
        return match addend {
            Some(addend) => Cube::float_mul_scalar(addend, scale.into()),
            None => Cube::float_zeros([num_rows, num_columns].into(), &device, dtype),
        };
    }
    let dense = rows(single(dense));
    let adds = addend.is_some();
    // Without an addend, any tensor serves as a placeholder.
    let addend = addend.map_or_else(|| dense.clone(), |addend| rows(single(addend)));
    let Upload {
        indptr, indices, values, ..
    } = matrix
        .uploads()
        .on(&device, matrix.indptr(), matrix.indices(), matrix.values());
    let out = empty(&dense, [num_rows, num_columns], DType::F32);
    let client = dense.client.clone();
    sparse_rows::launch(
        &client,
        threads(num_rows * num_columns),
        CubeDim::new_1d(THREADS),
        addresses(&[&dense, &indices, &out]),
        indptr.into_tensor_arg(),
        indices.into_tensor_arg(),
        values.into_tensor_arg(),
        dense.into_tensor_arg(),
        addend.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        num_rows * num_columns,
        num_columns,
        scale as f32,
        adds,
    );
    Cube::float_cast(out, dtype)
}

/// Neighbouring threads compute neighbouring columns of one row, so they read the same entries and adjacent numbers.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn sparse_rows(
    indptr: &Tensor<u32>,
    indices: &Tensor<u32>,
    values: &Tensor<f32>,
    dense: &Tensor<f32>,
    addend: &Tensor<f32>,
    out: &mut Tensor<f32>,
    num_elements: usize,
    num_columns: usize,
    scale: f32,
    #[comptime] adds: bool,
) {
    let position = ABSOLUTE_POS;
    if position >= num_elements {
        terminate!();
    }
    let row = position / num_columns;
    let column = position % num_columns;
    let mut sum = 0.0f32;
    if comptime!(adds) {
        sum = addend[position];
    }
    let start = indptr[row] as usize;
    let end = indptr[row + 1] as usize;
    for entry in start..end {
        sum += values[entry] * dense[indices[entry] as usize * num_columns + column];
    }
    out[position] = sum * scale;
}
