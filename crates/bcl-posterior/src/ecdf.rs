//! The empirical distribution function of a row of scores (Eq. 11).

/// Computes the share of scores in the row at or below each score, `F_i = #{ j : x_j <= x_i } / N`.
///
/// Equal scores share the largest rank of their run. Any increasing map of the scores (a shift, a temperature, `exp`) leaves the
/// result unchanged, so raw similarities are enough. Takes `O(N log N)`.
///
/// NaN counts as +∞, as in the kernels that rank tensors (`bcl_kernels::row_ranks`).
///
/// ```
/// use bcl_posterior::ecdf;
///
/// assert_eq!(ecdf(&[6.0, 4.0, 4.0, 7.0]), [0.75, 0.5, 0.5, 1.0]);
/// ```
pub fn ecdf(scores: &[f64]) -> Vec<f64> {
    let scores: Vec<f64> = scores
        .iter()
        .map(|score| if score.is_nan() { f64::INFINITY } else { *score })
        .collect();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&left, &right| scores[left].total_cmp(&scores[right]));

    let mut ecdf = vec![0.0; scores.len()];
    let mut at_or_below = 0;
    // `total_cmp` puts -0 below +0, but `==` calls them one run, as the definition does.
    for run in order.chunk_by(|&left, &right| scores[left] == scores[right]) {
        at_or_below += run.len();
        for &index in run {
            ecdf[index] = at_or_below as f64 / scores.len() as f64;
        }
    }
    ecdf
}
