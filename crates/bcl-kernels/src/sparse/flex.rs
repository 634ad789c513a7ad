//! The sparse product on the CPU, parallel over blocks of rows with roughly equal numbers of entries.

use burn::backend::Flex;
use burn::backend::TensorMetadata;
use burn::backend::flex::FlexTensor;
use pulp::Simd;
use rayon::prelude::*;

use super::{SparseMatrix, SparseOps, portable};
use crate::cpu::{self, Kernel, Value, by_float_type, rows_per_task};

impl SparseOps for Flex {
    fn sparse_matmul(matrix: SparseMatrix, dense: FlexTensor) -> FlexTensor {
        by_float_type!(
            dense, T => product::<T>(&matrix, dense, None, 1.0),
            portable::sparse_matmul::<Flex>(&matrix, dense)
        )
    }

    fn sparse_matmul_add(matrix: SparseMatrix, dense: FlexTensor, addend: FlexTensor, scale: f64) -> FlexTensor {
        by_float_type!(
            dense, T => product::<T>(&matrix, dense, Some(addend), scale),
            portable::sparse_matmul_add::<Flex>(matrix, dense, addend, scale)
        )
    }
}

fn product<T: Value>(matrix: &SparseMatrix, dense: FlexTensor, addend: Option<FlexTensor>, scale: f64) -> FlexTensor {
    let [num_rows, _] = matrix.shape();
    let num_columns = dense.shape()[1];
    let dense = cpu::contiguous(dense);
    let dense = T::of(&dense);
    let addend = addend.map(cpu::contiguous);
    let addend = addend.as_ref().map(T::of);
    let scale = T::from_f64(scale);
    let mut out = vec![T::ZERO; num_rows * num_columns];
    if !out.is_empty() {
        let blocks = blocks(matrix, &mut out, num_columns);
        blocks.into_par_iter().for_each(|(first_row, out)| {
            let addend = addend.map(|addend| &addend[first_row * num_columns..][..out.len()]);
            Product {
                matrix,
                dense,
                addend,
                scale,
                num_columns,
                first_row,
                out,
            }
            .dispatch();
        });
    }
    cpu::tensor(out, [num_rows, num_columns])
}

/// Splits the output into blocks of rows of about equal cost, each with the number of its first row.
fn blocks<'a, T>(matrix: &SparseMatrix, mut out: &'a mut [T], num_columns: usize) -> Vec<(usize, &'a mut [T])> {
    // A row costs its entries plus one write, which even an empty row needs.
    let entries_per_task = rows_per_task(num_columns);
    let indptr = matrix.indptr();
    let [num_rows, _] = matrix.shape();
    let mut blocks = Vec::new();
    let mut first_row = 0;
    while first_row < num_rows {
        let cost = |end: usize| indptr[end] - indptr[first_row] + (end - first_row);
        let mut end = first_row + 1;
        while end < num_rows && cost(end + 1) <= entries_per_task {
            end += 1;
        }
        let (block, rest) = out.split_at_mut((end - first_row) * num_columns);
        blocks.push((first_row, block));
        out = rest;
        first_row = end;
    }
    blocks
}

/// Computes some rows of `scale · (addend + matrix · dense)`.
struct Product<'a, T> {
    matrix: &'a SparseMatrix,
    dense: &'a [T],
    addend: Option<&'a [T]>,
    scale: T,
    num_columns: usize,
    first_row: usize,
    out: &'a mut [T],
}

impl<T: Value> Kernel for Product<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let (indices, values) = (self.matrix.indices(), self.matrix.values());
        let ranges = self.matrix.indptr()[self.first_row..].windows(2);
        let rows = self.out.chunks_exact_mut(self.num_columns);
        for (row, (range, out)) in ranges.zip(rows).enumerate() {
            let range = range[0]..range[1];
            let start = self
                .addend
                .map(|addend| &addend[row * self.num_columns..][..self.num_columns]);
            let weights = values[range.clone()].iter().map(|&value| T::from_f32(value));
            let terms = weights.zip(indices[range].iter().copied());
            cpu::weighted_sum_of_rows(out, start, terms, self.dense, self.scale);
        }
    }
}
