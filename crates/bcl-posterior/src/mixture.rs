//! Mixtures of the smaller and the larger of two draws: every distribution of the Bayesian model is one.

/// The distribution of a score that is the smaller of two draws from the base distribution `Φ` with probability `lowest`, and the larger
/// with probability `highest`; the two add up to one.
///
/// ```text
/// density:   2 ( lowest (1 - Φ) + highest Φ ) φ
/// F(Φ)     = lowest (2Φ - Φ²) + highest Φ²
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderMixture {
    /// Probability of the smaller draw.
    pub lowest: f64,
    /// Probability of the larger draw.
    pub highest: f64,
}

impl OrderMixture {
    /// The density relative to the base distribution, at the base quantile `phi` in `[0, 1]`: `2 ( lowest (1 - Φ) + highest Φ )`.
    pub fn relative_density(&self, phi: f64) -> f64 {
        2.0 * (self.lowest * (1.0 - phi) + self.highest * phi)
    }

    /// Half the density relative to the base distribution, at the point where the distribution function is `ecdf`.
    ///
    /// `r = sqrt( lowest² (1 - F) + highest² F )`, a sum of terms that are never negative.
    pub fn half_density(&self, ecdf: f64) -> f64 {
        (self.lowest * self.lowest * (1.0 - ecdf) + self.highest * self.highest * ecdf).sqrt()
    }

    /// `Φ` at the point where the distribution function is `ecdf`: the root of `F(Φ) = ecdf` in `[0, 1]`.
    ///
    /// Drawing `ecdf` uniformly samples the mixture in base quantiles.
    pub fn base_quantile(&self, ecdf: f64) -> f64 {
        if ecdf <= 0.0 {
            // Without a lowest part the quotient is 0/0 here.
            return 0.0;
        }
        (ecdf / (self.lowest + self.half_density(ecdf))).min(1.0)
    }

    /// `1 - Φ` at the point where the distribution function is `ecdf`, without the cancellation of that subtraction.
    pub fn base_quantile_complement(&self, ecdf: f64) -> f64 {
        self.reversed().base_quantile(1.0 - ecdf)
    }

    /// The mixture with the order of scores reversed.
    fn reversed(&self) -> Self {
        Self {
            lowest: self.highest,
            highest: self.lowest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distribution(mixture: OrderMixture, phi: f64) -> f64 {
        mixture.lowest * (2.0 * phi - phi * phi) + mixture.highest * phi * phi
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_distribution(lowest in 0.0..=1.0, phi in 0.0..=1.0) {
            let mixture = OrderMixture { lowest, highest: 1.0 - lowest };
            let ecdf = distribution(mixture, phi);
            prop_assert!((distribution(mixture, mixture.base_quantile(ecdf)) - ecdf).abs() < 1e-14);
        }

        #[test]
        fn the_quantile_and_its_complement_add_to_one(lowest in 0.0..=1.0, ecdf in 0.0..=1.0) {
            let mixture = OrderMixture { lowest, highest: 1.0 - lowest };
            let sum = mixture.base_quantile(ecdf) + mixture.base_quantile_complement(ecdf);
            prop_assert!((sum - 1.0).abs() < 1e-7, "{sum}");
        }

        #[test]
        fn the_half_density_is_linear_in_the_quantile(lowest in 0.01..=0.99, ecdf in 0.0..=1.0) {
            let mixture = OrderMixture { lowest, highest: 1.0 - lowest };
            let phi = mixture.base_quantile(ecdf);
            prop_assert!((2.0 * mixture.half_density(ecdf) - mixture.relative_density(phi)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_ends_are_exact_even_where_the_mixture_is_one_sided() {
        for lowest in [0.0, 0.5, 1.0] {
            let mixture = OrderMixture {
                lowest,
                highest: 1.0 - lowest,
            };
            assert_eq!(mixture.base_quantile(0.0), 0.0);
            assert_eq!(mixture.base_quantile(1.0), 1.0);
            assert_eq!(mixture.base_quantile_complement(1.0), 0.0);
        }
    }
}
