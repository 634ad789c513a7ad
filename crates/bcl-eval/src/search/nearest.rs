//! Exact nearest neighbours by cosine.

use super::UnitRows;
use rayon::prelude::*;
use std::{cmp::Ordering, ops::Range};

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

impl Near {
    /// Nearest first; ties go to the lower row.
    fn order(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.row.cmp(&other.row))
    }
}

/// The `top` rows with the largest cosine to each query, nearest first; all rows if there are fewer.
///
/// # Panics
/// Panics if rows and queries differ in their number of values.
pub fn nearest(rows: &UnitRows, queries: &UnitRows, top: usize) -> Vec<Vec<Near>> {
    assert_eq!(rows.dim(), queries.dim(), "rows and queries have the same number of values");
    let blocks = rows.ranges(ROWS);
    let of_queries = |chosen: Range<usize>| -> Vec<Vec<Near>> {
        let found: Vec<Vec<Vec<Near>>> = blocks
            .par_iter()
            .map_init(Vec::new, |cosines, block| {
                queries.cosines(&chosen, rows, block, cosines);
                cosines.chunks(block.len()).map(|row| best(row, block.start, top)).collect()
            })
            .collect();
        (0..chosen.len())
            .map(|query| first(found.iter().flat_map(|block| block[query].iter().copied()).collect(), top))
            .collect()
    };
    queries.ranges(QUERIES).into_iter().flat_map(of_queries).collect()
}

/// The best of one block. Most rows are less similar than the `top`-th so far and cost one comparison.
fn best(cosines: &[f32], start: usize, top: usize) -> Vec<Near> {
    let mut found: Vec<Near> = Vec::new();
    let mut bar = f32::NEG_INFINITY;
    for (index, &cosine) in cosines.iter().enumerate() {
        // Later rows lose ties.
        if cosine <= bar {
            continue;
        }
        // Rounding may exceed 1.
        let similarity = cosine.clamp(-1.0, 1.0) + 0.0;
        let row = start + index;
        found.push(Near { row, similarity });
        if found.len() >= top.saturating_mul(2) {
            found = first(found, top);
            bar = found.last().map_or(f32::INFINITY, |last| last.similarity);
        }
    }
    first(found, top)
}

fn first(mut found: Vec<Near>, top: usize) -> Vec<Near> {
    if top > 0 && found.len() > top {
        found.select_nth_unstable_by(top - 1, Near::order);
    }
    found.truncate(top);
    found.sort_unstable_by(Near::order);
    found
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
