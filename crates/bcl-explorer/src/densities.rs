//! Densities of scores whose base distribution is standard normal, as in Figure 3 of the BCL paper.

use bcl_posterior::OrderMixture;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The base density `φ` of a score, the standard normal one.
pub fn base_density(score: f64) -> f64 {
    libm::exp(-0.5 * score * score) / (2.0 * PI).sqrt()
}

/// The density of a class of scores: the smaller of two draws from `φ` with probability `lowest`, else the larger.
///
/// `lowest` is α for true negatives, 1 - α for false negatives, and [`Posterior::unlabelled`](bcl_posterior::Posterior::unlabelled)
/// for both together.
///
/// ```
/// use bcl_explorer::{base_density, class_density};
///
/// assert!((class_density(0.3, 0.5) - base_density(0.3)).abs() < 1e-15);
/// assert!(class_density(-1.0, 0.9) > class_density(-1.0, 0.1));
/// ```
pub fn class_density(score: f64, lowest: f64) -> f64 {
    let mixture = OrderMixture {
        lowest,
        highest: 1.0 - lowest,
    };
    mixture.relative_density(base_quantile(score)) * base_density(score)
}

/// `Φ` of a score, the standard normal distribution function.
fn base_quantile(score: f64) -> f64 {
    0.5 * libm::erfc(-score * FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_of_both_classes_average_to_the_base_density() {
        for score in [-3.0, -0.5, 0.0, 2.0] {
            let average = f64::midpoint(class_density(score, 0.8), class_density(score, 0.2));
            assert!((average - base_density(score)).abs() < 1e-15, "{score}");
        }
    }

    #[test]
    fn densities_integrate_to_one() {
        let integral: f64 = (-800..=800)
            .map(|step| class_density(f64::from(step) / 100.0, 0.9) / 100.0)
            .sum();
        assert!((integral - 1.0).abs() < 1e-9, "{integral}");
    }

    #[test]
    fn the_quantile_is_that_of_the_normal_distribution() {
        for (score, expected) in [(0.0, 0.5), (1.0, 0.841_344_746_068_542_9), (-2.0, 0.022_750_131_948_179_21)] {
            assert!((base_quantile(score) - expected).abs() < 1e-15, "{score}");
        }
    }
}
