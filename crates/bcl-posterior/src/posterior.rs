//! The posterior for given parameters.

use crate::{
    OrderMixture,
    parameter::{ParameterError, in_closed, in_half_open},
};

/// The posterior of an unlabelled score for given `alpha`, `beta` and `tau_plus`.
///
/// With `u = α τ- + (1 - α) τ+`, its complement `v = 1 - u = (1 - α) τ- + α τ+`, and the eCDF `F` of the score:
///
/// ```text
/// r   = sqrt( u² (1 - F) + v² F )               half the root of Eq. 14's discriminant
/// Φ   = F / (u + r)                             1 - Φ = (1 - F) / (v + r)
/// P(TN | x) = τ- ( α (1 - Φ) + (1 - α) Φ ) / r
/// ω   = ( (1 - β) α (1 - Φ) + β (1 - α) Φ ) / ( r Z ),    Z = (1 - β) α + β (1 - α)
/// ```
///
/// The paper writes Eq. 14 with `a = v - u`, `b = 2u`, so that `b² + 4aF = (2r)²` and the density of an unlabelled score is
/// `u (1 - Φ) + v Φ = r`. In the form above all terms are non-negative: nothing cancels, the root is always real, and `α = 1/2` or
/// `τ+ = 1/2` (`a = 0`) is no special case.
///
/// # Direction of the weight
/// `ω` is monotone in the score. It rises if `β` is above [`neutral_beta`](Self::neutral_beta) and falls if it is below, because
/// mining hard negatives (`β`) and avoiding false ones (`τ+`, `α`) pull in opposite directions.
///
/// ```
/// use bcl_posterior::Posterior;
///
/// let posterior = Posterior::new(0.9, 0.5, 0.1).unwrap();
/// // A high score is probably a false negative; with beta = 1/2 the weight is P(TN | x) / τ-.
/// assert!(posterior.p_true_negative(1.0) < posterior.p_true_negative(0.5));
/// assert!((posterior.omega(1.0) - posterior.p_true_negative(1.0) / 0.9).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) tau_plus: f64,
}

impl Posterior {
    /// Creates the posterior for a separation `alpha` in `[0.5, 1]`, a hardness `beta` in `[0, 1]` and a prior `tau_plus` in `[0, 1)`.
    ///
    /// # Errors
    /// Returns an error if a value is out of range, or for `alpha = 1` with `beta = 1`: a perfect encoder leaves no hard true negatives,
    /// and the weight is 0/0.
    ///
    /// ```
    /// use bcl_posterior::Posterior;
    ///
    /// let error = Posterior::new(1.0, 1.0, 0.1).unwrap_err();
    /// assert!(error.to_string().contains("choose alpha < 1 or beta < 1"));
    /// ```
    pub fn new(alpha: f64, beta: f64, tau_plus: f64) -> Result<Self, ParameterError> {
        in_closed("alpha", alpha, 0.5, 1.0)?;
        in_closed("beta", beta, 0.0, 1.0)?;
        in_half_open("tau_plus", tau_plus, 0.0, 1.0)?;
        if alpha == 1.0 && beta == 1.0 {
            return Err(ParameterError::new(
                "alpha",
                alpha,
                "be below 1 when beta is 1, where the weight is 0/0: choose alpha < 1 or beta < 1",
            ));
        }
        Ok(Self { alpha, beta, tau_plus })
    }

    /// Returns `α`: of a pair of draws, the probability that the lower one is the true negative's.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns `β`, the share of the weight that hard true negatives get.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// Returns `τ+`, the prior probability that an unlabelled sample is a false negative.
    pub fn tau_plus(&self) -> f64 {
        self.tau_plus
    }

    /// Returns `τ- = 1 - τ+`, the prior probability that an unlabelled sample is a true negative.
    pub fn tau_minus(&self) -> f64 {
        1.0 - self.tau_plus
    }

    /// Computes `Φ`, the base distribution function at the score whose eCDF is `ecdf` in `[0, 1]` (Eq. 14).
    ///
    /// It solves `F = 2uΦ + (1 - 2u)Φ²` and increases from `Φ(0) = 0` to `Φ(1) = 1`.
    ///
    /// ```
    /// use bcl_posterior::Posterior;
    ///
    /// let uninformed = Posterior::new(0.5, 0.9, 0.1).unwrap();
    /// assert!((uninformed.phi(0.3) - 0.3).abs() < 1e-15);
    /// ```
    pub fn phi(&self, ecdf: f64) -> f64 {
        self.unlabelled().base_quantile(ecdf)
    }

    /// Computes `P(TN | x)`, the probability that a score whose eCDF is `ecdf` in `[0, 1]` belongs to a true negative.
    pub fn p_true_negative(&self, ecdf: f64) -> f64 {
        // Two rounded quotients can exceed a probability of one by the last bit.
        self.relative_density(self.true_negatives(), ecdf).min(1.0)
    }

    /// Computes `ω`, the importance weight of a score whose eCDF is `ecdf` in `[0, 1]` (Eq. 13).
    ///
    /// `∫ω dF = 1`, so the weights of a row average to one as the row grows; see [`rank_weights`](Self::rank_weights).
    pub fn omega(&self, ecdf: f64) -> f64 {
        self.relative_density(self.wanted(), ecdf)
    }

    /// Computes the weights of a row without ties, in ascending order of scores: `w[k] = ω((k + 1) / N)`.
    ///
    /// Their mean differs from 1 by at most `|ω(1) - ω(0)| / N`, because a score counts itself in its own eCDF: the mean is low if
    /// `ω` falls with the score and high if it rises.
    ///
    /// ```
    /// use bcl_posterior::Posterior;
    ///
    /// let weights = Posterior::new(0.9, 0.9, 0.1).unwrap().rank_weights(510);
    /// let mean = weights.iter().sum::<f64>() / 510.0;
    /// assert!((mean - 1.0).abs() < 0.01);
    /// ```
    pub fn rank_weights(&self, num_negatives: usize) -> Vec<f64> {
        ranks(num_negatives).map(|ecdf| self.omega(ecdf)).collect()
    }

    /// Computes the effective sample size of a row without ties, `(Σω)² / Σω²`: the number of equally weighted
    /// negatives whose mean would scatter as much. It is 0 if no negative has a weight, else between 1 and `num_negatives`.
    ///
    /// ```
    /// use bcl_posterior::Posterior;
    ///
    /// let posterior = Posterior::new(0.9, 0.9, 0.1).unwrap();
    /// assert!((425.0..435.0).contains(&posterior.effective_sample_size(510)));
    /// ```
    pub fn effective_sample_size(&self, num_negatives: usize) -> f64 {
        let weights = self.rank_weights(num_negatives);
        let sum: f64 = weights.iter().sum();
        if sum == 0.0 {
            // The highest rank may have no weight, and a single negative has the highest rank.
            return 0.0;
        }
        sum * sum / weights.iter().map(|weight| weight * weight).sum::<f64>()
    }

    /// Computes the `β` at which hardness and debiasing cancel, `αv / (αv + (1 - α)u)`: there `ω ≡ 1` and the Bayesian loss is `InfoNCE`.
    ///
    /// Above it the weight rises with the score, below it the weight falls. It is 1/2 at `τ+ = 0`, grows with `τ+`, and is `α`
    /// at `τ+ = 1/2`. At `α = 1` no `β < 1` cancels the debiasing and the result is 1, except at `τ+ = 0`: there is nothing to debias,
    /// every `β` is neutral, and the result is the limit 1/2.
    ///
    /// ```
    /// use bcl_posterior::Posterior;
    ///
    /// let at = |beta| Posterior::new(0.9, beta, 0.1).unwrap();
    /// let neutral = at(0.5).neutral_beta();
    /// assert!((at(neutral).omega(0.2) - 1.0).abs() < 1e-12);
    /// assert!(at(neutral + 0.1).omega(1.0) > at(neutral + 0.1).omega(0.5));
    /// ```
    pub fn neutral_beta(&self) -> f64 {
        if self.highest_is_impossible() {
            return 0.5;
        }
        let OrderMixture { lowest, highest } = self.unlabelled();
        let (easy, hard) = (self.alpha * highest, (1.0 - self.alpha) * lowest);
        easy / (easy + hard)
    }

    /// The distribution of unlabelled scores: `u` at the lowest, `v` at the highest.
    pub fn unlabelled(&self) -> OrderMixture {
        OrderMixture {
            lowest: self.alpha * self.tau_minus() + (1.0 - self.alpha) * self.tau_plus,
            highest: (1.0 - self.alpha) * self.tau_minus() + self.alpha * self.tau_plus,
        }
    }

    /// The share of true negatives in [`unlabelled`](Self::unlabelled); its two parts add up to `τ-`.
    pub fn true_negatives(&self) -> OrderMixture {
        OrderMixture {
            lowest: self.tau_minus() * self.alpha,
            highest: self.tau_minus() * (1.0 - self.alpha),
        }
    }

    /// The distribution of true negatives of hardness `β`: a share `β` of hard ones.
    pub fn wanted(&self) -> OrderMixture {
        let (easy, hard) = ((1.0 - self.beta) * self.alpha, self.beta * (1.0 - self.alpha));
        OrderMixture {
            lowest: easy / (easy + hard),
            highest: hard / (easy + hard),
        }
    }

    /// The density of `part` relative to the density of all unlabelled scores, `(lowest (1 - Φ) + highest Φ) / r`.
    fn relative_density(&self, part: OrderMixture, ecdf: f64) -> f64 {
        if self.highest_is_impossible() {
            return 1.0;
        }
        let unlabelled = self.unlabelled();
        let phi = unlabelled.base_quantile(ecdf);
        let complement = unlabelled.base_quantile_complement(ecdf);
        (part.lowest * complement + part.highest * phi) / unlabelled.half_density(ecdf)
    }

    /// Whether `v = 0`: a perfect encoder (`α = 1`) without false negatives (`τ+ = 0`). There `P(TN | x)` and `ω` are one
    /// everywhere, but their quotients are 0/0 at the highest score.
    pub fn highest_is_impossible(&self) -> bool {
        self.unlabelled().highest == 0.0
    }
}

/// The eCDF values `1/N, 2/N, …, 1` of a row without ties.
pub(crate) fn ranks(num_negatives: usize) -> impl Iterator<Item = f64> {
    (1..=num_negatives).map(move |rank| rank as f64 / num_negatives as f64)
}
