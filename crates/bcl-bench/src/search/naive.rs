//! Search as a plain loop over vectors, on one thread: what a script without a library does.

use bcl_eval::search::UnitRows;

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The `top` most similar rows of each query.
pub(super) fn nearest(rows: &UnitRows, queries: &UnitRows, top: usize) -> Vec<Vec<usize>> {
    let of_query = |query: usize| {
        let mut found: Vec<(f32, usize)> = (0..rows.len())
            .map(|row| (cosine(queries.row(query), rows.row(row)), row))
            .collect();
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.into_iter().take(top).map(|(_, row)| row).collect()
    };
    (0..queries.len()).map(of_query).collect()
}

/// All pairs whose cosine is at least the threshold.
pub(super) fn duplicates(rows: &UnitRows, threshold: f32) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for a in 0..rows.len() {
        for b in a + 1..rows.len() {
            if cosine(rows.row(a), rows.row(b)) >= threshold {
                pairs.push((a, b));
            }
        }
    }
    pairs
}
