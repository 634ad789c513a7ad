//! What false negatives do to the InfoNCE loss as an estimate of mutual information: appendix A.1 of the BCL paper, with its Figure 6.
//!
//! With negatives from `p_d = τ- p- + τ+ p+`, the best score of a sample is `x = m p+/p_d`, and so `p+/p- = x τ- / (m - x τ+)` (Eq. 20). The curve has a pole at
//! `x = m/τ+`. As `p_d >= τ+ p+`, no sample has a score beyond the pole: below it the ratio rises with the score, and the branch beyond belongs to no density.
//!
//! The loss bounds mutual information from below, `I >= log(N + 1) - L` (van den Oord et al., 2018). For C classes of equal size, samples of a class being all
//! alike, the best loss is known: `E log(1 + K)`, where K of N negatives are false, `K ~ Binomial(N, 1/C)`, and `I = log C`.

use super::drawing::{Csv, Drawing};
use bcl_report::chart::{Axis, LineChart, Reference, Series, Shape};

/// Priors of the curves of Figure 6.
const PRIORS: [f64; 3] = [0.1, 0.25, 0.5];
/// Steps of each branch, and how near they come to the pole and how far beyond.
const STEPS: u32 = 200;
const NEAREST: f64 = 0.02;
const FARTHEST: f64 = 2.0;
/// Ratios beyond this much are not drawn.
const TALLEST: f64 = 20.0;

/// Numbers of classes and of negatives of the bound.
const CLASSES: [usize; 4] = [2, 10, 30, 100];
const NEGATIVES: u32 = 14;

/// Figure 6, and the bound on mutual information.
pub(super) fn drawings() -> Vec<Drawing> {
    vec![ratios(), information()]
}

/// `p+/p-` of a sample with score `x = m p+/p_d`.
fn ratio(score: f64, m: f64, tau_plus: f64) -> f64 {
    score * (1.0 - tau_plus) / (m - score * tau_plus)
}

/// Both branches for m = 1, each over the score in units of the pole.
fn ratios() -> Drawing {
    let mut csv = Csv::new("tau_plus,score,ratio");
    let mut series = Vec::new();
    for (colour, tau_plus) in PRIORS.into_iter().enumerate() {
        let branch = |from: f64, to: f64| {
            (0..=STEPS).map(move |step| {
                let share = from + (to - from) * f64::from(step) / f64::from(STEPS);
                (share, ratio(share / tau_plus, 1.0, tau_plus))
            })
        };
        let below: Vec<(f64, f64)> = branch(0.0, 1.0 - NEAREST).collect();
        let beyond: Vec<(f64, f64)> = branch(1.0 + NEAREST, FARTHEST).collect();
        for (share, ratio) in below.iter().chain(&beyond) {
            csv.row(&[&tau_plus, &(share / tau_plus), ratio]);
        }
        let shown = |points: Vec<(f64, f64)>| points.into_iter().filter(|(_, ratio)| ratio.abs() <= TALLEST);
        series.push(
            Series::new(format!("τ+ = {tau_plus}"), Shape::Line, shown(below))
                .with_colour(colour)
                .with_dash(0),
        );
        let name = format!("τ+ = {tau_plus}, beyond the pole");
        series.push(Series::new(name, Shape::Line, shown(beyond)).with_colour(colour).with_dash(2));
    }
    let chart = LineChart::new(
        "Density ratio p+/p- by the best score of the InfoNCE loss",
        "The ratio rises up to a pole at score m/τ+. No sample has a higher score, so the negative branch is beyond reach.",
        Axis::linear("score in units of the pole, x τ+ / m"),
        Axis::linear("p+/p-"),
    );
    Drawing::new("figure6", chart.with_series(series), csv)
}

/// The mean of `log(1 + K)`, `K ~ Binomial(trials, probability)`, in nats.
fn mean_log_one_plus(trials: usize, probability: f64) -> f64 {
    let (log_hit, log_miss) = (probability.ln(), (-probability).ln_1p());
    // log C(trials, hits), one factor at a time.
    let mut log_ways = 0.0;
    let mut mean = 0.0;
    for hits in 0..=trials {
        let misses = (trials - hits) as f64;
        mean += (log_ways + hits as f64 * log_hit + misses * log_miss).exp() * (hits as f64).ln_1p();
        log_ways += misses.ln() - (hits as f64 + 1.0).ln();
    }
    mean
}

/// The bound over N, with false negatives and without.
fn information() -> Drawing {
    let mut csv = Csv::new("classes,negatives,bound,information");
    let sizes = || (0..=NEGATIVES).map(|power| 1usize << power);
    let of_classes = CLASSES.into_iter().enumerate().map(|(colour, classes)| {
        let information = (classes as f64).ln();
        let points: Vec<(f64, f64)> = sizes()
            .map(|negatives| {
                let loss = mean_log_one_plus(negatives, 1.0 / classes as f64);
                (negatives as f64, (negatives as f64).ln_1p() - loss)
            })
            .collect();
        for (negatives, bound) in &points {
            csv.row(&[&classes, negatives, bound, &information]);
        }
        Series::new(format!("C = {classes}"), Shape::Line, points).with_colour(colour)
    });
    let mut series: Vec<Series> = of_classes.collect();
    let largest = sizes().map(|negatives| (negatives as f64, (negatives as f64).ln_1p()));
    series.push(
        Series::new("true negatives only", Shape::Line, largest.filter(|(_, bound)| *bound <= 6.0))
            .with_colour(7)
            .with_dash(1),
    );
    let chart = LineChart::new(
        "The bound of InfoNCE on mutual information, C classes",
        "With false negatives among them, more negatives bring log(N + 1) - L to the mutual information log C and not beyond. With true negatives only it is \
         log(N + 1), which bounds nothing.",
        Axis::logarithmic("negatives N", 2),
        Axis::linear("log(N + 1) - L, nats").including(0.0),
    );
    let references = CLASSES.map(|classes| Reference {
        name: format!("log {classes}"),
        value: (classes as f64).ln(),
    });
    Drawing::new("information", chart.with_series(series).with_references(references), csv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_the_densities_behind_the_score() {
        for (positive, negative, tau_plus, m) in [(0.4, 0.3, 0.1, 1.0), (2.0, 0.01, 0.5, 3.0)] {
            let mixture = tau_plus * positive + (1.0 - tau_plus) * negative;
            let score: f64 = m * positive / mixture;
            assert!(score < m / tau_plus);
            assert!((ratio(score, m, tau_plus) - positive / negative).abs() < 1e-9 * positive / negative);
        }
        assert!(ratio(1.01, 0.1, 0.1) < 0.0);
    }

    #[test]
    fn the_mean_is_that_of_the_binomial_distribution() {
        let by_hand = 0.5 * 0.5 * 3f64.ln() + 2.0 * 0.5 * 0.5 * 2f64.ln();
        assert!((mean_log_one_plus(2, 0.5) - by_hand).abs() < 1e-12);
        // Concentrated around its mean.
        assert!((mean_log_one_plus(16_384, 0.1) - 1639.4f64.ln()).abs() < 1e-3);
    }

    #[test]
    fn the_bound_rises_to_the_information_and_not_beyond() {
        for classes in CLASSES {
            let bound = |negatives: usize| (negatives as f64).ln_1p() - mean_log_one_plus(negatives, 1.0 / classes as f64);
            let bounds: Vec<f64> = (0..=NEGATIVES).map(|power| bound(1 << power)).collect();
            let information = (classes as f64).ln();
            assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]), "{classes}: {bounds:?}");
            assert!(bounds.iter().all(|bound| *bound < information));
            assert!(information - bounds[NEGATIVES as usize] < 0.01, "{classes}: {bounds:?}");
        }
    }
}
