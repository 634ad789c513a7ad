//! Figure 3 of the augmentation paper, as its appendix F defines it: the learning curves of a noisy objective.
//!
//! `F = e^s1 / (e^s1 + e^s2)` stands for the contrast of a positive with the sum of its negatives. It is maximised from `s1 = s2 = 0` less
//! `0.1 (s1² + s2²)`, and each step sees `e^s1 / (e^s1 + e^s2 + δ)`, δ ~ N(0, 0.09). Three ways:
//!
//! | method | gradient of |
//! | --- | --- |
//! | SGD on F | the noisy F |
//! | SGD on log F | the logarithm of the noisy F |
//! | augmentation | `s1 - u (e^s1 + e^s2 + δ)`, with `u ~ Gamma(1, e^s1 + e^s2 + δ)` drawn before each step |
//!
//! The paper compares the first and the last and finds that they *converge to different solutions*. The augmented objective is a bound of the
//! *logarithm* of F, and the penalty outweighs F sooner than log F; so the second tells whether the logarithm or the augmentation makes the
//! difference. The paper gives neither step size nor number of steps; here they are 0.05 and 400.

use super::drawing::{Csv, Drawing, cells, columns};
use super::noise::exponential;
use super::repeat::interval;
use bcl_data::{Seed, seed::Xoshiro256PlusPlus};
use bcl_report::{
    Column, Interval, Table,
    chart::{Axis, LineChart, Series, Shape},
};
use rand::RngExt;
use serde::Serialize;
use std::{f64::consts::PI, fmt};

const RUNS: u64 = 100;
const STEPS: usize = 400;
const STEP_SIZE: f64 = 0.05;
/// Variance of the noise in the denominator.
const VARIANCE: f64 = 0.09;
const PENALTY: f64 = 0.1;
/// A denominator that the noise makes smaller is raised to this.
const LEAST: f64 = 0.05;
/// Steps between points of a curve.
const EVERY: usize = 10;

/// How the objective is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Stochastic gradients of F.
    Sgd,
    /// Stochastic gradients of log F.
    SgdOfLogarithm,
    /// Stochastic gradients of the augmented objective.
    Augmentation,
}

impl Method {
    const ALL: [Self; 3] = [Self::Sgd, Self::SgdOfLogarithm, Self::Augmentation];

    fn name(self) -> &'static str {
        match self {
            Self::Sgd => "SGD on F",
            Self::SgdOfLogarithm => "SGD on log F",
            Self::Augmentation => "augmentation",
        }
    }

    /// The gradient of the objective without its penalty.
    fn gradient(self, [s1, s2]: [f64; 2], noise: f64, random: impl FnOnce() -> f64) -> [f64; 2] {
        let (positive, negatives) = (s1.exp(), s2.exp());
        let denominator = (positive + negatives + noise).max(LEAST);
        let share = positive / denominator;
        match self {
            Self::Sgd => [share * (1.0 - share), -share * negatives / denominator],
            Self::SgdOfLogarithm => [1.0 - share, -negatives / denominator],
            Self::Augmentation => {
                let u = random() / denominator;
                [1.0 - u * positive, -u * negatives]
            }
        }
    }
}

/// The curve of one method.
#[derive(Debug, Clone, Serialize)]
pub struct ToyCurve {
    /// The method.
    pub method: Method,
    /// Pairs of step and F without noise, over runs.
    pub points: Vec<(usize, Interval)>,
    /// F where the method ends without noise.
    pub noiseless: f64,
}

/// The curves of all methods.
#[derive(Debug, Clone, Serialize)]
pub struct Toy {
    /// One curve per method.
    pub curves: Vec<ToyCurve>,
}

/// Runs every method 100 times, with the same noise for all.
pub(super) fn toy(seed: Seed) -> Toy {
    let seed = seed.named("toy");
    let curve = |method: Method| {
        let runs: Vec<Vec<f64>> = (0..RUNS).map(|run| learn(method, Some(&mut seed.index(run).rng()))).collect();
        let places = (0..=STEPS).step_by(EVERY);
        ToyCurve {
            method,
            points: places.map(|step| (step, interval(&runs, |run| run[step]))).collect(),
            noiseless: learn(method, None)[STEPS],
        }
    };
    Toy {
        curves: Method::ALL.map(curve).into(),
    }
}

/// F before each step and after the last.
fn learn(method: Method, mut random: Option<&mut Xoshiro256PlusPlus>) -> Vec<f64> {
    let mut at = [0.0_f64; 2];
    let mut curve = vec![objective(at)];
    for _ in 0..STEPS {
        // Both are drawn in every step, so that all methods see the same noise. Without noise, u is its mean.
        let (noise, exponential) = match &mut random {
            Some(random) => (VARIANCE.sqrt() * normal(random), exponential(random)),
            None => (0.0, 1.0),
        };
        let gradient = method.gradient(at, noise, || exponential);
        for (value, slope) in at.iter_mut().zip(gradient) {
            *value += STEP_SIZE * (slope - 2.0 * PENALTY * *value);
        }
        curve.push(objective(at));
    }
    curve
}

fn objective([s1, s2]: [f64; 2]) -> f64 {
    1.0 / (1.0 + (s2 - s1).exp())
}

/// A draw of N(0, 1), by the method of Box and Muller.
pub(super) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (2.0 * PI * random.random::<f64>()).cos()
}

impl Toy {
    /// The learning curves, with intervals over runs.
    pub(super) fn drawing(&self) -> Drawing {
        let mut csv = Csv::new(&format!("method,step,{}", columns("objective")));
        for curve in &self.curves {
            for (step, value) in &curve.points {
                csv.row(&[&curve.method.name().replace(' ', "_"), step, &cells(value)]);
            }
        }
        let series = self.curves.iter().enumerate().map(|(colour, curve)| {
            let points = curve.points.iter().map(|(step, value)| (*step as f64, *value));
            Series::new(curve.method.name(), Shape::MarkedLine, points).with_colour(colour)
        });
        let chart = LineChart::new(
            "The objective F over steps, with noise in the denominator",
            format!(
                "Means of {RUNS} runs with 95 % intervals, for stochastic gradients of F, of log F, and of the augmented objective."
            ),
            Axis::linear("step"),
            Axis::linear("F without noise"),
        );
        Drawing::new("bda-figure3", chart.with_series(series), csv)
    }
}

impl fmt::Display for Toy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |curve: &ToyCurve| {
            let last = curve.points.last().map(|(_, value)| value.to_string());
            let noiseless = format!("{:.4}", curve.noiseless);
            [curve.method.name().to_owned(), last.unwrap_or_default(), noiseless]
        };
        let columns = Column::list(["method"], ["F, mean of 100 runs", "without noise"]);
        Table::new(columns, self.curves.iter().map(row)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_their_objectives() {
        let at = [0.3, -0.4];
        let (noise, u) = (0.2, 0.7);
        let denominator = |[s1, s2]: [f64; 2]| s1.exp() + s2.exp() + noise;
        let drawn = u / denominator(at);
        let value = |method: Method, at: [f64; 2]| match method {
            Method::Sgd => at[0].exp() / denominator(at),
            Method::SgdOfLogarithm => at[0] - denominator(at).ln(),
            // The draw does not change with the place.
            Method::Augmentation => at[0] - drawn * denominator(at),
        };
        for method in Method::ALL {
            let gradient = method.gradient(at, noise, || u);
            for index in 0..2 {
                let moved = |by: f64| {
                    let mut moved = at;
                    moved[index] += by;
                    value(method, moved)
                };
                let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[index] - expected).abs() < 1e-8, "{method:?}, {index}");
            }
        }
    }

    #[test]
    fn the_logarithm_makes_the_difference_and_not_the_augmentation() {
        let found = toy(Seed(1));
        let last = |index: usize| found.curves[index].points.last().unwrap().1.mean;
        let (of_f, of_log, augmented) = (last(0), last(1), last(2));
        assert!(augmented > of_f + 0.015, "the paper's finding: {augmented} against {of_f}");
        assert!((augmented - of_log).abs() < 0.02, "{augmented} and {of_log}");
        let [of_f, of_log, augmented] = [0, 1, 2].map(|index| found.curves[index].noiseless);
        assert!(
            (of_log - augmented).abs() < 1e-12,
            "without noise both have the same gradient"
        );
        assert!(of_f < of_log, "{of_f} and {of_log}");
    }
}
