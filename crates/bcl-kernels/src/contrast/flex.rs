//! Losses of anchors on the CPU: a block of anchors at a time, with gradients in the same pass.

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata};
use faer::traits::ComplexField;
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

use super::portable::blocks::{self, Composed};
use super::row::{self, Scratch};
use super::{ContrastOps, Plan, portable};
use crate::cpu::{self, Kernel, Value, by_float_type};
use crate::exponential::Exponential;
use crate::matrix::{Matrix, product};
use crate::ranks::buckets::Score;

mod views;

/// The most anchors in a block. Each block multiplies by the whole table, which is read and packed anew: with 16 anchors that takes twice as long.
const BLOCK_ANCHORS: usize = 128;

/// The most scores of a block, unless it has [few](FEW_ANCHORS) anchors: 8 MiB.
const BLOCK_SCORES: usize = 1 << 21;
const FEW_ANCHORS: usize = 16;

/// Each of these parts of the anchors has its own sum for the gradient of the negatives. Their number does not depend on the number of
/// threads, so the sums do not depend on it, either.
const PARTS: usize = 16;

impl ContrastOps for Flex {
    fn contrast(
        anchors: FlexTensor,
        positives: FlexTensor,
        negatives: FlexTensor,
        table: FlexTensor,
        plan: Plan,
    ) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
        by_float_type!(anchors, T => {
            let tables = Tables::new(&anchors, &positives, &negatives, &table);
            compare::<T>(&tables.view(), &[], &plan).into_tensors(&tables)
        }, {
            let losses = portable::losses::<Flex>(anchors, positives, negatives, table, &plan);
            (losses.clone(), losses.clone(), losses.clone(), losses)
        })
    }

    fn contrast_backward(
        anchors: FlexTensor,
        positives: FlexTensor,
        negatives: FlexTensor,
        table: FlexTensor,
        saved_anchors: FlexTensor,
        saved_positives: FlexTensor,
        saved_negatives: FlexTensor,
        grad: FlexTensor,
        plan: Plan,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        by_float_type!(anchors, T => {
            let grad = cpu::contiguous(grad);
            let grad = T::of(&grad);
            if grad.iter().all(|value| *value == grad[0]) {
                let scaled = |saved| scaled::<T>(saved, grad[0]);
                return (scaled(saved_anchors), scaled(saved_positives), scaled(saved_negatives));
            }
            let tables = Tables::new(&anchors, &positives, &negatives, &table);
            let (_, anchors, positives, negatives) = compare::<T>(&tables.view(), grad, &plan).into_tensors(&tables);
            (anchors, positives, negatives)
        }, portable::gradients::<Flex>(anchors, positives, negatives, table, grad, &plan))
    }

    fn contrast_views(views: FlexTensor, table: FlexTensor, plan: Plan) -> (FlexTensor, FlexTensor, FlexTensor) {
        let (losses, gradient) = by_float_type!(views, T => views::compare::<T>(views, table, &[], &plan), {
            let losses = blocks::losses_of_views::<Flex, Composed>(views, table, &plan);
            (losses.clone(), losses)
        });
        (losses, gradient.clone(), gradient)
    }

    fn contrast_views_backward(
        views: FlexTensor,
        table: FlexTensor,
        saved: FlexTensor,
        _: FlexTensor,
        grad: FlexTensor,
        plan: Plan,
    ) -> FlexTensor {
        by_float_type!(views, T => {
            let grad = cpu::contiguous(grad);
            let grad = T::of(&grad);
            if grad.iter().all(|value| *value == grad[0]) {
                return scaled::<T>(saved, grad[0]);
            }
            let plan = Plan { with_gradients: true, ..plan };
            views::compare::<T>(views, table, grad, &plan).1
        }, blocks::gradients_of_views::<Flex, Composed>(views, table, grad, &plan))
    }
}

fn scaled<T: Value>(tensor: FlexTensor, factor: T) -> FlexTensor {
    let values: Vec<T> = T::of(&tensor).iter().map(|&value| value * factor).collect();
    let shape = tensor.shape();
    cpu::tensor(values, shape)
}

/// Contiguous tensors of one type.
struct Tables {
    anchors: FlexTensor,
    positives: FlexTensor,
    negatives: FlexTensor,
    table: FlexTensor,
}

/// Their values.
struct View<'a, T> {
    anchors: &'a [T],
    positives: &'a [T],
    negatives: &'a [T],
    table: &'a [T],
    num_anchors: usize,
    num_rows: usize,
    dim: usize,
}

impl Tables {
    fn new(anchors: &FlexTensor, positives: &FlexTensor, negatives: &FlexTensor, table: &FlexTensor) -> Self {
        let like = |tensor: &FlexTensor| cpu::contiguous(cpu::cast_like(tensor.clone(), anchors));
        Self {
            anchors: like(anchors),
            positives: like(positives),
            negatives: like(negatives),
            table: like(table),
        }
    }

    fn view<T: Value>(&self) -> View<'_, T> {
        let [num_anchors, dim] = self.anchors.shape().dims();
        View {
            anchors: T::of(&self.anchors),
            positives: T::of(&self.positives),
            negatives: T::of(&self.negatives),
            table: T::of(&self.table),
            num_anchors,
            num_rows: self.negatives.shape()[0],
            dim,
        }
    }
}

/// Losses and gradients; gradients that were not asked for are empty.
struct Sums<T> {
    losses: Vec<T>,
    anchors: Vec<T>,
    positives: Vec<T>,
    negatives: Vec<T>,
}

impl<T: Value> Sums<T> {
    fn into_tensors(self, tables: &Tables) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
        let num_anchors = self.losses.len();
        let like = |values: Vec<T>, table: &FlexTensor| {
            let shape = if values.is_empty() { [0, 0].into() } else { table.shape() };
            cpu::tensor(values, shape)
        };
        (
            cpu::tensor(self.losses, [num_anchors, 1]),
            like(self.anchors, &tables.anchors),
            like(self.positives, &tables.anchors),
            like(self.negatives, &tables.negatives),
        )
    }
}

/// How many anchors a block has, of as many as it may have.
fn anchors_per_block(at_most: usize, num_rows: usize) -> usize {
    at_most.min(BLOCK_ANCHORS).min(BLOCK_SCORES / num_rows).max(FEW_ANCHORS)
}

/// Computes all losses, and the gradients of their sum, weighted by `weights` if there are any.
fn compare<T: Score + Exponential + ComplexField>(tables: &View<'_, T>, weights: &[T], plan: &Plan) -> Sums<T> {
    let View {
        num_anchors,
        num_rows,
        dim,
        ..
    } = *tables;
    let block = anchors_per_block(num_anchors.div_ceil(PARTS), num_rows);
    let part = num_anchors.div_ceil(block).div_ceil(PARTS) * block;
    let zeros = |wanted, len| vec![T::ZERO; if wanted { len } else { 0 }];
    let mut losses = zeros(true, num_anchors);
    let [mut anchors, mut positives] = [(); 2].map(|()| zeros(plan.with_gradients, num_anchors * dim));
    let of_part = |(number, losses, gradients): (usize, &mut [T], [&mut [T]; 2])| {
        let mut negatives = zeros(plan.with_gradients && plan.with_negatives, num_rows * dim);
        Part {
            tables,
            weights,
            plan,
            first: number * part,
            losses,
            gradients,
            negatives: &mut negatives,
        }
        .compare(block);
        negatives
    };
    let losses_of_parts = losses.par_chunks_mut(part).enumerate();
    let parts: Vec<Vec<T>> = if plan.with_gradients {
        let gradients = anchors.par_chunks_mut(part * dim).zip(positives.par_chunks_mut(part * dim));
        losses_of_parts
            .zip(gradients)
            .map(|((number, losses), (anchors, positives))| of_part((number, losses, [anchors, positives])))
            .collect()
    } else {
        losses_of_parts
            .map(|(number, losses)| of_part((number, losses, [&mut [], &mut []])))
            .collect()
    };
    Sums {
        losses,
        anchors,
        positives,
        negatives: total(parts),
    }
}

/// The sum over the parts of the gradients of the negatives.
fn total<T: Value>(parts: Vec<Vec<T>>) -> Vec<T> {
    const CHUNK: usize = 1 << 14;
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    let others = parts.as_slice();
    total.par_chunks_mut(CHUNK).enumerate().for_each(|(number, total)| {
        for part in others {
            let values = &part[number * CHUNK..][..total.len()];
            for (total, &value) in total.iter_mut().zip(values) {
                *total += value;
            }
        }
    });
    total
}

/// Some of the anchors, one block after the other.
struct Part<'a, T> {
    tables: &'a View<'a, T>,
    /// The gradient of each loss; 1 if empty.
    weights: &'a [T],
    plan: &'a Plan,
    first: usize,
    losses: &'a mut [T],
    /// Of the anchors and the positives; empty if not asked for.
    gradients: [&'a mut [T]; 2],
    /// The gradient of all negatives; empty if not asked for.
    negatives: &'a mut [T],
}

impl<T: Score + Exponential + ComplexField> Part<'_, T> {
    fn compare(self, block: usize) {
        let Self {
            tables, weights, plan, ..
        } = self;
        let View { num_rows, dim, .. } = *tables;
        let [of_anchors, of_positives] = self.gradients;
        let mut scores = vec![T::ZERO; block * num_rows];
        let mut scaled = vec![T::ZERO; block * dim];
        let mut slopes = vec![[T::ZERO; 2]; block];
        let mut scratch = Scratch::default();
        for (number, losses) in self.losses.chunks_mut(block).enumerate() {
            let within = number * block..number * block + losses.len();
            let rows = self.first + within.start..self.first + within.end;
            let cells = |rows: &Range<usize>| rows.start * dim..rows.end * dim;
            let scores = &mut scores[..rows.len() * num_rows];
            let (scaled, slopes) = (&mut scaled[..rows.len() * dim], &mut slopes[..rows.len()]);
            let anchors = Matrix::new(&tables.anchors[cells(&rows)], rows.len(), dim);
            let all_negatives = Matrix::new(tables.negatives, num_rows, dim);
            product(scores, false, anchors, all_negatives.transpose(), T::ONE);
            LossBlock {
                tables,
                rows: rows.clone(),
                weights,
                plan,
                scores,
                scratch: &mut scratch,
                losses,
                slopes,
            }
            .dispatch();
            if !plan.with_gradients {
                continue;
            }
            let scores = Matrix::new(scores, rows.len(), num_rows);
            let of_anchors = &mut of_anchors[cells(&within)];
            product(of_anchors, false, scores, all_negatives, T::ONE);
            GradientBlock {
                tables,
                rows,
                slopes,
                of_anchors,
                of_positives: &mut of_positives[cells(&within)],
                scaled,
            }
            .dispatch();
            if plan.with_negatives {
                let scaled = Matrix::new(scaled, slopes.len(), dim);
                product(self.negatives, true, scores.transpose(), scaled, T::ONE);
            }
        }
    }
}

/// The losses of a block of anchors. Leaves in the scores their slopes up to a factor.
struct LossBlock<'a, T: Score> {
    tables: &'a View<'a, T>,
    rows: Range<usize>,
    /// The gradient of each loss; 1 if empty.
    weights: &'a [T],
    plan: &'a Plan,
    scores: &'a mut [T],
    scratch: &'a mut Scratch<T>,
    losses: &'a mut [T],
    /// For each anchor, the factor of its row of scores, and the slope in the score of its positive.
    slopes: &'a mut [[T; 2]],
}

impl<T: Score + Exponential> Kernel for LossBlock<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let View {
            anchors,
            positives,
            table,
            num_rows,
            dim,
            ..
        } = *self.tables;
        let rows = self.scores.chunks_exact_mut(num_rows).zip(self.rows);
        for (((scores, anchor), loss), slopes) in rows.zip(self.losses).zip(self.slopes) {
            let cells = anchor * dim..(anchor + 1) * dim;
            let positive = T::dot(simd, &anchors[cells.clone()], &positives[cells]);
            for row in self.plan.excluded.rows(anchor, num_rows) {
                scores[row] = T::INFINITY.negative();
            }
            let num_negatives = self.plan.num_negatives(anchor);
            let by_rank = &table[self.plan.table_number(num_negatives) * num_rows..];
            let outcome = row::contrast(
                simd,
                scores,
                num_negatives,
                positive.as_f64(),
                by_rank,
                self.scratch,
                self.plan,
            );
            let weight = self.weights.get(anchor).map_or(1.0, |weight| weight.as_f64());
            *loss = T::from_f64(outcome.loss);
            *slopes = [outcome.slope, outcome.positive_slope].map(|slope| T::from_f64(slope * weight));
        }
    }
}

/// The gradients of a block of anchors and of their positives, from the products of the rows of scores with the negatives.
struct GradientBlock<'a, T> {
    tables: &'a View<'a, T>,
    rows: Range<usize>,
    slopes: &'a [[T; 2]],
    of_anchors: &'a mut [T],
    of_positives: &'a mut [T],
    /// The anchors times the factors of their rows.
    scaled: &'a mut [T],
}

impl<T: Value> Kernel for GradientBlock<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let dim = self.tables.dim;
        let cells = self.rows.start * dim..self.rows.end * dim;
        let anchors = self.tables.anchors[cells.clone()].chunks_exact(dim);
        let positives = self.tables.positives[cells].chunks_exact(dim);
        let out = self
            .of_anchors
            .chunks_exact_mut(dim)
            .zip(self.of_positives.chunks_exact_mut(dim));
        let rows = anchors.zip(positives).zip(out).zip(self.scaled.chunks_exact_mut(dim));
        for (&[slope, positive_slope], (((anchor, positive), (of_anchor, of_positive)), scaled)) in self.slopes.iter().zip(rows) {
            for column in 0..dim {
                of_anchor[column] = of_anchor[column] * slope + positive[column] * positive_slope;
                of_positive[column] = anchor[column] * positive_slope;
                scaled[column] = anchor[column] * slope;
            }
        }
    }
}
