//! Row masses on the CPU, in one pass over each row.

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata};
use pulp::Simd;
use rayon::prelude::*;

use super::{MassOps, portable};
use crate::cpu::{self, Kernel, by_float_type, rows_per_task, sum};
use crate::exponential::Exponential;
use crate::ranks::buckets::{Ranker, Score};

/// Cost of a term in multiplications: its exponential and, for a ranked mass, its rank.
const TERM_COST: usize = 8;
const RANKED_TERM_COST: usize = 24;

impl MassOps for Flex {
    fn mass(scores: FlexTensor, offsets: FlexTensor, rate: f64) -> (FlexTensor, FlexTensor) {
        by_float_type!(
            scores, T => masses::<T>(scores, offsets, None, rate),
            portable::mass::<Flex>(scores, offsets, rate)
        )
    }

    fn ranked_mass(scores: FlexTensor, offsets: FlexTensor, table: FlexTensor, rate: f64) -> (FlexTensor, FlexTensor) {
        by_float_type!(
            scores, T => masses::<T>(scores, offsets, Some(table), rate),
            portable::ranked_mass::<Flex>(scores, offsets, table, rate)
        )
    }
}

fn masses<T: Score + Exponential>(
    scores: FlexTensor,
    offsets: FlexTensor,
    table: Option<FlexTensor>,
    rate: f64,
) -> (FlexTensor, FlexTensor) {
    let shape = scores.shape();
    let [num_rows, num_columns] = shape.dims();
    let table = table.map(|table| cpu::contiguous(cpu::cast_like(table, &scores)));
    let table = table.as_ref().map(T::of);
    let offsets = cpu::contiguous(cpu::cast_like(offsets, &scores));
    let scores = cpu::contiguous(scores);
    let (scores, offsets) = (T::of(&scores), T::of(&offsets));
    let mut terms = vec![T::ZERO; num_rows * num_columns];
    let mut masses = vec![T::ZERO; num_rows];
    if !terms.is_empty() {
        let cost = if table.is_some() { RANKED_TERM_COST } else { TERM_COST };
        let rows = rows_per_task(num_columns * cost);
        terms
            .par_chunks_mut(rows * num_columns)
            .zip(masses.par_chunks_mut(rows))
            .zip(scores.par_chunks(rows * num_columns))
            .zip(offsets.par_chunks(rows))
            .for_each_init(Ranker::default, |ranker, (((terms, masses), scores), offsets)| {
                Masses {
                    ranker,
                    scores,
                    offsets,
                    table,
                    rate: T::from_f64(rate),
                    num_columns,
                    terms,
                    sums: masses,
                }
                .dispatch();
            });
    }
    (cpu::tensor(masses, [num_rows, 1]), cpu::tensor(terms, shape))
}

/// Computes the masses of some rows.
struct Masses<'a, T: Score> {
    ranker: &'a mut Ranker<T>,
    scores: &'a [T],
    offsets: &'a [T],
    table: Option<&'a [T]>,
    rate: T,
    num_columns: usize,
    terms: &'a mut [T],
    sums: &'a mut [T],
}

impl<T: Score + Exponential> Kernel for Masses<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let rows = self.scores.chunks_exact(self.num_columns);
        let terms = self.terms.chunks_exact_mut(self.num_columns);
        for (((mass, &offset), scores), terms) in self.sums.iter_mut().zip(self.offsets).zip(rows).zip(terms) {
            for (term, &score) in terms.iter_mut().zip(scores) {
                *term = ((score - offset) * self.rate).exponential();
            }
            if let Some(table) = self.table {
                for (term, &rank) in terms.iter_mut().zip(self.ranker.ranks(simd, scores)) {
                    *term = *term * table[rank as usize - 1];
                }
            }
            *mass = sum(terms);
        }
    }
}
