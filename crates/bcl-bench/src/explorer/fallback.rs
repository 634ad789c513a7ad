//! The charts of the page for the parameters it begins with, for readers without scripts.

use super::Settings;
use bcl_core::posterior::Posterior;
use bcl_explorer::{Weighing, class_density, loss, negative_mass};
use bcl_report::chart::{Axis, LineChart, Series, Shape};

/// Points of each curve.
const POINTS: u32 = 200;

/// The weight over the rank.
pub(super) fn weights(posterior: &Posterior) -> String {
    let weight = curve(0.0, 1.0, |ecdf| posterior.omega(ecdf));
    drawn(
        "omega",
        "Weight of a negative over its rank",
        Axis::linear("rank / N"),
        Axis::linear("weight ω").including(0.0),
        [Series::new("ω", Shape::Line, weight).with_colour(0)],
    )
}

/// The probability of a true negative over the rank.
pub(super) fn probabilities(posterior: &Posterior) -> String {
    let probability = curve(0.0, 1.0, |ecdf| posterior.p_true_negative(ecdf));
    drawn(
        "probability",
        "Probability of a true negative over the rank",
        Axis::linear("rank / N"),
        Axis::linear("P(TN | x)").including(0.0).including(1.0),
        [Series::new("P(TN | x)", Shape::Line, probability).with_colour(2)],
    )
}

/// The densities of both classes and of unlabelled scores.
pub(super) fn densities(posterior: &Posterior) -> String {
    let of = |lowest: f64| curve(-4.0, 4.0, |score| class_density(score, lowest));
    drawn(
        "densities",
        "Densities of scores",
        Axis::linear("score x, φ = N(0, 1)"),
        Axis::linear("density").including(0.0),
        [
            Series::new("true negatives", Shape::Line, of(posterior.alpha())).with_colour(2),
            Series::new("false negatives", Shape::Line, of(1.0 - posterior.alpha())).with_colour(1),
            Series::new("unlabelled", Shape::Line, of(posterior.unlabelled().lowest))
                .with_colour(7)
                .with_dash(1),
        ],
    )
}

/// The loss over the similarity of one negative, for three positives.
pub(super) fn losses(settings: &Settings, posterior: &Posterior) -> String {
    let of = |positive: f64| {
        curve(-1.0, 1.0, |negative| {
            let mass = negative_mass(
                posterior,
                settings.num_negatives,
                settings.temperature,
                negative,
                Weighing::Bayesian,
            );
            loss(mass, positive, settings.temperature)
        })
    };
    drawn(
        "loss",
        "Bayesian loss over the similarity of one negative",
        Axis::linear("similarity of one negative"),
        Axis::linear("loss, nats"),
        [0.0, 0.5, 1.0].into_iter().zip(0..).map(|(positive, colour)| {
            Series::new(format!("positive at {positive}"), Shape::Line, of(positive)).with_colour(colour)
        }),
    )
}

fn drawn(id: &str, title: &str, x: Axis, y: Axis, series: impl IntoIterator<Item = Series>) -> String {
    LineChart::new(title, title, x, y)
        .with_series(series)
        .to_svg(id)
        .unwrap_or_default()
}

fn curve(low: f64, high: f64, value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=POINTS)
        .map(|step| low + (high - low) * f64::from(step) / f64::from(POINTS))
        .map(|x| (x, value(x)))
        .collect()
}
