//! Sampled dot products on the CPU, parallel over rows of the output.

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata, ops::FloatTensorOps};
use pulp::Simd;
use rayon::prelude::*;

use super::scatter::{scatter, scatter_into};
use super::{SampledOps, portable};
use crate::cpu::{self, Kernel, Value, by_float_type, row_numbers, rows_per_task};
use crate::touched;

impl SampledOps for Flex {
    fn sampled_dot(anchors: FlexTensor, table: FlexTensor, indices: FlexTensor) -> FlexTensor {
        by_float_type!(
            anchors, T => sampled_dot::<T>(anchors, table, indices),
            portable::sampled_dot::<Flex>(anchors, table, indices)
        )
    }

    fn sampled_sum(weights: FlexTensor, table: FlexTensor, indices: FlexTensor) -> FlexTensor {
        by_float_type!(
            table, T => sampled_sum::<T>(weights, table, indices),
            portable::sampled_sum::<Flex>(weights, table, indices)
        )
    }

    fn scatter_sum(weights: FlexTensor, anchors: FlexTensor, indices: FlexTensor, num_rows: usize) -> FlexTensor {
        by_float_type!(
            anchors, T => scatter_sum::<T>(weights, anchors, indices, num_rows),
            portable::scatter_sum::<Flex>(weights, anchors, indices, num_rows)
        )
    }

    fn gather_rows(table: FlexTensor, indices: FlexTensor) -> FlexTensor {
        by_float_type!(table, T => gather_rows::<T>(table, indices), Flex::float_select(table, 0, indices))
    }

    fn scatter_rows(rows: FlexTensor, indices: FlexTensor, num_rows: usize) -> FlexTensor {
        by_float_type!(
            rows, T => scatter_rows::<T>(rows, indices, num_rows),
            portable::scatter_rows::<Flex>(rows, indices, num_rows)
        )
    }
}

fn sampled_dot<T: Value>(anchors: FlexTensor, table: FlexTensor, indices: FlexTensor) -> FlexTensor {
    let [num_rows, dim] = table.shape().dims();
    let shape = indices.shape();
    let num_sampled = shape[1];
    let (anchors, table) = (cpu::contiguous(anchors), cpu::contiguous(table));
    let (anchors, table) = (T::of(&anchors), T::of(&table));
    let indices = row_numbers(&indices, num_rows);
    let mut out = vec![T::ZERO; indices.len()];
    if !out.is_empty() && dim > 0 {
        let rows = rows_per_task(num_sampled * dim);
        out.par_chunks_mut(rows * num_sampled)
            .zip(indices.par_chunks(rows * num_sampled))
            .zip(anchors.par_chunks(rows * dim))
            .for_each(|((out, indices), anchors)| {
                Dots {
                    anchors,
                    table,
                    indices,
                    dim,
                    out,
                }
                .dispatch();
            });
    }
    cpu::tensor(out, shape)
}

fn sampled_sum<T: Value>(weights: FlexTensor, table: FlexTensor, indices: FlexTensor) -> FlexTensor {
    let [num_rows, dim] = table.shape().dims();
    let [num_anchors, num_sampled] = indices.shape().dims();
    let (weights, table) = (cpu::contiguous(weights), cpu::contiguous(table));
    let (weights, table) = (T::of(&weights), T::of(&table));
    let indices = row_numbers(&indices, num_rows);
    let mut out = vec![T::ZERO; num_anchors * dim];
    if !out.is_empty() && num_sampled > 0 {
        let rows = rows_per_task(num_sampled * dim);
        out.par_chunks_mut(rows * dim)
            .zip(indices.par_chunks(rows * num_sampled))
            .zip(weights.par_chunks(rows * num_sampled))
            .for_each(|((out, indices), weights)| {
                Sums {
                    weights,
                    table,
                    indices,
                    dim,
                    num_sampled,
                    out,
                }
                .dispatch();
            });
    }
    cpu::tensor(out, [num_anchors, dim])
}

fn scatter_sum<T: Value>(weights: FlexTensor, anchors: FlexTensor, indices: FlexTensor, num_rows: usize) -> FlexTensor {
    let (weights, anchors) = (cpu::contiguous(weights), cpu::contiguous(anchors));
    let dim = anchors.shape()[1];
    let num_sampled = indices.shape()[1];
    let indices = row_numbers(&indices, num_rows);
    let out = scatter(Some(T::of(&weights)), T::of(&anchors), &indices, num_sampled, num_rows, dim);
    cpu::tensor(out, [num_rows, dim])
}

fn gather_rows<T: Value>(table: FlexTensor, indices: FlexTensor) -> FlexTensor {
    let [num_rows, dim] = table.shape().dims();
    let table = cpu::contiguous(table);
    let table = T::of(&table);
    let indices = row_numbers(&indices, num_rows);
    let mut out = vec![T::ZERO; indices.len() * dim];
    if !out.is_empty() {
        let rows = rows_per_task(dim);
        out.par_chunks_mut(rows * dim)
            .zip(indices.par_chunks(rows))
            .for_each(|(out, indices)| {
                for (out, &row) in out.chunks_exact_mut(dim).zip(indices) {
                    out.copy_from_slice(&table[row as usize * dim..][..dim]);
                }
            });
    }
    cpu::tensor(out, [indices.len(), dim])
}

fn scatter_rows<T: Value>(rows: FlexTensor, indices: FlexTensor, num_rows: usize) -> FlexTensor {
    let rows = cpu::contiguous(rows);
    let dim = rows.shape()[1];
    let indices = row_numbers(&indices, num_rows);
    if touched::is_worthwhile::<T>(num_rows, dim, indices.len()) {
        let write = |out: &mut [T]| scatter_into(out, None, T::of(&rows), &indices, 1, dim);
        return touched::written([num_rows, dim], &indices, write);
    }
    let out = scatter(None, T::of(&rows), &indices, 1, num_rows, dim);
    cpu::tensor(out, [num_rows, dim])
}

/// Computes some rows of [`sampled_dot`](crate::sampled_dot).
struct Dots<'a, T> {
    anchors: &'a [T],
    table: &'a [T],
    indices: &'a [u32],
    dim: usize,
    out: &'a mut [T],
}

impl<T: Value> Kernel for Dots<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let anchors = self.anchors.chunks_exact(self.dim);
        let num_sampled = self.out.len() / anchors.len();
        let indices = self.indices.chunks_exact(num_sampled);
        let out = self.out.chunks_exact_mut(num_sampled);
        for ((anchor, indices), out) in anchors.zip(indices).zip(out) {
            for (out, &row) in out.iter_mut().zip(indices) {
                *out = T::dot(simd, anchor, &self.table[row as usize * self.dim..][..self.dim]);
            }
        }
    }
}

/// Computes some rows of the gradient of [`sampled_dot`](crate::sampled_dot) with respect to the anchors.
struct Sums<'a, T> {
    weights: &'a [T],
    table: &'a [T],
    indices: &'a [u32],
    dim: usize,
    num_sampled: usize,
    out: &'a mut [T],
}

impl<T: Value> Kernel for Sums<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let weights = self.weights.chunks_exact(self.num_sampled);
        let indices = self.indices.chunks_exact(self.num_sampled);
        let out = self.out.chunks_exact_mut(self.dim);
        for ((weights, indices), out) in weights.zip(indices).zip(out) {
            let terms = weights.iter().copied().zip(indices.iter().copied());
            cpu::weighted_sum_of_rows(out, None, terms, self.table, T::ONE);
        }
    }
}
