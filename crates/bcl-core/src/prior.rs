//! Values of the prior `τ+` (the probability that an unlabelled sample is a false negative) and of the hardness `β` for a data set.

/// Returns `τ+ = 1/C` for `C` classes of equal size.
///
/// # Panics
/// Panics if there is no class.
///
/// ```
/// assert_eq!(bcl_core::prior::balanced_classes(10), 0.1);
/// ```
pub fn balanced_classes(num_classes: usize) -> f64 {
    assert!(num_classes > 0, "num_classes is 0, but must be at least 1");
    1.0 / num_classes as f64
}

/// Returns `τ+ = Σ (n_c / n)²` for classes of `n_c` samples: the probability that two samples drawn at random share their class.
///
/// Equals [`balanced_classes`] when all counts are equal and is larger otherwise.
///
/// # Panics
/// Panics if there is no sample.
///
/// ```
/// use bcl_core::prior::{balanced_classes, class_counts};
///
/// assert_eq!(class_counts(&[50, 50]), balanced_classes(2));
/// assert_eq!(class_counts(&[75, 25]), 0.625);
/// ```
pub fn class_counts(counts: &[usize]) -> f64 {
    let total: usize = counts.iter().sum();
    assert!(total > 0, "the classes have 0 samples, but must have at least 1");
    counts.iter().map(|&count| (count as f64 / total as f64).powi(2)).sum()
}

/// Returns `τ+` of a recommender: the share of all user-item pairs that interact.
///
/// It is a lower bound if negatives are drawn from all items, because users like more items than the data shows.
///
/// # Panics
/// Panics if there are no users or no items, or more interactions than pairs.
///
/// ```
/// // MovieLens-100K
/// let tau_plus = bcl_core::prior::interaction_density(943, 1682, 100_000);
/// assert!((tau_plus - 0.063).abs() < 1e-4);
/// ```
pub fn interaction_density(num_users: usize, num_items: usize, num_interactions: usize) -> f64 {
    assert!(num_users > 0, "num_users is 0, but must be at least 1");
    assert!(num_items > 0, "num_items is 0, but must be at least 1");
    let density = num_interactions as f64 / (num_users as f64 * num_items as f64);
    assert!(
        density <= 1.0,
        "num_interactions is {num_interactions}, but must be at most {num_users} x {num_items}"
    );
    density
}

/// Returns the hardness that the paper suggests for `C` classes, `β = 1 - 1/C`.
///
/// # Panics
/// Panics if there is no class.
///
/// ```
/// assert_eq!(bcl_core::prior::suggested_beta(10), 0.9);
/// ```
pub fn suggested_beta(num_classes: usize) -> f64 {
    1.0 - balanced_classes(num_classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_classes_share_more_pairs_than_even_ones() {
        assert!(class_counts(&[9, 1]) > class_counts(&[5, 5]));
        assert_eq!(class_counts(&[0, 7]), 1.0);
    }

    #[test]
    #[should_panic(expected = "num_interactions is 7, but must be at most 2 x 3")]
    fn more_interactions_than_pairs_are_refused() {
        interaction_density(2, 3, 7);
    }

    #[test]
    #[should_panic(expected = "num_classes is 0")]
    fn no_class_has_no_prior() {
        balanced_classes(0);
    }
}
