//! Both views of a batch against each other on the CPU.
//!
//! The score of two rows counts in the losses of both. With the slopes `W` of the sum of all losses in all scores, the gradient of the rows is `(W + Wᵀ) · rows`:
//! one matrix product, where two are needed if only some scores exist at a time.

use burn::backend::TensorMetadata;
use burn::backend::flex::FlexTensor;
use faer::traits::ComplexField;
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

use super::{PARTS, Plan, Tables, anchors_per_block};
use crate::contrast::row::{self, Scratch};
use crate::cpu::{self, Kernel, Value};
use crate::exponential::Exponential;
use crate::matrix::{Matrix, product};
use crate::ranks::buckets::Score;

/// The rows are split into at least as many blocks, for as many threads.
const BLOCKS: usize = 8;

/// Computes the losses and, if asked for, the gradient of their sum, weighted by `weights` if there are any.
pub(super) fn compare<T: Score + Exponential + ComplexField>(
    views: FlexTensor,
    table: FlexTensor,
    weights: &[T],
    plan: &Plan,
) -> (FlexTensor, FlexTensor) {
    let views = cpu::contiguous(views);
    let table = cpu::contiguous(cpu::cast_like(table, &views));
    let [num_rows, dim] = views.shape().dims();
    if plan.with_gradients && num_rows <= PARTS * dim {
        let views = Views {
            rows: T::of(&views),
            num_rows,
            dim,
            table: T::of(&table),
            weights,
            plan,
        };
        let (losses, gradient) = views.compare();
        return (cpu::tensor(losses, [num_rows, 1]), cpu::tensor(gradient, [num_rows, dim]));
    }
    // All slopes would take more memory than the partial sums of gradients do.
    let rows = T::of(&views);
    let half = rows.len() / 2;
    let others = cpu::tensor([&rows[half..], &rows[..half]].concat(), [num_rows, dim]);
    let tables = Tables::new(&views, &others, &views, &table);
    let plan = Plan {
        with_negatives: plan.with_gradients,
        ..plan.clone()
    };
    let sums = super::compare::<T>(&tables.view(), weights, &plan);
    let mut gradient = sums.negatives;
    let of_others = || {
        sums.positives
            .iter()
            .skip(half)
            .chain(&sums.positives[..half.min(sums.positives.len())])
    };
    for ((gradient, &of_anchor), &of_other) in gradient.iter_mut().zip(&sums.anchors).zip(of_others()) {
        *gradient += of_anchor + of_other;
    }
    let shape = if plan.with_gradients { [num_rows, dim] } else { [0, 0] };
    (cpu::tensor(sums.losses, [num_rows, 1]), cpu::tensor(gradient, shape))
}

struct Views<'a, T> {
    rows: &'a [T],
    num_rows: usize,
    dim: usize,
    /// Weights by rank.
    table: &'a [T],
    /// The gradient of each loss; 1 if empty.
    weights: &'a [T],
    plan: &'a Plan,
}

impl<T: Score + Exponential + ComplexField> Views<'_, T> {
    /// The losses, and the gradient of their weighted sum.
    fn compare(&self) -> (Vec<T>, Vec<T>) {
        let Self { num_rows, dim, .. } = *self;
        let block = anchors_per_block(num_rows.div_ceil(BLOCKS), num_rows);
        let all = Matrix::new(self.rows, num_rows, dim);
        let rows_of = |number: usize| number * block..((number + 1) * block).min(num_rows);

        let mut losses = vec![T::ZERO; num_rows];
        let mut slopes = vec![T::ZERO; num_rows * num_rows];
        slopes
            .par_chunks_mut(block * num_rows)
            .zip(losses.par_chunks_mut(block))
            .enumerate()
            .for_each_init(Scratch::default, |scratch, (number, (scores, losses))| {
                let anchors = rows_of(number);
                let own = Matrix::new(&self.rows[anchors.start * dim..anchors.end * dim], anchors.len(), dim);
                product(scores, false, own, all.transpose(), T::ONE);
                Slopes {
                    views: self,
                    anchors,
                    scores,
                    scratch,
                    losses,
                }
                .dispatch();
            });

        let mut gradient = vec![T::ZERO; num_rows * dim];
        gradient.par_chunks_mut(block * dim).enumerate().for_each_init(
            || vec![T::ZERO; block * num_rows],
            |sums, (number, gradient)| {
                let rows = rows_of(number);
                let sums = &mut sums[..rows.len() * num_rows];
                BothWays {
                    slopes: &slopes,
                    num_rows,
                    rows: rows.clone(),
                    sums,
                }
                .dispatch();
                product(gradient, false, Matrix::new(sums, rows.len(), num_rows), all, T::ONE);
            },
        );
        (losses, gradient)
    }
}

/// Computes the losses of a block of anchors, and turns their scores into the slopes of the weighted sum of losses.
struct Slopes<'a, T: Score> {
    views: &'a Views<'a, T>,
    anchors: Range<usize>,
    scores: &'a mut [T],
    scratch: &'a mut Scratch<T>,
    losses: &'a mut [T],
}

impl<T: Score + Exponential> Kernel for Slopes<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Views {
            num_rows,
            table,
            weights,
            plan,
            ..
        } = *self.views;
        let rows = self.scores.chunks_exact_mut(num_rows).zip(self.losses);
        for (anchor, (scores, loss)) in self.anchors.zip(rows) {
            let other_view = (anchor + num_rows / 2) % num_rows;
            let positive = scores[other_view].as_f64();
            scores[anchor] = T::INFINITY.negative();
            scores[other_view] = T::INFINITY.negative();
            let outcome = row::contrast(simd, scores, plan.num_negatives(anchor), positive, table, self.scratch, plan);
            *loss = T::from_f64(outcome.loss);
            let weight = weights.get(anchor).map_or(1.0, |weight| weight.as_f64());
            let slope = T::from_f64(outcome.slope * weight);
            for value in &mut *scores {
                *value = *value * slope;
            }
            scores[other_view] = T::from_f64(outcome.positive_slope * weight);
        }
    }
}

/// Adds up the slopes in the scores of some rows as anchors, and as the negatives and positives of others.
struct BothWays<'a, T> {
    slopes: &'a [T],
    num_rows: usize,
    rows: Range<usize>,
    /// `[rows.len(), num_rows]`
    sums: &'a mut [T],
}

impl<T: Value> Kernel for BothWays<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        const TILE: usize = 16;
        let Self {
            slopes,
            num_rows,
            rows,
            sums,
        } = self;
        sums.copy_from_slice(&slopes[rows.start * num_rows..rows.end * num_rows]);
        for column in (0..num_rows).step_by(TILE) {
            let columns = column..(column + TILE).min(num_rows);
            for row in rows.clone().step_by(TILE) {
                let some = row..(row + TILE).min(rows.end);
                let sums = &mut sums[(row - rows.start) * num_rows..];
                if columns.len() == TILE && some.len() == TILE {
                    let mut tile = [[T::ZERO; TILE]; TILE];
                    for (values, column) in tile.iter_mut().zip(columns.clone()) {
                        values.copy_from_slice(&slopes[column * num_rows + row..][..TILE]);
                    }
                    for (row, sums) in sums.chunks_mut(num_rows).take(TILE).enumerate() {
                        for (sum, values) in sums[column..][..TILE].iter_mut().zip(&tile) {
                            *sum += values[row];
                        }
                    }
                } else {
                    for (row, sums) in some.zip(sums.chunks_mut(num_rows)) {
                        for column in columns.clone() {
                            sums[column] += slopes[column * num_rows + row];
                        }
                    }
                }
            }
        }
    }
}
