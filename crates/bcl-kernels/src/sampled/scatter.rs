//! Adds rows into a table in an order that does not depend on the number of threads.
//!
//! The table is split into bands of rows that fit into a processor's cache. First, the samples are split into parts, and each part is
//! sorted by band in parallel. Then each band, also in parallel, takes its samples from all parts in order. No two tasks write to the
//! same band, and each row receives its terms in the order of the samples, so the sum does not depend on how the work was split.

use pulp::Simd;
use rayon::prelude::*;

use crate::cpu::{Kernel, Value};

/// Target size of a band in bytes, a fraction of the second-level cache.
const BAND_BYTES: usize = 1 << 17;

/// Minimum number of samples in a part, so that sorting it is worth a task.
const PART_SAMPLES: usize = 1 << 12;

/// One term of the sum: `out[row] += weight · rows[source]`.
#[derive(Clone, Copy)]
struct Term<T> {
    row: u32,
    source: u32,
    weight: T,
}

/// The terms of one part of the samples, by band.
struct Part<T> {
    terms: Vec<Term<T>>,
    /// The end of each band in `terms`, after a leading zero.
    ends: Vec<u32>,
}

/// `out[r] = Σ weights[k] · rows[k / num_sampled]` over the samples `k` with `indices[k] = r`. Without weights, each is 1.
pub(super) fn scatter<T: Value>(
    weights: Option<&[T]>,
    rows: &[T],
    indices: &[u32],
    num_sampled: usize,
    num_rows: usize,
    dim: usize,
) -> Vec<T> {
    let mut out = vec![T::ZERO; num_rows * dim];
    scatter_into(&mut out, weights, rows, indices, num_sampled, dim);
    out
}

/// The same, into a table of zeros.
pub(super) fn scatter_into<T: Value>(
    out: &mut [T],
    weights: Option<&[T]>,
    rows: &[T],
    indices: &[u32],
    num_sampled: usize,
    dim: usize,
) {
    if out.is_empty() || indices.is_empty() {
        return;
    }
    let num_rows = out.len() / dim;
    let tasks = 4 * rayon::current_num_threads();
    let band_rows = (BAND_BYTES / (dim * size_of::<T>())).min(num_rows.div_ceil(tasks)).max(1);
    // A power of two, so that a shift finds the band of a row.
    let shift = band_rows.next_power_of_two().trailing_zeros();
    let num_bands = num_rows.div_ceil(1 << shift);
    let sources_per_part = indices.len().div_ceil(tasks).max(PART_SAMPLES).div_ceil(num_sampled);

    let parts: Vec<Part<T>> = indices
        .par_chunks(sources_per_part * num_sampled)
        .enumerate()
        .map(|(part, indices)| {
            let start = part * sources_per_part;
            let weights = weights.map(|weights| &weights[start * num_sampled..][..indices.len()]);
            Part::sort(weights, indices, start as u32, num_sampled, num_bands, shift)
        })
        .collect();

    out.par_chunks_mut(dim << shift).enumerate().for_each(|(band, out)| {
        for part in &parts {
            let terms = &part.terms[part.ends[band] as usize..part.ends[band + 1] as usize];
            Add {
                terms,
                rows,
                dim,
                first_row: band << shift,
                out,
            }
            .dispatch();
        }
    });
}

impl<T: Value> Part<T> {
    /// Counting sort by band. It is stable, so samples keep their order.
    fn sort(weights: Option<&[T]>, indices: &[u32], first_source: u32, num_sampled: usize, num_bands: usize, shift: u32) -> Self {
        // Counted two slots up: after the running total a band's start is one slot up, and becomes its end as the terms move in.
        let mut ends = vec![0u32; num_bands + 2];
        for &row in indices {
            ends[(row >> shift) as usize + 2] += 1;
        }
        for band in 2..ends.len() {
            ends[band] += ends[band - 1];
        }
        let empty = Term {
            row: 0,
            source: 0,
            weight: T::ONE,
        };
        let mut terms = vec![empty; indices.len()];
        for (start, (source, indices)) in indices
            .chunks(num_sampled)
            .enumerate()
            .map(|(row, indices)| (row * num_sampled, (first_source + row as u32, indices)))
        {
            for (offset, &row) in indices.iter().enumerate() {
                let weight = weights.map_or(T::ONE, |weights| weights[start + offset]);
                let next = &mut ends[(row >> shift) as usize + 1];
                terms[*next as usize] = Term { row, source, weight };
                *next += 1;
            }
        }
        Self { terms, ends }
    }
}

/// Adds terms to one band of the table.
struct Add<'a, T> {
    terms: &'a [Term<T>],
    rows: &'a [T],
    dim: usize,
    first_row: usize,
    out: &'a mut [T],
}

impl<T: Value> Kernel for Add<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        for &Term { row, source, weight } in self.terms {
            let out = &mut self.out[(row as usize - self.first_row) * self.dim..][..self.dim];
            let source = &self.rows[source as usize * self.dim..][..self.dim];
            for (out, &value) in out.iter_mut().zip(source) {
                *out += weight * value;
            }
        }
    }
}
