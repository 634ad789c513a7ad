//! How far two labelings agree beyond chance.

/// The adjusted Rand index of two labelings of the same points: 1 if they are equal up to names, about 0 if they are independent.
///
/// ```text
/// ARI = (Σ C(n_ab, 2) - E) / ((A + B) / 2 - E),    A = Σ C(n_a, 2),  B = Σ C(n_b, 2),  E = A B / C(n, 2)
/// ```
///
/// `None` if the lengths differ, and if chance alone makes the labelings equal: all points in one cluster, or each in its own, in both.
///
/// Source: Hubert and Arabie, Comparing partitions (Journal of Classification 2, 1985).
///
/// ```
/// use bcl_clusters::adjusted_rand_index;
///
/// assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[5, 5, 2, 2]), Some(1.0));
/// assert_eq!(adjusted_rand_index(&[0, 0, 0], &[1, 1, 1]), None);
/// ```
pub fn adjusted_rand_index(left: &[u32], right: &[u32]) -> Option<f64> {
    if left.len() != right.len() {
        return None;
    }
    let both = equal_pairs(left.iter().zip(right));
    let [of_left, of_right] = [left, right].map(equal_pairs);
    let count = left.len() as f64;
    let all = count * (count - 1.0) / 2.0;
    let by_chance = of_left * of_right / all;
    let most = 0.5 * (of_left + of_right);
    // Not comparing with 0: the difference of equal numbers may round.
    let is_trivial = (of_left == 0.0 && of_right == 0.0) || (of_left == all && of_right == all);
    (!is_trivial).then(|| (both - by_chance) / (most - by_chance))
}

/// Number of pairs of points whose labels are equal.
///
/// ```
/// assert_eq!(bcl_clusters::equal_pairs([1, 2, 1, 1]), 3.0);
/// ```
pub fn equal_pairs<T: Ord>(labels: impl IntoIterator<Item = T>) -> f64 {
    let mut labels: Vec<T> = labels.into_iter().collect();
    labels.sort_unstable();
    let groups = labels.chunk_by(|left, right| left == right).map(|group| group.len() as f64);
    groups.map(|count| count * (count - 1.0) / 2.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tables_have_known_indices() {
        // Contingency [[2, 1], [0, 3]] of six points: Σ = 1 + 3, A = 6, B = 1 + 6, E = 42 / 15.
        let found = adjusted_rand_index(&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 1, 1]).unwrap();
        let expected = (4.0 - 2.8) / (6.5 - 2.8);
        assert!((found - expected).abs() < 1e-12, "{found}");
        assert!(adjusted_rand_index(&[0, 0, 1, 1], &[0, 1, 0, 1]).unwrap() < 0.0);
    }

    #[test]
    fn one_cluster_tells_nothing_about_another_labeling() {
        assert_eq!(adjusted_rand_index(&[0; 4], &[0, 0, 1, 1]), Some(0.0));
        for trivial in [[0, 1, 2, 3], [7; 4]] {
            assert_eq!(adjusted_rand_index(&trivial, &trivial), None);
        }
        assert_eq!(adjusted_rand_index(&[], &[]), None);
        assert_eq!(adjusted_rand_index(&[1], &[1, 1]), None);
    }
}
