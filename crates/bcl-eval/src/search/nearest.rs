//! Exact nearest neighbours by cosine.

use super::UnitRows;
use crate::top_k::{RankedItem, TopK, better_first};
use rayon::prelude::*;
use std::ops::Range;

/// Number of queries that are compared at a time.
const QUERIES: usize = 256;
/// Number of rows per block; a block of similarities takes 4 MiB.
const ROWS: usize = 4096;

/// A row that was found, and how similar it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// Index of the row.
    pub row: usize,
    /// Its cosine with the query, in [-1, 1].
    pub similarity: f32,
}

/// The `top` rows with the largest cosine to each query, nearest first; all rows if there are fewer.
///
/// # Panics
/// Panics if rows and queries differ in their number of values.
pub fn nearest(rows: &UnitRows, queries: &UnitRows, top: usize) -> Vec<Vec<Near>> {
    assert_eq!(rows.dim(), queries.dim(), "rows and queries have the same number of values");
    let blocks = rows.ranges(ROWS);
    let of_queries = |chosen: Range<usize>| -> Vec<Vec<Near>> {
        let found: Vec<Vec<Vec<RankedItem>>> = blocks
            .par_iter()
            .map_init(Vec::new, |cosines, block| {
                queries.cosines(&chosen, rows, block, cosines);
                cosines
                    .chunks_mut(block.len())
                    .map(|row| best(row, block.start, top))
                    .collect()
            })
            .collect();
        let of_query = |query: usize| {
            let mut all: Vec<RankedItem> = found.iter().flat_map(|block| block[query].iter().copied()).collect();
            all.sort_unstable_by(|a, b| better_first(*a, *b));
            all.truncate(top);
            all.into_iter().map(Near::from).collect()
        };
        (0..chosen.len()).map(of_query).collect()
    };
    queries.ranges(QUERIES).into_iter().flat_map(of_queries).collect()
}

/// The best of one block.
fn best(cosines: &mut [f32], start: usize, top: usize) -> Vec<RankedItem> {
    for cosine in &mut *cosines {
        // Rounding may exceed 1.
        *cosine = cosine.clamp(-1.0, 1.0) + 0.0;
    }
    let mut best = TopK::new(top);
    best.offer(start as u32, cosines, &[]).expect("unit rows are finite");
    best.into_list()
}

impl From<RankedItem> for Near {
    fn from(RankedItem { item, score }: RankedItem) -> Self {
        Self {
            row: item as usize,
            similarity: score,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit_rows::tests::random;
    use super::*;

    fn slow(rows: &UnitRows, query: &[f32], top: usize) -> Vec<usize> {
        let cosine = |row: usize| -> f64 {
            let pairs = rows.row(row).iter().zip(query);
            pairs.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
        };
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| cosine(b).total_cmp(&cosine(a)));
        order.truncate(top);
        order
    }

    #[test]
    fn blocks_find_what_sorting_everything_finds() {
        let (rows, queries) = (random(ROWS + 77, 24, 1), random(QUERIES + 3, 24, 2));
        let found = nearest(&rows, &queries, 9);
        assert_eq!(found.len(), queries.len());
        for query in [0, 1, QUERIES - 1, QUERIES, QUERIES + 2] {
            let rows_found: Vec<usize> = found[query].iter().map(|near| near.row).collect();
            assert_eq!(rows_found, slow(&rows, queries.row(query), 9));
        }
    }

    #[test]
    fn ties_go_to_the_lower_row_and_no_more_than_all_rows_are_found() {
        let rows = UnitRows::new([1.0, 0.0].repeat(9), 2).unwrap();
        let rows_of = |top| -> Vec<usize> { nearest(&rows, &rows, top)[4].iter().map(|near| near.row).collect() };
        assert_eq!(rows_of(3), [0, 1, 2]);
        assert_eq!(rows_of(100), (0..9).collect::<Vec<_>>());
        assert!(rows_of(0).is_empty());
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let (rows, queries) = (random(3 * ROWS, 8, 3), random(5, 8, 4));
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| nearest(&rows, &queries, 20))
        };
        assert_eq!(with(1), with(4));
    }
}
