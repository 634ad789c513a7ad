//! Ranks on the CPU: rows in parallel, each with a [`Ranker`].

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata, get_or_init_device_settings, ops::IntTensorOps};
use pulp::Simd;
use rayon::prelude::*;

use super::buckets::{Ranker, Score, weight};
use super::{RankOps, portable};
use crate::cpu::{self, Kernel, by_float_type, rows_per_task};

/// Cost of ranking one score, in multiplications.
const SCORE_COST: usize = 16;

impl RankOps for Flex {
    fn rank_weights(scores: FlexTensor, table: FlexTensor) -> FlexTensor {
        by_float_type!(
            scores, T => look_up::<T>(scores, table),
            portable::rank_weights::<Flex>(scores, table)
        )
    }

    fn row_ranks(scores: FlexTensor) -> FlexTensor {
        by_float_type!(
            scores, T => ranks::<T>(scores, None),
            portable::row_ranks::<Flex>(scores, None)
        )
    }

    fn masked_row_ranks(scores: FlexTensor, mask: FlexTensor) -> FlexTensor {
        by_float_type!(
            scores, T => ranks::<T>(scores, Some(mask)),
            portable::row_ranks::<Flex>(scores, Some(mask))
        )
    }
}

fn look_up<T: Score>(scores: FlexTensor, table: FlexTensor) -> FlexTensor {
    let table = cpu::contiguous(cpu::cast_like(table, &scores));
    let table = T::of(&table);
    let shape = scores.shape();
    let scores = cpu::contiguous(scores);
    let mut out = vec![T::ZERO; shape.num_elements()];
    for_each_row(T::of(&scores), shape[1], &mut out, |ranker, _, scores, out| {
        LookUp {
            ranker,
            scores,
            table,
            out,
        }
        .dispatch();
    });
    cpu::tensor(out, shape)
}

fn ranks<T: Score>(scores: FlexTensor, mask: Option<FlexTensor>) -> FlexTensor {
    let int_dtype = get_or_init_device_settings::<Flex>(&scores.device()).int_dtype;
    let shape = scores.shape();
    let num_columns = shape[1];
    let scores = cpu::contiguous(scores);
    let mask = mask.map(cpu::contiguous);
    let mask = mask.as_ref().map(|mask| {
        let (start, end) = mask.layout().contiguous_offsets().expect("the mask was made contiguous");
        &mask.storage::<u8>()[start..end]
    });
    let mut out = vec![0i32; shape.num_elements()];
    for_each_row(T::of(&scores), num_columns, &mut out, |ranker, row, scores, out| {
        let counts = mask.map(|mask| &mask[row * num_columns..][..num_columns]);
        Rank {
            ranker,
            scores,
            counts,
            out,
        }
        .dispatch();
    });
    Flex::int_cast(cpu::tensor(out, shape), int_dtype)
}

/// Calls `rank(ranker, row number, row of scores, row of the output)` for each row, in parallel.
fn for_each_row<T: Score, O: Send>(
    scores: &[T],
    num_columns: usize,
    out: &mut [O],
    rank: impl Fn(&mut Ranker<T>, usize, &[T], &mut [O]) + Sync,
) {
    if out.is_empty() {
        return;
    }
    let rows = rows_per_task(num_columns * SCORE_COST);
    out.par_chunks_mut(rows * num_columns)
        .zip(scores.par_chunks(rows * num_columns))
        .enumerate()
        .for_each_init(Ranker::default, |ranker, (task, (out, scores))| {
            let rows_of_out = out.chunks_exact_mut(num_columns);
            for (row, (out, scores)) in rows_of_out.zip(scores.chunks_exact(num_columns)).enumerate() {
                rank(ranker, task * rows + row, scores, out);
            }
        });
}

/// Computes one row of [`rank_weights`](crate::rank_weights).
struct LookUp<'a, T: Score> {
    ranker: &'a mut Ranker<T>,
    scores: &'a [T],
    table: &'a [T],
    out: &'a mut [T],
}

impl<T: Score> Kernel for LookUp<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (out, &rank) in self.out.iter_mut().zip(self.ranker.ranks(simd, self.scores)) {
            *out = weight(self.table, rank);
        }
    }
}

/// Computes one row of [`row_ranks`](crate::row_ranks).
struct Rank<'a, T: Score> {
    ranker: &'a mut Ranker<T>,
    scores: &'a [T],
    counts: Option<&'a [u8]>,
    out: &'a mut [i32],
}

impl<T: Score> Kernel for Rank<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Some(counts) = self.counts else {
            for (out, &rank) in self.out.iter_mut().zip(self.ranker.ranks(simd, self.scores)) {
                *out = rank as i32;
            }
            return;
        };
        let counted = self.scores.iter().zip(counts).filter(|&(_, &counts)| counts != 0);
        let counted: Vec<T> = counted.map(|(&score, _)| score).collect();
        let mut ranks = self.ranker.ranks(simd, &counted).iter();
        for (out, _) in self.out.iter_mut().zip(counts).filter(|&(_, &counts)| counts != 0) {
            *out = *ranks.next().expect("there is a rank for each unmasked entry") as i32;
        }
    }
}
