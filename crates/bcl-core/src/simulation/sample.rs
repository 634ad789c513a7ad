//! Labelled scores drawn from the Bayesian model.

use super::SimulationConfig;
use crate::{parameter::in_closed, posterior::OrderMixture};
use rand::{Rng, RngExt};

/// The interval of one anchor's similarities: its base distribution is `U(low, high)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// The smallest similarity.
    pub low: f64,
    /// The largest similarity.
    pub high: f64,
}

impl Proposal {
    /// Draws the interval of a new anchor: each end falls short of `±1/t²` by a random share of up to `γ`.
    pub fn draw(config: &SimulationConfig, rng: &mut impl Rng) -> Self {
        let largest = config.largest_similarity();
        let mut end = || largest * (1.0 - config.gamma * rng.random::<f64>());
        Self {
            low: -end(),
            high: end(),
        }
    }

    /// Returns the similarity at a quantile in `[0, 1]` of the base distribution.
    pub fn similarity(&self, quantile: f64) -> f64 {
        self.low + (self.high - self.low) * quantile
    }
}

/// Draws true and false negatives, as quantiles of the anchor's base distribution.
///
/// Of two base draws, a true negative is the smaller with probability `α` and the larger otherwise; a false negative, and a positive,
/// the reverse:
///
/// ```text
/// F_TN = α (2Φ - Φ²) + (1 - α) Φ²        Φ = F / ( α + sqrt( α² (1 - F) + (1 - α)² F ) )
/// F_FN = (1 - α)(2Φ - Φ²) + α Φ²         the same with α and 1 - α exchanged
/// ```
///
/// The right-hand sides turn one uniform draw of `F` into one score; rejection discards up to half of its pairs.
///
/// ```
/// use bcl_core::simulation::ClassSampler;
/// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
///
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let sampler = ClassSampler::new(0.9);
/// let mean = |draws: Vec<f64>| draws.iter().sum::<f64>() / draws.len() as f64;
/// let true_negatives = mean((0..1000).map(|_| sampler.true_negative(&mut rng)).collect());
/// let false_negatives = mean((0..1000).map(|_| sampler.false_negative(&mut rng)).collect());
/// assert!(true_negatives < 0.5 && 0.5 < false_negatives);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassSampler {
    true_negative: OrderMixture,
    false_negative: OrderMixture,
}

impl ClassSampler {
    /// Creates a sampler for classes that scores separate by `alpha`.
    ///
    /// # Panics
    /// Panics if `alpha` is outside `[0.5, 1]`.
    pub fn new(alpha: f64) -> Self {
        if let Err(error) = in_closed("alpha", alpha, 0.5, 1.0) {
            panic!("{error}");
        }
        Self {
            true_negative: OrderMixture {
                lowest: alpha,
                highest: 1.0 - alpha,
            },
            false_negative: OrderMixture {
                lowest: 1.0 - alpha,
                highest: alpha,
            },
        }
    }

    /// Draws the quantile of a true negative, by the inverse of its distribution function.
    pub fn true_negative(&self, rng: &mut impl Rng) -> f64 {
        self.true_negative.base_quantile(rng.random())
    }

    /// Draws the quantile of a false negative or of a positive, by the inverse of its distribution function.
    pub fn false_negative(&self, rng: &mut impl Rng) -> f64 {
        self.false_negative.base_quantile(rng.random())
    }

    /// Draws the quantile of a true negative, by rejection.
    pub fn true_negative_by_rejection(&self, rng: &mut impl Rng) -> f64 {
        by_rejection(self.true_negative, rng)
    }

    /// Draws the quantile of a false negative or of a positive, by rejection.
    pub fn false_negative_by_rejection(&self, rng: &mut impl Rng) -> f64 {
        by_rejection(self.false_negative, rng)
    }
}

/// Proposes from the base distribution and accepts in proportion to the density, whose largest value is at one of the ends.
fn by_rejection(mixture: OrderMixture, rng: &mut impl Rng) -> f64 {
    let largest = mixture.lowest.max(mixture.highest);
    loop {
        let (quantile, height): (f64, f64) = (rng.random(), rng.random());
        if height * largest < mixture.lowest * (1.0 - quantile) + mixture.highest * quantile {
            return quantile;
        }
    }
}

/// The scores of one anchor, with their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// The unlabelled scores `x_i`.
    pub scores: Vec<f64>,
    /// Which of them belong to false negatives.
    pub is_false_negative: Vec<bool>,
    /// The scores `x+` of known positives.
    pub positives: Vec<f64>,
    /// The interval of the similarities.
    pub proposal: Proposal,
}

impl Anchor {
    /// Draws an anchor. An anchor without any true negative has nothing to estimate and is drawn again.
    ///
    /// # Panics
    /// Panics if a parameter is out of range.
    pub fn draw(config: &SimulationConfig, rng: &mut impl Rng) -> Self {
        Self::draw_after_labelling(config, 0.0, rng)
    }

    /// [Draws](Self::draw) an anchor whose unlabelled scores come from a single training set: each false negative was labelled with
    /// probability `label_frequency` and removed, and others were drawn until `num_negatives` were left.
    ///
    /// # Panics
    /// Panics if a parameter is out of range, or `label_frequency` is outside `[0, 1]`.
    pub fn draw_after_labelling(config: &SimulationConfig, label_frequency: f64, rng: &mut impl Rng) -> Self {
        let sampler = ClassSampler::new(config.alpha);
        let proposal = Proposal::draw(config, rng);
        let score = |quantile| (proposal.similarity(quantile) / config.temperature).exp();

        let positives = (0..config.num_positives)
            .map(|_| score(sampler.false_negative(rng)))
            .collect();
        loop {
            let is_false_negative: Vec<bool> = (0..config.num_negatives)
                .map(|_| {
                    loop {
                        let is_false = rng.random_bool(config.tau_plus);
                        let is_labelled = is_false && label_frequency > 0.0 && rng.random_bool(label_frequency);
                        if !is_labelled {
                            return is_false;
                        }
                    }
                })
                .collect();
            if is_false_negative.iter().all(|&is_false| is_false) {
                continue;
            }
            let scores = is_false_negative
                .iter()
                .map(|&is_false| {
                    score(if is_false {
                        sampler.false_negative(rng)
                    } else {
                        sampler.true_negative(rng)
                    })
                })
                .collect();
            return Self {
                scores,
                is_false_negative,
                positives,
                proposal,
            };
        }
    }

    /// Computes the expected score of a true negative, which estimates approach as the number of negatives grows.
    ///
    /// ```text
    /// E[x] = 2 exp(a / t) ∫ exp(k u) (α (1 - u) + (1 - α) u) du,   k = (b - a) / t,   u from 0 to 1
    /// ```
    pub fn expected_true_negative(&self, config: &SimulationConfig) -> f64 {
        let Proposal { low, high } = self.proposal;
        let k = (high - low) / config.temperature;
        let constant = k.exp_m1() / k;
        let linear = (k.exp() - constant) / k;
        2.0 * (low / config.temperature).exp() * (config.alpha * constant + (1.0 - 2.0 * config.alpha) * linear)
    }
}
