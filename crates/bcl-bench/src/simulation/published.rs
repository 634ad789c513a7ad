//! Figures 3, 5, 7, 9 and 10 of *Bayesian Self-Supervised Contrastive Learning* (arXiv 2301.11673), with the settings of their captions and
//! text. The paper does not print the values of α that it draws.

use super::Parameter;
use super::classes::{ALPHAS, NAMES, drawn_and_formula};
use super::drawing::{Csv, Drawing};
use super::sweep::{Sweep, sweeps};
use bcl_core::{
    posterior::Posterior,
    simulation::{ClassSampler, SimulationConfig},
};
use bcl_data::Seed;
use bcl_report::chart::{Axis, LineChart, Series, Shape};
use rand::RngExt;
use std::f64::consts::PI;

/// Half the width of the interval of similarities in Figures 9 and 10: a = -0.5, b = 0.5.
const HALF_WIDTH: f64 = 0.5;
/// Settings of Figure 5.
const TEMPERATURE: f64 = 2.0;
const NUM_NEGATIVES: usize = 20_000;
/// Class prior of Figures 5 and 7.
const TAU_PLUS: f64 = 0.1;
/// Bins of Figure 5, from 0 to `LARGEST`.
const BINS: usize = 60;
const LARGEST: f64 = 5.0;

/// Figure 3: `φ_TN = 2 φ (α (1 - Φ) + (1 - α) Φ)` and `φ_FN`, with α and 1 - α exchanged, for φ = N(0, 1).
pub(super) fn densities() -> Vec<Drawing> {
    let of_alpha = |alpha: f64| {
        let mut csv = Csv::new("score,phi,phi_tn,phi_fn");
        let mut lines = [const { Vec::new() }; 3];
        for step in -80..=80 {
            let score = f64::from(step) / 20.0;
            let values = [
                normal_density(score),
                class_density(score, alpha),
                class_density(score, 1.0 - alpha),
            ];
            csv.row(&[&score, &values[0], &values[1], &values[2]]);
            for (line, value) in lines.iter_mut().zip(values) {
                line.push((score, value));
            }
        }
        let [base, true_negatives, false_negatives] = lines;
        let series = [
            Series::new(NAMES[0], Shape::Line, true_negatives).with_colour(0),
            Series::new(NAMES[1], Shape::Line, false_negatives).with_colour(1),
            Series::new("φ", Shape::Line, base).with_colour(7).with_dash(2),
        ];
        let chart = LineChart::new(
            format!("Densities of true and false negatives, φ = N(0, 1), α = {alpha}"),
            "Densities of the scores of true and of false negatives, and the base density.",
            Axis::linear("score"),
            Axis::linear("density").including(0.0),
        );
        Drawing::new(format!("figure3-alpha-{alpha:.1}"), chart.with_series(series), csv)
    };
    ALPHAS.map(of_alpha).into()
}

/// Figure 5: `exp(x / t)` of drawn true and false negatives, beside their densities.
pub(super) fn scores(seed: Seed) -> Vec<Drawing> {
    let of_alpha = |alpha: f64| {
        let mut random = seed.named("figure5").rng();
        let sampler = ClassSampler::new(alpha);
        let width = LARGEST / BINS as f64;
        let mut counts = [[0.0; BINS]; 2];
        let mut totals = [0.0; 2];
        for _ in 0..NUM_NEGATIVES {
            let is_false = random.random_bool(TAU_PLUS);
            let quantile = if is_false {
                sampler.false_negative(&mut random)
            } else {
                sampler.true_negative(&mut random)
            };
            let score = (normal_quantile(quantile) / TEMPERATURE).exp();
            totals[usize::from(is_false)] += 1.0;
            if let Some(count) = counts[usize::from(is_false)].get_mut((score / width) as usize) {
                *count += 1.0;
            }
        }
        let mut csv = Csv::new("exp_score,class,drawn,formula");
        let mut series = Vec::new();
        let places: Vec<f64> = (0..BINS).map(|bin| (bin as f64 + 0.5) * width).collect();
        for (class, lowest) in [alpha, 1.0 - alpha].into_iter().enumerate() {
            // The density of y = exp(x / t) equals the density of x at t ln y, times t / y.
            let formula = places
                .iter()
                .map(|y| class_density(TEMPERATURE * y.ln(), lowest) * TEMPERATURE / y);
            let drawn = counts[class].map(|count| count / totals[class] / width);
            series.extend(drawn_and_formula(
                class,
                &places,
                [&drawn, &formula.collect::<Vec<_>>()],
                &mut csv,
            ));
        }
        let chart = LineChart::new(
            format!("exp(x / t) of {NUM_NEGATIVES} scores, φ = N(0, 1), t = {TEMPERATURE}, α = {alpha}"),
            "Densities of drawn scores of true and of false negatives as points, and by formula as lines.",
            Axis::linear("exp(x / t)"),
            Axis::linear("density").including(0.0),
        );
        Drawing::new(format!("figure5-alpha-{alpha:.1}"), chart.with_series(series), csv)
    };
    ALPHAS.map(of_alpha).into()
}

/// Figure 7: Φ over `Φ_UN`, for several α at one class prior, and for several class priors at one α.
pub(super) fn transformations() -> Vec<Drawing> {
    const PRIORS: [f64; 4] = [0.01, 0.1, 0.3, 0.5];
    let drawing = |name: &str, fixed: &str, curves: &[(String, f64, f64)]| {
        let mut csv = Csv::new("alpha,tau_plus,phi_un,phi");
        let mut series = Vec::new();
        for (label, alpha, tau_plus) in curves {
            let posterior = Posterior::new(*alpha, 0.5, *tau_plus).expect("the fixed values are within their ranges");
            let points = (0..=50).map(|step| f64::from(step) / 50.0);
            let points: Vec<(f64, f64)> = points.map(|unlabelled| (unlabelled, posterior.phi(unlabelled))).collect();
            for (unlabelled, base) in &points {
                csv.row(&[alpha, tau_plus, unlabelled, base]);
            }
            series.push(Series::new(label, Shape::Line, points));
        }
        let chart = LineChart::new(
            format!("The base distribution function Φ over the distribution function of unlabelled scores, {fixed}"),
            "The diagonal is the case in which both are equal.",
            Axis::linear("Φ of unlabelled scores").with_range(0.0, 1.0),
            Axis::linear("base Φ").with_range(0.0, 1.0),
        );
        Drawing::new(name, chart.with_series(series), csv)
    };
    let over_alpha = ALPHAS.map(|alpha| (format!("α = {alpha}"), alpha, TAU_PLUS));
    let over_prior = PRIORS.map(|tau_plus| (format!("τ+ = {tau_plus}"), 0.9, tau_plus));
    vec![
        drawing("figure7-alpha", &format!("τ+ = {TAU_PLUS}"), &over_alpha),
        drawing("figure7-tau_plus", "α = 0.9", &over_prior),
    ]
}

/// Figures 9 and 10: means over γ (a) and α (b), and squared errors over every parameter.
pub(super) fn estimators(seed: Seed, base: &SimulationConfig) -> (Vec<Drawing>, Vec<Drawing>) {
    let base = SimulationConfig {
        half_width: base.half_width.or(Some(HALF_WIDTH.min(base.temperature.powi(-2)))),
        ..*base
    };
    let found = sweeps(seed, &base);
    let renamed = |name: String, drawing: Drawing| Drawing { name, ..drawing };
    let of = |parameter: Parameter| found.iter().find(move |sweep| sweep.parameter == parameter);
    let means = [("figure9a", Parameter::Gamma), ("figure9b", Parameter::Alpha)];
    let means = means
        .into_iter()
        .filter_map(|(name, parameter)| Some(renamed(format!("{name}-{}", parameter.name()), of(parameter)?.means())));
    let errors = found
        .iter()
        .map(|sweep: &Sweep| renamed(format!("figure10-{}", sweep.parameter.name()), sweep.errors()));
    (means.collect(), errors.collect())
}

/// The density of a class for φ = N(0, 1): a member of it is the smaller of two draws from φ with probability `lowest`, else the larger.
fn class_density(score: f64, lowest: f64) -> f64 {
    let below = normal_distribution(score);
    2.0 * normal_density(score) * (lowest * (1.0 - below) + (1.0 - lowest) * below)
}

fn normal_density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

/// Φ of N(0, 1), by the series `1/2 + φ(x) (x + x³/3 + x⁵/15 + …)` (Marsaglia, 2004), which is exact to 1e-14 for |x| up to 6.
fn normal_distribution(x: f64) -> f64 {
    if x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum) = (x, x);
    let mut odd = 1.0;
    loop {
        odd += 2.0;
        term *= x * x / odd;
        let next = sum + term;
        if next == sum {
            return 0.5 + sum * normal_density(x);
        }
        sum = next;
    }
}

/// The inverse of [`normal_distribution`], by bisection.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if normal_distribution(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests;
