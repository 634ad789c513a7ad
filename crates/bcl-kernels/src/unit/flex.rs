//! L2 normalisation on the CPU, with one pass forward and one backward.

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata};
use pulp::Simd;
use rayon::prelude::*;

use super::{UnitOps, portable};
use crate::cpu::{self, Kernel, Value, by_float_type, rows_per_task};

impl UnitOps for Flex {
    fn unit_rows(rows: FlexTensor) -> FlexTensor {
        by_float_type!(rows, T => unit_rows::<T>(rows), portable::unit_rows::<Flex>(rows))
    }

    fn unit_rows_backward(rows: FlexTensor, grad: FlexTensor) -> FlexTensor {
        by_float_type!(
            rows, T => unit_rows_backward::<T>(rows, grad),
            portable::unit_rows_backward::<Flex>(rows, grad)
        )
    }
}

fn unit_rows<T: Value>(rows: FlexTensor) -> FlexTensor {
    let shape = rows.shape();
    let dim = shape[1];
    let rows = cpu::contiguous(rows);
    let mut out = vec![T::ZERO; shape.num_elements()];
    if !out.is_empty() {
        let chunk = rows_per_task(2 * dim) * dim;
        out.par_chunks_mut(chunk)
            .zip(T::of(&rows).par_chunks(chunk))
            .for_each(|(out, rows)| Units { rows, dim, out }.dispatch());
    }
    cpu::tensor(out, shape)
}

fn unit_rows_backward<T: Value>(rows: FlexTensor, grad: FlexTensor) -> FlexTensor {
    let dim = rows.shape()[1];
    let rows = cpu::contiguous(rows);
    // Computed in place: usually nobody else has this gradient, and a large table of its own would be one more to clear and to read.
    let mut grad = cpu::owned(grad);
    let out = T::of_mut(&mut grad);
    if !out.is_empty() {
        let chunk = rows_per_task(4 * dim) * dim;
        out.par_chunks_mut(chunk)
            .zip(T::of(&rows).par_chunks(chunk))
            .for_each(|(grad, rows)| Gradients { rows, grad, dim }.dispatch());
    }
    grad
}

/// `1 / |row|`, or 0 for a row of zeros.
#[inline(always)]
fn scale<T: Value, S: Simd>(simd: S, row: &[T]) -> T {
    let square = T::dot(simd, row, row);
    if square == T::ZERO {
        T::ZERO
    } else {
        square.square_root().reciprocal()
    }
}

/// Computes some rows of [`unit_rows`](crate::unit_rows).
struct Units<'a, T> {
    rows: &'a [T],
    dim: usize,
    out: &'a mut [T],
}

impl<T: Value> Kernel for Units<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let rows = self.rows.chunks_exact(self.dim);
        for (out, row) in self.out.chunks_exact_mut(self.dim).zip(rows) {
            let scale = scale(simd, row);
            for (out, &value) in out.iter_mut().zip(row) {
                *out = value * scale;
            }
        }
    }
}

/// Turns some rows of the output gradient of [`unit_rows`](crate::unit_rows) into rows of the input gradient.
struct Gradients<'a, T> {
    rows: &'a [T],
    grad: &'a mut [T],
    dim: usize,
}

impl<T: Value> Kernel for Gradients<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let rows = self.rows.chunks_exact(self.dim);
        for (grad, row) in self.grad.chunks_exact_mut(self.dim).zip(rows) {
            let scale = scale(simd, row);
            let along = (T::dot(simd, row, grad) * scale * scale * scale).negative();
            for (grad, &value) in grad.iter_mut().zip(row) {
                *grad = *grad * scale;
                *grad += value * along;
            }
        }
    }
}
