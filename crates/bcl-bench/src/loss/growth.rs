//! Fits how a cost grows with the number of negatives.

/// The exponent `p` of `cost ≈ c · size^p`, by least squares on logarithms; `None` for fewer than two different sizes.
///
/// # Shapes
/// - points: pairs of size and cost, all above 0
pub(crate) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(size, cost)| (size.ln(), cost.ln())).collect();
    let mean_size = logs.iter().map(|(size, _)| size).sum::<f64>() / count;
    let mean_cost = logs.iter().map(|(_, cost)| cost).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|(size, cost)| (size - mean_size) * (cost - mean_cost)).sum();
    let variance: f64 = logs.iter().map(|(size, _)| (size - mean_size).powi(2)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_power_law_is_found_again(power in 0.0..4.0f64, factor in 1e-3..1e3f64) {
            let points: Vec<(f64, f64)> = [126.0f64, 254.0, 510.0, 1022.0].map(|n| (n, factor * n.powf(power))).to_vec();
            prop_assert!((exponent(&points).expect("four sizes") - power).abs() < 1e-9);
        }
    }

    #[test]
    fn one_size_has_no_growth() {
        assert_eq!(exponent(&[]), None);
        assert_eq!(exponent(&[(126.0, 1.0), (126.0, 2.0)]), None);
    }
}
