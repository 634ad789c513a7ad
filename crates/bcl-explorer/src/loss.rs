//! The loss of one anchor over the similarity of its positive and of one of its negatives.

use bcl_posterior::Posterior;

/// Half the width of the interval of similarities, `[-0.5, 0.5]`, as in Figures 9 and 10 of the BCL paper.
const HALF_WIDTH: f64 = 0.5;

/// How negatives are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighing {
    /// All weights are 1, the loss is `InfoNCE`.
    Equal,
    /// The importance weight `ω`.
    Bayesian,
}

/// The expected similarities of `count` negatives, ascending: the quantiles `(k + 1/2) / count` of unlabelled scores whose base
/// distribution is uniform between -0.5 and 0.5.
///
/// ```
/// use bcl_explorer::similarities;
/// use bcl_posterior::Posterior;
///
/// let uninformed = Posterior::new(0.5, 0.9, 0.1).unwrap();
/// let row: Vec<f64> = similarities(&uninformed, 2).collect();
/// assert_eq!(row, [-0.25, 0.25]);
/// ```
pub fn similarities(posterior: &Posterior, count: usize) -> impl Iterator<Item = f64> {
    let unlabelled = posterior.unlabelled();
    (0..count).map(move |rank| {
        let quantile = unlabelled.base_quantile((rank as f64 + 0.5) / count as f64);
        HALF_WIDTH * (2.0 * quantile - 1.0)
    })
}

/// The weighted sum of exponentials `Σ ω e^(x / t)` of a row of `num_negatives` negatives: one with the similarity `negative`, the others
/// with their [expected similarities](similarities).
///
/// # Panics
/// Panics if `num_negatives` is 0.
pub fn negative_mass(posterior: &Posterior, num_negatives: usize, temperature: f64, negative: f64, weighing: Weighing) -> f64 {
    let mut row: Vec<f64> = similarities(posterior, num_negatives - 1).collect();
    row.insert(row.partition_point(|&other| other <= negative), negative);
    let weights = match weighing {
        Weighing::Equal => vec![1.0; num_negatives],
        Weighing::Bayesian => posterior.rank_weights(num_negatives),
    };
    row.iter()
        .zip(weights)
        .map(|(similarity, weight)| weight * libm::exp(similarity / temperature))
        .sum()
}

/// The loss `log(1 + mass / e^(positive / t))` of the anchor, in nats.
///
/// ```
/// use bcl_explorer::{Weighing, loss, negative_mass};
/// use bcl_posterior::Posterior;
///
/// let posterior = Posterior::new(0.9, 0.9, 0.1).unwrap();
/// let at = |positive| loss(negative_mass(&posterior, 64, 0.5, 0.2, Weighing::Bayesian), positive, 0.5);
/// assert!(at(0.9) < at(0.1));
/// ```
pub fn loss(mass: f64, positive: f64, temperature: f64) -> f64 {
    libm::log1p(mass * libm::exp(-positive / temperature))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posterior(beta: f64) -> Posterior {
        Posterior::new(0.9, beta, 0.1).unwrap()
    }

    #[test]
    fn at_the_neutral_beta_both_weighings_agree() {
        let neutral = posterior(posterior(0.5).neutral_beta());
        let mass = |weighing| negative_mass(&neutral, 128, 0.3, 0.1, weighing);
        assert!((mass(Weighing::Bayesian) / mass(Weighing::Equal) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_negative_has_the_loss_of_two_classes() {
        let mass = negative_mass(&posterior(0.9), 1, 0.5, 0.2, Weighing::Equal);
        assert!((loss(mass, 0.2, 0.5) - 2_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn the_rank_of_the_negative_decides_its_weight() {
        let rising = posterior(1.0);
        let other = similarities(&rising, 1).next().unwrap();
        let weights = rising.rank_weights(2);
        for (negative, [own, others]) in [(-0.9, [0, 1]), (0.9, [1, 0])] {
            let mass = negative_mass(&rising, 2, 0.5, negative, Weighing::Bayesian);
            let expected = weights[own] * (negative / 0.5_f64).exp() + weights[others] * (other / 0.5_f64).exp();
            assert!((mass / expected - 1.0).abs() < 1e-12, "{negative}");
        }
    }
}
