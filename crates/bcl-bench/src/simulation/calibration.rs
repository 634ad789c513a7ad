//! Lemma 3.2: is P(TN|x) the share of true negatives among the negatives with that probability?

use super::drawing::{Csv, Drawing, cells, columns, text};
use super::repeat::{interval, repeat};
use bcl_core::posterior::ecdf;
use bcl_core::simulation::{Anchor, SimulationConfig};
use bcl_data::Seed;
use bcl_report::Column;
use bcl_report::Interval;
use bcl_report::chart::{Axis, LineChart, Point, Series, Shape};
use serde::Serialize;
use std::fmt;

const ALPHAS: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 1.0];
const TAU_PLUS: [f64; 3] = [0.1, 0.3, 0.5];
/// A row of this many negatives approximates an infinite row.
const MANY_NEGATIVES: usize = 1024;
const BINS: usize = 10;
/// Bins with fewer negatives are not drawn: their share is mostly chance.
const LEAST_DRAWN: f64 = 100.0;

/// The negatives whose posterior probability is in one tenth of `[0, 1]`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Bin {
    /// Their mean predicted probability of being true negatives.
    pub predicted: f64,
    /// The observed share of true negatives, over repetitions.
    pub observed: Interval,
    /// Number of negatives.
    pub count: f64,
}

/// The calibration for one combination of parameters.
#[derive(Debug, Clone, Serialize)]
pub struct Calibration {
    /// Separation α of the drawn scores and of the posterior.
    pub alpha: f64,
    /// Class prior τ+ of the drawn scores and of the posterior.
    pub tau_plus: f64,
    /// Number of unlabelled scores per anchor.
    pub num_negatives: usize,
    /// Mean distance between predicted and observed shares, weighted by the number of negatives per bin.
    pub expected_error: Interval,
    /// Non-empty bins, ascending.
    pub bins: Vec<Bin>,
}

/// Sums over the negatives in a bin, in one repetition.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    predicted: f64,
    true_negatives: f64,
}

/// The calibration for several α and τ+, with the N of `base` and with a much larger one.
pub fn calibrations(seed: Seed, base: &SimulationConfig) -> Vec<Calibration> {
    let mut sizes = vec![base.num_negatives, MANY_NEGATIVES];
    sizes.dedup();
    let scores = base.num_anchors * base.num_negatives;
    let points: Vec<SimulationConfig> = TAU_PLUS
        .iter()
        .flat_map(|&tau_plus| ALPHAS.map(|alpha| (tau_plus, alpha)))
        .flat_map(|(tau_plus, alpha)| {
            sizes.iter().map(move |&num_negatives| SimulationConfig {
                alpha,
                tau_plus,
                num_negatives,
                // The total number of scores does not depend on the length of a row.
                num_anchors: scores.div_ceil(num_negatives),
                // P(TN|x) does not depend on it, and 1 is no value where alpha is 1.
                beta: 0.5,
                ..*base
            })
        })
        .collect();
    let drawn = repeat(seed, "calibration", &points, |point, rng| {
        let mut sums = [Sums::default(); BINS];
        for _ in 0..point.num_anchors {
            add(&mut sums, &Anchor::draw(point, rng), point);
        }
        sums
    });
    points
        .iter()
        .zip(&drawn)
        .map(|(point, repetitions)| Calibration::of(point, repetitions))
        .collect()
}

fn add(sums: &mut [Sums; BINS], anchor: &Anchor, config: &SimulationConfig) {
    let posterior = config.posterior();
    for (ecdf, is_false) in ecdf(&anchor.scores).into_iter().zip(&anchor.is_false_negative) {
        let predicted = posterior.p_true_negative(ecdf);
        let bin = &mut sums[((predicted * BINS as f64) as usize).min(BINS - 1)];
        bin.count += 1.0;
        bin.predicted += predicted;
        bin.true_negatives += f64::from(u8::from(!is_false));
    }
}

impl Calibration {
    fn of(point: &SimulationConfig, repetitions: &[[Sums; BINS]]) -> Self {
        let error = |sums: &[Sums; BINS]| {
            let total: f64 = sums.iter().map(|bin| bin.count).sum();
            sums.iter().map(|bin| (bin.predicted - bin.true_negatives).abs()).sum::<f64>() / total
        };
        let bin = |index: usize| {
            let filled: Vec<Sums> = repetitions
                .iter()
                .map(|sums| sums[index])
                .filter(|bin| bin.count > 0.0)
                .collect();
            let count: f64 = filled.iter().map(|bin| bin.count).sum();
            (count > 0.0).then(|| Bin {
                predicted: filled.iter().map(|bin| bin.predicted).sum::<f64>() / count,
                observed: interval(&filled, |bin| bin.true_negatives / bin.count),
                count,
            })
        };
        Self {
            alpha: point.alpha,
            tau_plus: point.tau_plus,
            num_negatives: point.num_negatives,
            expected_error: interval(repetitions, error),
            bins: (0..BINS).filter_map(bin).collect(),
        }
    }
}

/// Predicted against observed shares: one figure per τ+, with the N of the first calibration.
pub(super) fn drawings(calibrations: &[Calibration]) -> Vec<Drawing> {
    TAU_PLUS.iter().map(|&tau_plus| drawing(calibrations, tau_plus)).collect()
}

fn drawing(calibrations: &[Calibration], tau_plus: f64) -> Drawing {
    let observed = columns("observed");
    let mut csv = Csv::new(&format!("alpha,tau_plus,num_negatives,predicted,{observed},count"));
    let ideal = Series::new("ideal", Shape::Line, [(0.0, 0.0), (1.0, 1.0)]);
    let mut series = vec![ideal.with_colour(7).with_dash(2)];
    let num_negatives = calibrations.first().map_or(0, |first| first.num_negatives);
    for calibration in calibrations.iter().filter(|calibration| calibration.tau_plus == tau_plus) {
        let Calibration {
            alpha,
            num_negatives: of,
            ..
        } = calibration;
        for bin in &calibration.bins {
            csv.row(&[alpha, &tau_plus, of, &bin.predicted, &cells(&bin.observed), &bin.count]);
        }
        if calibration.num_negatives == num_negatives {
            let drawn = calibration.bins.iter().filter(|bin| bin.count >= LEAST_DRAWN);
            let points = drawn.map(|bin| Point::from((bin.predicted, bin.observed)));
            let place = ALPHAS.iter().position(|other| other == alpha).unwrap_or_default();
            series.push(Series::new(format!("α = {alpha}"), Shape::MarkedLine, points).with_colour(place));
        }
    }
    let chart = LineChart::new(
        format!("Calibration of P(TN|x), τ+ = {tau_plus}, N = {num_negatives}"),
        "The share of true negatives over the probability that the posterior gives them; the diagonal is ideal.",
        Axis::linear("predicted P(TN|x)").with_range(0.0, 1.0),
        Axis::linear("observed share").with_range(0.0, 1.0),
    );
    let chart = chart.with_size(420.0, 360.0).with_series(series);
    Drawing::new(format!("calibration-tau_plus-{tau_plus:.1}"), chart, csv)
}

/// The table of expected errors.
pub(super) struct Table<'a>(pub(super) &'a [Calibration]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |calibration: &Calibration| {
            [
                calibration.tau_plus.to_string(),
                calibration.alpha.to_string(),
                calibration.num_negatives.to_string(),
                text(&calibration.expected_error),
            ]
        };
        let columns = ["tau_plus", "alpha", "N", "expected calibration error"].map(Column::number);
        bcl_report::Table::new(columns, self.0.iter().map(row)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> SimulationConfig {
        SimulationConfig {
            num_anchors: 200,
            repetitions: 2,
            ..SimulationConfig::default()
        }
    }

    #[test]
    fn the_posterior_is_calibrated_and_more_so_with_more_negatives() {
        let found = calibrations(Seed(1), &small());
        assert_eq!(found.len(), 2 * ALPHAS.len() * TAU_PLUS.len());
        for pair in found.chunks(2) {
            let errors = [pair[0].expected_error.mean, pair[1].expected_error.mean];
            assert!(
                errors[0] < 0.03 && errors[1] < 0.015,
                "{}, {}: {errors:?}",
                pair[0].alpha,
                pair[0].tau_plus
            );
        }
    }

    #[test]
    fn a_posterior_that_ignores_the_truth_is_not_calibrated() {
        let point = small();
        let mut rng = Seed(2).rng();
        let mut sums = [Sums::default(); BINS];
        let drawn = SimulationConfig { tau_plus: 0.5, ..point };
        for _ in 0..50 {
            add(&mut sums, &Anchor::draw(&drawn, &mut rng), &point);
        }
        assert!(Calibration::of(&point, &[sums]).expected_error.mean > 0.3);
    }
}
