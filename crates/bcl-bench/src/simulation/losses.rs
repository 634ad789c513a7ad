//! Lemmas 3.3 and 3.4: how fast the loss with an estimate approaches the supervised loss of the same anchor.
//!
//! With the anchor's positive `x+`, `L = -log(x+ / (x+ + N θ))`. The lemma bounds the mean of `|L - L_SUP|` by a multiple of
//! `N^-1/2`. The mean of the signed difference (the bias) and its standard deviation over anchors have their own slopes, and
//! the larger of the two determines the absolute difference.

use super::bound::{Bound, Listed, bounds};
use super::drawing::{Csv, Drawing, cells, columns, text};
use super::repeat::{interval, repeat};
use super::sweep::series_of;
use bcl_core::simulation::{Anchor, SimulationConfig, Theta};
use bcl_data::Seed;
use bcl_report::Interval;
use bcl_report::chart::{Axis, LineChart, Series, Shape};
use bcl_report::{Column, Table};
use serde::Serialize;
use std::fmt;

const NUM_NEGATIVES: [usize; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const THETAS: usize = Theta::ALL.len();

/// `L - L_SUP` of one estimator with N negatives, in nats.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Difference {
    /// The estimator.
    pub theta: Theta,
    /// Number of negatives N.
    pub num_negatives: usize,
    /// The mean of `|L - L_SUP|` over anchors.
    pub absolute: Interval,
    /// The mean of `L - L_SUP`.
    pub bias: Interval,
    /// The standard deviation of `L - L_SUP` over anchors.
    pub std_dev: Interval,
}

/// Exponents of N, fitted to each repetition by least squares on logarithms.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Slopes {
    /// The estimator.
    pub theta: Theta,
    /// Exponent of the absolute difference.
    pub absolute: Interval,
    /// Exponent of the absolute bias over all repetitions. The bias of one repetition is lost in noise if N is large.
    pub bias: f64,
    /// Exponent of the standard deviation.
    pub std_dev: Interval,
}

/// All differences and slopes.
#[derive(Debug, Clone, Serialize)]
pub struct Losses {
    /// Ordered by estimator, then by N.
    pub differences: Vec<Difference>,
    /// Ordered by estimator.
    pub slopes: Vec<Slopes>,
    /// The constant of Lemma 3.4, ordered by temperature, then by N.
    pub bounds: Vec<Bound>,
}

/// Means over the anchors of a repetition, for one estimator.
#[derive(Clone, Copy, Default)]
struct Moments {
    absolute: f64,
    mean: f64,
    square: f64,
}

impl Moments {
    fn std_dev(&self) -> f64 {
        (self.square - self.mean.powi(2)).max(0.0).sqrt()
    }
}

type Repetition = [Moments; THETAS];

/// Compares the loss with each estimate to the supervised loss, for N from 16 to 4096 and otherwise as in `base`.
pub fn losses(seed: Seed, base: &SimulationConfig) -> Losses {
    let points = NUM_NEGATIVES.map(|num_negatives| SimulationConfig { num_negatives, ..*base });
    let drawn = repeat(seed, "losses", &points, |point, rng| {
        let mut moments = Repetition::default();
        for _ in 0..point.num_anchors {
            add(&mut moments, &Anchor::draw(point, rng), point);
        }
        moments
    });
    let difference = |theta: Theta, index: usize| {
        let of = |value: fn(&Moments) -> f64| interval(&drawn[index], |repetition| value(&repetition[theta as usize]));
        Difference {
            theta,
            num_negatives: NUM_NEGATIVES[index],
            absolute: of(|moments| moments.absolute),
            bias: of(|moments| moments.mean),
            std_dev: of(Moments::std_dev),
        }
    };
    let sizes = 0..NUM_NEGATIVES.len();
    let each = Theta::ALL
        .iter()
        .flat_map(|&theta| sizes.clone().map(move |index| (theta, index)));
    let differences: Vec<Difference> = each.map(|(theta, index)| difference(theta, index)).collect();
    let slopes = Theta::ALL.map(|theta| slopes(theta, &drawn, &differences)).into();
    Losses {
        differences,
        slopes,
        bounds: bounds(seed, base, &NUM_NEGATIVES),
    }
}

fn add(moments: &mut Repetition, anchor: &Anchor, config: &SimulationConfig) {
    let share = 1.0 / config.num_anchors as f64;
    let negatives = config.num_negatives as f64;
    let loss = |theta: f64| (negatives * theta / anchor.positives[0]).ln_1p();
    let supervised = loss(anchor.supervised());
    for (moments, theta) in moments.iter_mut().zip(anchor.estimates(config, &config.posterior())) {
        let difference = loss(theta) - supervised;
        moments.absolute += share * difference.abs();
        moments.mean += share * difference;
        moments.square += share * difference.powi(2);
    }
}

fn slopes(theta: Theta, drawn: &[Vec<Repetition>], differences: &[Difference]) -> Slopes {
    let fitted = |value: fn(&Moments) -> f64| {
        let repetitions: Vec<usize> = (0..drawn[0].len()).collect();
        interval(&repetitions, |&repetition| {
            let values = drawn.iter().map(|point| value(&point[repetition][theta as usize]));
            slope(NUM_NEGATIVES.iter().map(|&n| n as f64).zip(values))
        })
    };
    let own = differences.iter().filter(|difference| difference.theta == theta);
    Slopes {
        theta,
        absolute: fitted(|moments| moments.absolute),
        bias: slope(own.map(|difference| (difference.num_negatives as f64, difference.bias.mean.abs()))),
        std_dev: fitted(Moments::std_dev),
    }
}

/// The exponent `p` of `value ≈ c · size^p`, by least squares on logarithms; NaN if a value is 0, as for an estimator that is exact.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|(size, value)| (size.ln(), value.ln())).collect();
    let count = logs.len() as f64;
    let mean_size = logs.iter().map(|(size, _)| size).sum::<f64>() / count;
    let mean_value = logs.iter().map(|(_, value)| value).sum::<f64>() / count;
    let covariance: f64 = logs
        .iter()
        .map(|(size, value)| (size - mean_size) * (value - mean_value))
        .sum();
    let variance: f64 = logs.iter().map(|(size, _)| (size - mean_size).powi(2)).sum();
    covariance / variance
}

impl Losses {
    /// Draws the absolute difference of every estimator, and bias and standard deviation of the normalised Bayesian one.
    pub(super) fn drawings(&self) -> Vec<Drawing> {
        let [absolute, bias, std_dev] = ["absolute", "bias", "std_dev"].map(columns);
        let mut csv = Csv::new(&format!("estimator,num_negatives,{absolute},{bias},{std_dev}"));
        for found in &self.differences {
            let [absolute, bias, std_dev] = [&found.absolute, &found.bias, &found.std_dev].map(cells);
            csv.row(&[&found.theta.name(), &found.num_negatives, &absolute, &bias, &std_dev]);
        }
        let absolute = Theta::ALL
            .iter()
            .rev()
            .map(|&theta| series_of(theta, self.of(theta, |found| found.absolute)));
        let theta = Theta::BayesianNormalised;
        let size = |interval: Interval| Interval {
            mean: interval.mean.abs(),
            ..interval
        };
        let part = |name: &str, colour, value: fn(&Difference) -> Interval| {
            let points = self.of(theta, value).map(|(n, found)| (n, size(found)));
            Series::new(name, Shape::MarkedLine, points).with_colour(colour)
        };
        let parts = [
            part("mean |L - L_SUP|", 0, |found| found.absolute),
            part("|bias|", 1, |found| found.bias),
            part("standard deviation", 2, |found| found.std_dev),
        ];
        vec![
            self.drawing("losses", "|L - L_SUP| over N", absolute.collect(), csv.clone()),
            self.drawing(
                "losses-parts",
                "Parts of |L - L_SUP|, Bayesian, normalised",
                parts.into(),
                csv,
            ),
        ]
    }

    fn of(&self, theta: Theta, value: impl Fn(&Difference) -> Interval) -> impl Iterator<Item = (f64, Interval)> {
        let own = self.differences.iter().filter(move |found| found.theta == theta);
        own.map(move |found| (found.num_negatives as f64, value(found)))
    }

    fn drawing(&self, name: &str, title: &str, series: Vec<Series>, csv: Csv) -> Drawing {
        // Starts at the first value of the last estimator, the normalised one.
        let start = self.of(Theta::BayesianNormalised, |found| found.absolute).next();
        let line = start.map(|(first, value)| {
            let points = NUM_NEGATIVES.map(|n| (n as f64, value.mean * (first / n as f64).sqrt()));
            Series::new("∝ N^-1/2", Shape::Line, points).with_colour(7).with_dash(2)
        });
        let chart = LineChart::new(
            format!("{title}, 95 % intervals over repetitions"),
            "How the loss with an estimate approaches the supervised loss as the number of negatives grows.",
            Axis::logarithmic("negatives N", 2),
            Axis::logarithmic("nats", 10),
        );
        Drawing::new(name, chart.with_series(series.into_iter().chain(line)), csv)
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |slopes: &Slopes| {
            let last = self.differences.iter().rfind(|found| found.theta == slopes.theta);
            vec![
                slopes.theta.name().to_owned(),
                text(&slopes.absolute),
                format!("{:.3}", slopes.bias),
                text(&slopes.std_dev),
                last.map_or_else(String::new, |found| text(&found.absolute)),
            ]
        };
        let numbers = [
            "slope of |L - L_SUP|",
            "of the bias",
            "of the standard deviation",
            "at N = 4096, nats",
        ];
        let columns = Column::list(["estimator"], numbers);
        Table::new(columns, self.slopes.iter().map(row)).fmt(f)?;
        writeln!(
            f,
            "\nThe bound τ- sqrt(2π / N) of Lemma 3.4, which the paper proves for t = 1:\n"
        )?;
        Listed(&self.bounds).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bayesian_loss_comes_near_as_the_root_of_n_and_the_biased_one_never() {
        let config = SimulationConfig {
            num_anchors: 60,
            repetitions: 3,
            ..SimulationConfig::default()
        };
        let found = losses(Seed(3), &config);
        let slope = |theta: Theta| found.slopes[theta as usize].absolute.mean;
        assert!(
            (slope(Theta::BayesianNormalised) + 0.5).abs() < 0.1,
            "{}",
            slope(Theta::BayesianNormalised)
        );
        assert!(slope(Theta::Biased) > -0.2, "{}", slope(Theta::Biased));
        assert_eq!(found.drawings().len(), 2);
    }
}
