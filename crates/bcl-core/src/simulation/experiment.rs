//! Running the experiment and summing it up.

use super::{Anchor, SimulationConfig, Theta, bayesian, biased, debiased, hard, supervised};
use crate::posterior::Posterior;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// What [`simulate`] found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulationResult {
    /// The parameters.
    pub config: SimulationConfig,
    /// The mean of `θ_SUP` over anchors and repetitions.
    pub mean_supervised: f64,
    /// One summary an estimator, in the order of [`Theta::ALL`].
    pub summaries: Vec<ThetaSummary>,
}

/// How one estimator compares with `θ_SUP`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThetaSummary {
    /// The estimator.
    pub theta: Theta,
    /// Its mean over anchors and repetitions.
    pub mean: f64,
    /// The mean of `(θ - θ_SUP)²` over anchors and repetitions.
    pub mean_squared_error: f64,
    /// The standard deviation of a repetition's mean squared error; 0 with one repetition.
    pub std_dev: f64,
}

impl SimulationResult {
    /// The summary of one estimator.
    pub fn of(&self, theta: Theta) -> ThetaSummary {
        self.summaries[theta as usize]
    }
}

/// Draws `repetitions` times `num_anchors` anchors and compares every estimator with the supervised mean of the same anchor.
///
/// # Panics
/// When a parameter is out of range; [`SimulationConfig::check`] tells beforehand.
pub fn simulate(config: &SimulationConfig, rng: &mut impl Rng) -> SimulationResult {
    if let Err(error) = config.check() {
        panic!("{error}");
    }
    let posterior = config.posterior();
    let repetitions: Vec<Repetition> = (0..config.repetitions)
        .map(|_| Repetition::run(config, &posterior, rng))
        .collect();
    let summaries = Theta::ALL
        .iter()
        .enumerate()
        .map(|(index, &theta)| {
            let errors: Vec<f64> = repetitions
                .iter()
                .map(|repetition| repetition.squared_errors[index])
                .collect();
            ThetaSummary {
                theta,
                mean: mean(repetitions.iter().map(|repetition| repetition.means[index])),
                mean_squared_error: mean(errors.iter().copied()),
                std_dev: std_dev(&errors),
            }
        })
        .collect();
    let mean_supervised = mean(repetitions.iter().map(|repetition| repetition.supervised));
    SimulationResult {
        config: *config,
        mean_supervised,
        summaries,
    }
}

/// Means over the anchors of one repetition, estimators in the order of [`Theta::ALL`].
#[derive(Default)]
struct Repetition {
    supervised: f64,
    means: [f64; Theta::ALL.len()],
    squared_errors: [f64; Theta::ALL.len()],
}

impl Repetition {
    fn run(config: &SimulationConfig, posterior: &Posterior, rng: &mut impl Rng) -> Self {
        let mut repetition = Self::default();
        let share = 1.0 / config.num_anchors as f64;
        for _ in 0..config.num_anchors {
            let anchor = Anchor::draw(config, rng);
            let truth = supervised(&anchor.scores, &anchor.is_false_negative).expect("anchors have a true negative");
            repetition.supervised += share * truth;
            for (index, estimate) in estimates(&anchor, config, posterior).into_iter().enumerate() {
                repetition.means[index] += share * estimate;
                repetition.squared_errors[index] += share * (estimate - truth).powi(2);
            }
        }
        repetition
    }
}

/// Every estimate of one anchor, in the order of [`Theta::ALL`].
fn estimates(anchor: &Anchor, config: &SimulationConfig, posterior: &Posterior) -> [f64; Theta::ALL.len()] {
    let Anchor { scores, positives, .. } = anchor;
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
