//! Corrects p-values for their number.

use super::Paired;

/// Corrects the p-values of pairs for their number, and says which differences they could resolve.
pub(in super::super) fn correct(mut pairs: Vec<&mut Paired>) {
    let known: Vec<f64> = pairs.iter().filter_map(|pair| pair.p).collect();
    let mut corrected = holm(&known).into_iter();
    for pair in pairs.iter_mut().filter(|pair| pair.p.is_some()) {
        pair.p_holm = corrected.next();
        pair.resolvable = pair.resolvable_among(known.len());
    }
}

/// Holm's step-down correction (1979). With the results in place of the p-values, the probability of rejecting any true null
/// hypothesis at a level is at most that level.
///
/// ```text
/// p'_(i) = max over j <= i of min{ 1, (m - j + 1) p_(j) }        p_(1) <= … <= p_(m)
/// ```
///
/// ```
/// use bcl_bench::tables::holm;
///
/// assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(((p_values.len() - rank) as f64 * p_values[index]).min(1.0));
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::holm;

    #[test]
    fn holm_equals_the_example_worked_by_hand() {
        // m = 4: 0.005 · 4, 0.01 · 3, 0.03 · 2, and 0.04 · 1 raised to the previous value.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
