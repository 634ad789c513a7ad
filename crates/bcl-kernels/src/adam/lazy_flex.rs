//! Lazy Adam on the CPU: only rows with a gradient are read and written, if it is known which they are.

use std::sync::Arc;

use burn::backend::TensorMetadata;
use burn::backend::flex::FlexTensor;
use pulp::Simd;
use rayon::prelude::*;

use super::AdamStep;
use super::numbers::{Numbers, PART, new_like, reusable};
use crate::cpu::{self, Kernel, Value, row_numbers};
use crate::touched;

/// The tensors of a step of lazy Adam.
pub(super) struct Tensors {
    pub(super) weight: FlexTensor,
    pub(super) gradient: FlexTensor,
    pub(super) moment_1: FlexTensor,
    pub(super) moment_2: FlexTensor,
    pub(super) before: FlexTensor,
    pub(super) after: FlexTensor,
    pub(super) changed: FlexTensor,
}

/// Which rows a step works on.
enum Rows {
    /// Rows to copy, which the step before has changed, and rows to update; ascending.
    Some { changed: Vec<u32>, touched: Arc<Vec<u32>> },
    /// All: those without gradient are copied.
    All,
}

/// Returns the weight, the moments, the weight before the step, and the rows that changed.
pub(super) fn lazy_adam<T: Value>(
    tensors: Tensors,
    step: AdamStep,
) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
    let Tensors {
        weight,
        gradient,
        moment_1,
        moment_2,
        before,
        after,
        changed,
    } = tensors;
    let [num_rows, dim] = weight.shape().dims();
    let touched = touched::rows_of(&gradient);
    let spare = reusable(before, &weight);
    // Somebody may have changed the weights since the last step, or loaded others.
    let is_latest = Arc::ptr_eq(&after.data_arc(), &weight.data_arc()) && after.shape() == weight.shape();
    drop(after);
    let changed_before = row_numbers(&changed, num_rows);
    let rows = match &touched {
        Some(touched) if spare.is_some() && is_latest && !changed_before.is_empty() => Rows::Some {
            changed: changed_before,
            touched: touched.clone(),
        },
        _ => Rows::All,
    };
    let changed: Vec<i32> = touched.iter().flat_map(|rows| rows.iter().map(|&row| row as i32)).collect();
    let num_changed = changed.len();

    let gradient = cpu::contiguous(gradient);
    let [weight, mut moment_1, mut moment_2] = [weight, moment_1, moment_2].map(cpu::owned);
    let mut out = spare.unwrap_or_else(|| new_like::<T>(&weight));
    update(
        T::of_mut(&mut out),
        [&weight, &gradient].map(T::of),
        [&mut moment_1, &mut moment_2].map(T::of_mut),
        dim,
        &rows,
        Numbers::new(step),
    );
    (out, moment_1, moment_2, weight, cpu::tensor(changed, [num_changed]))
}

/// Writes `out` from the weights and the gradient.
fn update<T: Value>(
    out: &mut [T],
    [weight, gradient]: [&[T]; 2],
    [moment_1, moment_2]: [&mut [T]; 2],
    dim: usize,
    rows: &Rows,
    numbers: Numbers<T>,
) {
    if out.is_empty() {
        return;
    }
    let rows_per_part = (PART / dim).max(1);
    let part = rows_per_part * dim;
    out.par_chunks_mut(part)
        .zip(weight.par_chunks(part).zip(gradient.par_chunks(part)))
        .zip(moment_1.par_chunks_mut(part).zip(moment_2.par_chunks_mut(part)))
        .enumerate()
        // Most parts of a large table have few rows to update.
        .with_min_len(8)
        .for_each(|(number, ((out, (weight, gradient)), (moment_1, moment_2)))| {
            let first = (number * rows_per_part) as u32;
            let within = |rows| rows_within(rows, first, first + (out.len() / dim) as u32);
            let rows = match rows {
                Rows::Some { changed, touched } => Some([within(changed), within(touched)]),
                Rows::All => None,
            };
            LazyUpdate {
                out,
                weight,
                gradient,
                moment_1,
                moment_2,
                dim,
                first,
                rows,
                numbers,
            }
            .dispatch();
        });
}

/// The rows in `first..end` of ascending ones.
fn rows_within(rows: &[u32], first: u32, end: u32) -> &[u32] {
    let start = rows.partition_point(|&row| row < first);
    let end = rows.partition_point(|&row| row < end);
    &rows[start..end]
}

/// Updates a part of a table.
struct LazyUpdate<'a, T> {
    out: &'a mut [T],
    weight: &'a [T],
    gradient: &'a [T],
    moment_1: &'a mut [T],
    moment_2: &'a mut [T],
    dim: usize,
    /// The first row of the part.
    first: u32,
    /// Rows to copy and rows to update; all rows if absent.
    rows: Option<[&'a [u32]; 2]>,
    numbers: Numbers<T>,
}

impl<T: Value> Kernel for LazyUpdate<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (dim, numbers) = (self.dim, self.numbers);
        if let Some([changed, touched]) = self.rows {
            for &row in changed {
                let start = (row - self.first) as usize * dim;
                self.out[start..start + dim].copy_from_slice(&self.weight[start..start + dim]);
            }
            for &row in touched {
                let start = (row - self.first) as usize * dim;
                let cells = start..start + dim;
                numbers.update_row(
                    &mut self.out[cells.clone()],
                    &self.weight[cells.clone()],
                    &self.gradient[cells.clone()],
                    &mut self.moment_1[cells.clone()],
                    &mut self.moment_2[cells],
                );
            }
            return;
        }
        let moments = self.moment_1.chunks_exact_mut(dim).zip(self.moment_2.chunks_exact_mut(dim));
        let rows = self.weight.chunks_exact(dim).zip(self.gradient.chunks_exact(dim));
        for ((out, (weight, gradient)), (moment_1, moment_2)) in self.out.chunks_exact_mut(dim).zip(rows).zip(moments) {
            numbers.update_row(out, weight, gradient, moment_1, moment_2);
        }
    }
}

impl<T: Value> Numbers<T> {
    /// Updates a row, or copies it if its gradient is zero. Not a number is no zero.
    #[inline(always)]
    fn update_row(&self, out: &mut [T], weight: &[T], gradient: &[T], moment_1: &mut [T], moment_2: &mut [T]) {
        if gradient.iter().all(|&value| value == T::ZERO) {
            out.copy_from_slice(weight);
            return;
        }
        let moments = moment_1.iter_mut().zip(moment_2);
        for (((out, &weight), &gradient), (moment_1, moment_2)) in out.iter_mut().zip(weight).zip(gradient).zip(moments) {
            *out = self.step(weight, gradient, moment_1, moment_2);
        }
    }
}
