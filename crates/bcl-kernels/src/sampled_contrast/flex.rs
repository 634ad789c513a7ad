//! Losses against sampled rows on the CPU: one anchor after the other, parallel over anchors.

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata};
use pulp::Simd;
use rayon::prelude::*;

use super::{SampledContrastOps, portable};
use crate::contrast::{
    Plan,
    row::{self, Scratch},
};
use crate::cpu::{self, Kernel, Value, by_float_type, row_numbers, rows_per_task};
use crate::exponential::Exponential;
use crate::ranks::buckets::Score;

impl SampledContrastOps for Flex {
    fn sampled_contrast(
        anchors: FlexTensor,
        table: FlexTensor,
        positives: FlexTensor,
        negatives: FlexTensor,
        weights: FlexTensor,
        plan: Plan,
    ) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
        by_float_type!(
            anchors, T => sampled_contrast::<T>(&anchors, &table, &positives, &negatives, &weights, plan),
            portable::sampled_contrast::<Flex>(anchors, table, positives, negatives, weights, plan)
        )
    }

    fn scaled_by_anchor(anchors: FlexTensor, scores: FlexTensor, grad: FlexTensor) -> (FlexTensor, FlexTensor) {
        by_float_type!(
            anchors, T => (scaled::<T>(anchors, &grad), scaled::<T>(scores, &grad)),
            unreachable!("the forward pass computes in single or double precision")
        )
    }
}

fn sampled_contrast<T: Score + Exponential>(
    anchors: &FlexTensor,
    table: &FlexTensor,
    positives: &FlexTensor,
    negatives: &FlexTensor,
    weights: &FlexTensor,
    plan: Plan,
) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
    let like = |tensor: &FlexTensor| cpu::contiguous(cpu::cast_like(tensor.clone(), anchors));
    let (table, weights, contiguous_anchors) = (like(table), like(weights), like(anchors));
    let [num_rows, dim] = table.shape().dims();
    let [num_anchors, num_negatives] = negatives.shape().dims();
    let num_candidates = 1 + num_negatives;
    let (positives, negatives) = (row_numbers(positives, num_rows), row_numbers(negatives, num_rows));

    let mut losses = vec![T::ZERO; num_anchors];
    let shape = |width| if plan.with_gradients { [num_anchors, width] } else { [0, 0] };
    let len = |width| shape(width).iter().product();
    let mut of_anchors = vec![T::ZERO; len(dim)];
    let mut of_scores = vec![T::ZERO; len(num_candidates)];
    let mut candidates = vec![0; len(num_candidates)];

    let rows = rows_per_task(3 * num_candidates * dim);
    let tasks = losses
        .par_chunks_mut(rows)
        .zip(T::of(&contiguous_anchors).par_chunks(rows * dim))
        .zip(positives.par_chunks(rows))
        .zip(negatives.par_chunks(rows * num_negatives));
    let block = |(((losses, anchors), positives), negatives), [of_anchors, of_scores]: [&mut [T]; 2], candidates: &mut [i32]| {
        Block {
            anchors,
            table: T::of(&table),
            weights: T::of(&weights),
            positives,
            negatives,
            plan: &plan,
            losses,
            of_anchors,
            of_scores,
            candidates,
        }
        .dispatch();
    };
    if plan.with_gradients {
        let gradients = of_anchors
            .par_chunks_mut(rows * dim)
            .zip(of_scores.par_chunks_mut(rows * num_candidates))
            .zip(candidates.par_chunks_mut(rows * num_candidates));
        tasks
            .zip(gradients)
            .for_each(|(task, ((of_anchors, of_scores), candidates))| {
                block(task, [of_anchors, of_scores], candidates);
            });
    } else {
        tasks.for_each(|task| block(task, [&mut [], &mut []], &mut []));
    }
    (
        cpu::tensor(losses, [num_anchors, 1]),
        cpu::tensor(of_anchors, shape(dim)),
        cpu::tensor(of_scores, shape(num_candidates)),
        cpu::tensor(candidates, shape(num_candidates)),
    )
}

/// Multiplies each row by its factor.
fn scaled<T: Value>(mut tensor: FlexTensor, factors: &FlexTensor) -> FlexTensor {
    let factors = cpu::contiguous(cpu::cast_like(factors.clone(), &tensor));
    let width = tensor.shape()[1];
    let rows = rows_per_task(width);
    T::of_mut(&mut tensor)
        .par_chunks_mut(rows * width)
        .zip(T::of(&factors).par_chunks(rows))
        .for_each(|(values, factors)| {
            for (row, &factor) in values.chunks_exact_mut(width).zip(factors) {
                for value in row {
                    *value = *value * factor;
                }
            }
        });
    tensor
}

/// Computes the losses of some anchors, and their gradients unless there is no room for them.
struct Block<'a, T> {
    anchors: &'a [T],
    table: &'a [T],
    /// By rank, if any.
    weights: &'a [T],
    positives: &'a [u32],
    negatives: &'a [u32],
    plan: &'a Plan,
    losses: &'a mut [T],
    of_anchors: &'a mut [T],
    of_scores: &'a mut [T],
    candidates: &'a mut [i32],
}

impl<T: Score + Exponential> Kernel for Block<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let num_anchors = self.losses.len();
        let (dim, num_negatives) = (self.anchors.len() / num_anchors, self.negatives.len() / num_anchors);
        let num_candidates = 1 + num_negatives;
        let mut scratch = Scratch::default();
        let mut row = vec![T::ZERO; num_negatives];
        for number in 0..num_anchors {
            let anchor = &self.anchors[number * dim..][..dim];
            let negatives = &self.negatives[number * num_negatives..][..num_negatives];
            let own = self.positives[number];
            let positive = T::dot(simd, anchor, &self.table[own as usize * dim..][..dim]);
            for (score, &negative) in row.iter_mut().zip(negatives) {
                *score = T::dot(simd, anchor, &self.table[negative as usize * dim..][..dim]);
            }
            let outcome = row::contrast(
                simd,
                &mut row,
                num_negatives,
                positive.as_f64(),
                self.weights,
                &mut scratch,
                self.plan,
            );
            self.losses[number] = T::from_f64(outcome.loss);
            if !self.plan.with_gradients {
                continue;
            }
            let candidates = &mut self.candidates[number * num_candidates..][..num_candidates];
            candidates[0] = own as i32;
            for (candidate, &negative) in candidates[1..].iter_mut().zip(negatives) {
                *candidate = negative as i32;
            }
            let of_scores = &mut self.of_scores[number * num_candidates..][..num_candidates];
            of_scores[0] = T::from_f64(outcome.positive_slope);
            let slope = T::from_f64(outcome.slope);
            for (of_score, &value) in of_scores[1..].iter_mut().zip(&row) {
                *of_score = value * slope;
            }
            let terms = of_scores.iter().zip(&*candidates).map(|(&slope, &row)| (slope, row as u32));
            let of_anchor = &mut self.of_anchors[number * dim..][..dim];
            cpu::weighted_sum_of_rows(of_anchor, None, terms, self.table, T::ONE);
        }
    }
}
