//! What a smaller budget of trials would have given.

/// The expected maximum of `count` values that are drawn from `values` without replacement: what a search of `count` trials would have
/// found on average, given a random search of more.
///
/// ```text
/// E = Σ_i v_(i) C(i - 1, k - 1) / C(n, k)        v_(1) <= … <= v_(n), k = count
/// ```
///
/// This estimate is unbiased for trials that are drawn independently. `None` if `count` is 0 or there are fewer values.
///
/// ```
/// use bcl_bench::tables::expected_best;
///
/// let trials = [0.25, 1.0, 0.5, 0.25];
/// assert_eq!(expected_best(&trials, 1), Some(0.5));
/// assert_eq!(expected_best(&trials, 4), Some(1.0));
/// ```
pub fn expected_best(values: &[f64], count: usize) -> Option<f64> {
    let total = values.len();
    if count == 0 || count > total {
        return None;
    }
    let mut descending = values.to_vec();
    descending.sort_by(|a, b| b.total_cmp(a));
    // The probability that the largest of the drawn values is the largest of all is k / n. Each next value is the largest if none of
    // those above it is drawn.
    let mut expected = 0.0;
    let mut probability = count as f64 / total as f64;
    for (above, value) in descending.iter().enumerate() {
        expected += probability * value;
        let left = total - above;
        if left > count {
            probability *= (left - count) as f64 / (left - 1) as f64;
        } else {
            break;
        }
    }
    Some(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean over all subsets.
    fn by_enumeration(values: &[f64], count: usize) -> f64 {
        let subsets = (0_u32..1 << values.len()).filter(|subset| subset.count_ones() as usize == count);
        let best: Vec<f64> = subsets
            .map(|subset| {
                let chosen = values.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
                chosen.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
            })
            .collect();
        best.iter().sum::<f64>() / best.len() as f64
    }

    #[test]
    fn it_is_the_mean_over_all_subsets() {
        let values = [0.3, -0.1, 0.7, 0.7, 0.2, 0.5];
        for count in 1..=values.len() {
            let found = expected_best(&values, count).unwrap();
            assert!((found - by_enumeration(&values, count)).abs() < 1e-12, "{count}: {found}");
        }
    }

    #[test]
    fn more_trials_than_there_are_have_no_expectation() {
        assert_eq!(expected_best(&[0.1], 2), None);
        assert_eq!(expected_best(&[], 0), None);
        assert_eq!(expected_best(&[0.1, 0.2], 0), None);
    }
}
