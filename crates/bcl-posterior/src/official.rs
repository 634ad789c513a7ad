//! The weight as the authors' released code computes it, to compare with that code; [`Posterior::omega`] is the paper's.

use crate::{OrderMixture, Posterior, posterior::ranks};

/// The released code adds this to `a` and to `Z` to avoid a division by zero.
const EPSILON: f64 = 1e-3;

impl Posterior {
    /// Computes `ω` in the arithmetic of the released code, defects included.
    ///
    /// ```text
    /// a = (1 - 2α)(τ- - τ+) + 1e-3        Φ = ( -b + sqrt(b² + 4aF) ) / (2a)        Z = (1 - β)α + β(1 - α) + 1e-3
    /// ```
    ///
    /// It is usually within 1.5 % of [`omega`](Self::omega). It is far off in three places:
    ///
    /// - if `a` vanishes, `(2α - 1)(τ- - τ+) = 1e-3`, for example at `α = 0.501`, `τ+ = 1/4`, where the released schedule starts. There
    ///   rounding leaves `a = -9e-19`, the numerator is exactly zero, and every score gets `Φ = 0`: the smallest weight of its
    ///   row if `β > 1/2`. An `a` that is exactly zero gives 0/0, NaN;
    /// - near `α = 1` with `β = 1`, where `1e-3` outweighs `Z`: half the weight at `α = 0.999`;
    /// - at the highest score near `α = 1` with small `τ+`, which the exact form weighs zero.
    ///
    /// ```
    /// use bcl_posterior::Posterior;
    ///
    /// let posterior = Posterior::new(0.501, 0.9, 0.25).unwrap();
    /// assert_eq!(posterior.omega_official(0.1), posterior.omega_official(0.9));
    /// assert!(posterior.omega(0.9) > 3.0 * posterior.omega(0.1));
    /// ```
    pub fn omega_official(&self, ecdf: f64) -> f64 {
        let OfficialCoefficients { a, b, wanted } = self.official();
        let unlabelled = self.unlabelled();
        let phi = (-b + (b * b + 4.0 * a * ecdf).sqrt()) / (2.0 * a);
        (wanted.lowest * (1.0 - phi) + wanted.highest * phi) / (unlabelled.lowest * (1.0 - phi) + unlabelled.highest * phi)
    }

    /// Computes [`rank_weights`](Self::rank_weights) in the arithmetic of the released code.
    pub fn rank_weights_official(&self, num_negatives: usize) -> Vec<f64> {
        ranks(num_negatives).map(|ecdf| self.omega_official(ecdf)).collect()
    }

    /// Computes the coefficients of the released code.
    pub fn official(&self) -> OfficialCoefficients {
        let easy = self.alpha * (1.0 - self.beta);
        let hard = (1.0 - self.alpha) * self.beta;
        let z = easy + hard + EPSILON;
        OfficialCoefficients {
            a: (1.0 - 2.0 * self.alpha) * (self.tau_minus() - self.tau_plus) + EPSILON,
            b: 2.0 * self.unlabelled().lowest,
            wanted: OrderMixture {
                lowest: easy / z,
                highest: hard / z,
            },
        }
    }
}

/// The coefficients of the released code, see [`Posterior::omega_official`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfficialCoefficients {
    /// `a` of the quadratic `F = aΦ² + bΦ`.
    pub a: f64,
    /// `b` of the quadratic.
    pub b: f64,
    /// Its two parts add up to less than one, by the epsilon in `Z`.
    pub wanted: OrderMixture,
}
