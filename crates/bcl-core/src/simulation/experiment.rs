//! The experiment and the summary of its repetitions.

use super::{Anchor, SimulationConfig, Theta, bayesian, biased, debiased, hard, supervised};
use crate::posterior::Posterior;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The result of [`simulate`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SimulationResult {
    /// The parameters.
    pub config: SimulationConfig,
    /// The mean of `θ_SUP` over anchors and repetitions.
    pub mean_supervised: f64,
    /// One summary per estimator, in the order of [`Theta::ALL`].
    pub summaries: Vec<ThetaSummary>,
}

/// The error of one estimator of `θ_SUP`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThetaSummary {
    /// The estimator.
    pub theta: Theta,
    /// Its mean over anchors and repetitions.
    pub mean: f64,
    /// The mean of `(θ - θ_SUP)²` over anchors and repetitions.
    pub mean_squared_error: f64,
    /// The standard deviation of the mean squared error over repetitions; 0 for a single one.
    pub std_dev: f64,
}

impl SimulationResult {
    /// Summarises repetitions of `config`.
    pub fn of_repetitions(config: &SimulationConfig, repetitions: &[Repetition]) -> Self {
        let summary = |theta: Theta| {
            let errors: Vec<f64> = repetitions
                .iter()
                .map(|repetition| repetition.mean_squared_error(theta))
                .collect();
            ThetaSummary {
                theta,
                mean: mean(repetitions.iter().map(|repetition| repetition.mean(theta))),
                mean_squared_error: mean(errors.iter().copied()),
                std_dev: std_dev(&errors),
            }
        };
        Self {
            config: *config,
            mean_supervised: mean(repetitions.iter().map(Repetition::mean_supervised)),
            summaries: Theta::ALL.map(summary).to_vec(),
        }
    }

    /// Returns the summary of one estimator.
    pub fn of(&self, theta: Theta) -> ThetaSummary {
        self.summaries[theta as usize]
    }
}

/// Draws `repetitions` times `num_anchors` anchors and compares every estimator with the supervised mean of the same anchor.
///
/// To draw repetitions one by one or in parallel, use [`Repetition::draw`] and [`SimulationResult::of_repetitions`].
///
/// # Panics
/// Panics if a parameter is out of range; [`SimulationConfig::check`] finds out without panicking.
pub fn simulate(config: &SimulationConfig, rng: &mut impl Rng) -> SimulationResult {
    let repetitions: Vec<Repetition> = (0..config.repetitions).map(|_| Repetition::draw(config, rng)).collect();
    SimulationResult::of_repetitions(config, &repetitions)
}

/// Means over the anchors of one repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    supervised: f64,
    /// In the order of [`Theta::ALL`], as are the errors.
    means: [f64; Theta::ALL.len()],
    squared_errors: [f64; Theta::ALL.len()],
}

impl Repetition {
    /// Draws `num_anchors` anchors and compares every estimator with the supervised mean of the same anchor.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; [`SimulationConfig::check`] finds out without panicking.
    pub fn draw(config: &SimulationConfig, rng: &mut impl Rng) -> Self {
        if let Err(error) = config.check() {
            panic!("{error}");
        }
        let posterior = config.posterior();
        let mut repetition = Self::default();
        let share = 1.0 / config.num_anchors as f64;
        for _ in 0..config.num_anchors {
            let anchor = Anchor::draw(config, rng);
            let truth = anchor.supervised();
            repetition.supervised += share * truth;
            for (index, estimate) in anchor.estimates(config, &posterior).into_iter().enumerate() {
                repetition.means[index] += share * estimate;
                repetition.squared_errors[index] += share * (estimate - truth).powi(2);
            }
        }
        repetition
    }

    /// Returns the mean of `θ_SUP`.
    pub fn mean_supervised(&self) -> f64 {
        self.supervised
    }

    /// Returns the mean of an estimator.
    pub fn mean(&self, theta: Theta) -> f64 {
        self.means[theta as usize]
    }

    /// Returns the mean of `(θ - θ_SUP)²`.
    pub fn mean_squared_error(&self, theta: Theta) -> f64 {
        self.squared_errors[theta as usize]
    }
}

impl Anchor {
    /// Computes `θ_SUP` of this anchor.
    pub fn supervised(&self) -> f64 {
        supervised(&self.scores, &self.is_false_negative).expect("anchors have a true negative")
    }

    /// Computes every estimate of `θ_SUP`, in the order of [`Theta::ALL`]; `posterior` must belong to `config`.
    pub fn estimates(&self, config: &SimulationConfig, posterior: &Posterior) -> [f64; Theta::ALL.len()] {
        let Self { scores, positives, .. } = self;
        let floor = config.smallest_score();
        let bayesian = bayesian(scores, posterior);
        Theta::ALL.map(|theta| match theta {
            Theta::Biased => biased(scores),
            Theta::Debiased => debiased(scores, positives, config.tau_plus, floor),
            Theta::Hard => hard(scores, positives, config.tau_plus, floor, config.hard_beta),
            Theta::Bayesian => bayesian.plain,
            Theta::BayesianNormalised => bayesian.normalised,
        })
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The sample standard deviation.
fn std_dev(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let centre = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}
