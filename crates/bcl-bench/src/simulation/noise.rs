//! Noise of sampling and of drawing: Bayesian data augmentation compared with `InfoNCE`.
//!
//! With `S = Σ x_i`, the augmented loss `-log x+ + u (x+ + S)`, `u = g / (x+ + S)`, `g ~ Gamma(1)`, has `g` times the gradient
//! of `InfoNCE`'s log-normaliser. The geometric loss `-(3 log x+ - log S - u S)`, `u = g / S`, `g ~ Gamma(2)`, has `1 + g`
//! times the gradient of `log S`, 3 on average. So there are two sources of noise in an anchor's gradient, each relative to its mean:
//!
//! | loss | source |
//! | --- | --- |
//! | all, shown for `InfoNCE` | `S / E S`: the noise of sampling N negatives, which falls as `N^-1/2` |
//! | augmented | its factor `g`, in addition |
//! | geometric | its factor `(1 + g) / 3`, in addition |
//!
//! The noise of `g` does not depend on N. Here `γ = 0`, so that all anchors have the same `E S`, and `x+` is fixed at the mean
//! similarity of positives. What remains is noise.

use super::drawing::{Csv, Drawing, cells, columns, text};
use super::repeat::{interval, repeat};
use bcl_core::simulation::{Anchor, SimulationConfig};
use bcl_data::{Seed, seed::Xoshiro256PlusPlus};
use bcl_report::Column;
use bcl_report::Interval;
use bcl_report::chart::{Axis, LineChart, Series, Shape};
use rand::RngExt;
use serde::Serialize;
use std::fmt;

const NUM_NEGATIVES: [usize; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
/// The numbers of negatives for which the distribution is drawn.
const DRAWN: [usize; 2] = [16, 4096];
const LOSSES: [&str; 3] = ["info_nce", "augmented", "geometric"];
const NAMES: [&str; 3] = ["InfoNCE", "augmented", "geometric"];
/// Number of bins, and range, of the base-2 logarithm of a source relative to its mean.
const BINS: usize = 48;
const RANGE: (f64, f64) = (-6.0, 3.0);

/// The noise of one loss with N negatives.
#[derive(Debug, Clone, Serialize)]
pub struct Noise {
    /// The loss.
    pub loss: &'static str,
    /// Number of negatives N.
    pub num_negatives: usize,
    /// The standard deviation of the source relative to its mean.
    pub source: Interval,
    /// The standard deviation of the loss in nats.
    pub value: Interval,
    /// The density of the base-2 logarithm of the relative source, in bins from 1/64 to 8. Values outside this range are
    /// in no bin.
    pub density: Vec<f64>,
}

/// Sums over anchors.
#[derive(Clone, Default)]
struct Sums {
    count: f64,
    sum: f64,
    square: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.square += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    fn std_dev(&self) -> f64 {
        (self.square / self.count - self.mean().powi(2)).max(0.0).sqrt()
    }
}

/// One repetition: the sources and losses of its anchors, by loss.
#[derive(Default)]
struct Repetition {
    sources: [Vec<f64>; 3],
    values: [Sums; 3],
}

/// The noise of each loss for N from 16 to 4096.
pub fn noise(seed: Seed, base: &SimulationConfig) -> Vec<Noise> {
    let points = NUM_NEGATIVES.map(|num_negatives| SimulationConfig {
        num_negatives,
        gamma: 0.0,
        ..*base
    });
    let drawn = repeat(seed, "noise", &points, Repetition::draw);
    let of = |loss: usize, index: usize| Noise {
        loss: LOSSES[loss],
        num_negatives: NUM_NEGATIVES[index],
        source: interval(&drawn[index], |repetition| repetition.relative_deviation(loss)),
        value: interval(&drawn[index], |repetition| repetition.values[loss].std_dev()),
        density: density(drawn[index].iter().flat_map(|repetition| repetition.relative(loss))),
    };
    let sizes = 0..NUM_NEGATIVES.len();
    let each = (0..LOSSES.len()).flat_map(|loss| sizes.clone().map(move |index| (loss, index)));
    each.map(|(loss, index)| of(loss, index)).collect()
}

impl Repetition {
    fn draw(config: &SimulationConfig, rng: &mut Xoshiro256PlusPlus) -> Self {
        let mut repetition = Self::default();
        // A positive is the smaller of two draws with probability 1 - α, with a mean quantile of 1/3, and otherwise the larger,
        // with 2/3.
        let positive = config.largest_similarity() * (2.0 * (1.0 + config.alpha) / 3.0 - 1.0) / config.temperature;
        for _ in 0..config.num_anchors {
            let sum: f64 = Anchor::draw(config, rng).scores.iter().sum();
            let [one, other] = [(); 2].map(|()| exponential(rng));
            // A sum of two draws of Gamma(1) is a draw of Gamma(2).
            let sources = [sum, one, (1.0 + one + other) / 3.0];
            let values = [
                (sum / positive.exp()).ln_1p(),
                one - positive,
                sum.ln() + one + other - 3.0 * positive,
            ];
            for loss in 0..3 {
                repetition.sources[loss].push(sources[loss]);
                repetition.values[loss].add(values[loss]);
            }
        }
        repetition
    }

    /// Sources relative to their mean.
    fn relative(&self, loss: usize) -> impl Iterator<Item = f64> {
        let mean = self.sums(loss).mean();
        self.sources[loss].iter().map(move |source| source / mean)
    }

    fn relative_deviation(&self, loss: usize) -> f64 {
        let sums = self.sums(loss);
        sums.std_dev() / sums.mean()
    }

    fn sums(&self, loss: usize) -> Sums {
        let mut sums = Sums::default();
        for source in &self.sources[loss] {
            sums.add(*source);
        }
        sums
    }
}

/// A draw of Gamma(1).
pub(super) fn exponential(rng: &mut Xoshiro256PlusPlus) -> f64 {
    // 1 minus a draw from [0, 1) is never 0.
    -(1.0 - rng.random::<f64>()).ln()
}

fn density(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let (low, high) = RANGE;
    let mut counts = vec![0.0; BINS];
    let mut total = 0.0;
    for value in values {
        let share = (value.log2() - low) / (high - low);
        if (0.0..1.0).contains(&share) {
            counts[(share * BINS as f64) as usize] += 1.0;
        }
        total += 1.0;
    }
    counts
        .iter()
        .map(|count| count / total * BINS as f64 / (high - low))
        .collect()
}

/// The relative noise of sources and losses over N, and the distribution of sources for two values of N.
pub(super) fn drawings(found: &[Noise]) -> Vec<Drawing> {
    let (ratio, nats) = ("standard deviation / mean", "standard deviation, nats");
    let sources = over_n(found, "noise", "Noise of sampling (InfoNCE) and of drawing", ratio, |noise| {
        noise.source
    });
    let values = over_n(found, "noise-loss", "Noise of the loss at a fixed positive", nats, |noise| {
        noise.value
    });
    [sources, values]
        .into_iter()
        .chain(DRAWN.map(|n| distribution(found, n)))
        .collect()
}

fn over_n(found: &[Noise], name: &str, title: &str, y: &str, value: impl Fn(&Noise) -> Interval) -> Drawing {
    let mut csv = Csv::new(&format!("loss,num_negatives,{}", columns("std_dev")));
    for noise in found {
        csv.row(&[&noise.loss, &noise.num_negatives, &cells(&value(noise))]);
    }
    let series = LOSSES.iter().zip(NAMES).enumerate().map(|(place, (loss, name))| {
        let own = found.iter().filter(|noise| noise.loss == *loss);
        let points = own.map(|noise| (noise.num_negatives as f64, value(noise)));
        Series::new(name, Shape::MarkedLine, points).with_colour(place)
    });
    let chart = LineChart::new(
        format!("{title} over N"),
        format!("{title} of InfoNCE, the augmented and the geometric loss over the number of negatives."),
        Axis::logarithmic("negatives N", 2),
        Axis::logarithmic(y, 10),
    );
    Drawing::new(name, chart.with_series(series), csv)
}

fn distribution(found: &[Noise], num_negatives: usize) -> Drawing {
    let (low, high) = RANGE;
    let place = |bin: usize| (low + (bin as f64 + 0.5) / BINS as f64 * (high - low)).exp2();
    let mut csv = Csv::new("loss,relative_source,density");
    let mut series = Vec::new();
    for (index, noise) in found.iter().filter(|noise| noise.num_negatives == num_negatives).enumerate() {
        for (bin, density) in noise.density.iter().enumerate() {
            csv.row(&[&noise.loss, &place(bin), density]);
        }
        let points = noise.density.iter().enumerate().map(|(bin, density)| (place(bin), *density));
        series.push(Series::new(NAMES[index], Shape::Line, points));
    }
    let chart = LineChart::new(
        format!("S of InfoNCE and the random factors of the others, relative to their means, N = {num_negatives}"),
        "Densities of S for InfoNCE, and of the factors g and (1 + g) / 3 of the augmented and the geometric loss, relative to their means.",
        Axis::logarithmic("value / its mean", 2),
        Axis::linear("density per doubling").including(0.0),
    );
    Drawing::new(format!("noise-distribution-{num_negatives}"), chart.with_series(series), csv)
}

/// The table of noise for the smallest, a middle and the largest N.
pub(super) struct Table<'a>(pub(super) &'a [Noise]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().filter(|noise| [16, 256, 4096].contains(&noise.num_negatives));
        let row = |noise: &Noise| {
            let [source, value] = [&noise.source, &noise.value].map(text);
            [noise.loss.to_owned(), noise.num_negatives.to_string(), source, value]
        };
        let columns = Column::list(["loss"], ["N", "noise of S or of the factor", "noise of the loss, nats"]);
        bcl_report::Table::new(columns, shown.map(row)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_noise_falls_with_n_and_that_of_the_auxiliary_variable_stays() {
        let config = SimulationConfig {
            num_anchors: 2000,
            repetitions: 2,
            ..SimulationConfig::default()
        };
        let found = noise(Seed(5), &config);
        let deviation = |loss: &str, n: usize| {
            let own = found.iter().find(|noise| noise.loss == loss && noise.num_negatives == n);
            own.map(|noise| noise.source.mean).expect("every loss with every N")
        };
        let fall = deviation("info_nce", 4096) / deviation("info_nce", 16);
        assert!((fall * 16.0 - 1.0).abs() < 0.1, "{fall}");
        // Gamma(1) has a standard deviation equal to its mean; 1 + Gamma(2) has √2 around 3.
        assert!((deviation("augmented", 4096) - 1.0).abs() < 0.06);
        assert!((deviation("geometric", 4096) - 2.0_f64.sqrt() / 3.0).abs() < 0.03);
        for noise in &found {
            let mass = noise.density.iter().sum::<f64>() * (RANGE.1 - RANGE.0) / BINS as f64;
            assert!(
                (0.88..=1.0 + 1e-9).contains(&mass),
                "{} {}: {mass}",
                noise.loss,
                noise.num_negatives
            );
        }
    }
}
