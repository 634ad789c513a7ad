//! The two scenarios of positive-unlabelled learning, and the bound of its Theorem 1 (Contrastive Learning with Negative Sampling Correction).
//!
//! With class prior α and label frequency c, the share of positives among the unlabelled samples depends on where these come from:
//!
//! | scenario | unlabelled samples | share of positives |
//! | --- | --- | --- |
//! | single training set | what is left after a share c of the positives was labelled and removed | `α(1 - c) / (1 - αc)` |
//! | case-control | the whole population | `α` |
//!
//! The debiased mean with `τ+ = α` is unbiased in the second scenario, the positive-unlabelled mean in the first; they are the same formula with
//! different priors. An in-batch loss removes one sample of a class, so there c is about one over the size of the class, and the scenarios agree.
//!
//! Theorem 1 compares the loss with N true negatives, `L_ideal = E log(1 + Σ x_i / x+)`, with the loss of their expectation μ,
//! `L_De = E log(1 + N μ / x+)`. The logarithm is concave, so `L_ideal <= L_De`; and as neither sum is below N times the smallest score,
//!
//! ```text
//! 0 <= L_De - L_ideal <= E|Σ x_i - N μ| / (N x_min) <= (x_max / x_min - 1) / (2 √N)
//! ```
//!
//! This is the printed `(e² - 1) / (2 √N)` for cosines at t = 1, and `(e^(2/t) - 1) / (2 √N)` for cosines at any t.

use super::drawing::{Csv, Drawing, bound, cells, columns, text};
use super::repeat::{interval, repeat};
use bcl_core::simulation::{Anchor, SimulationConfig, bayesian, biased, debiased, hidden_prior, positive_unlabelled};
use bcl_data::Seed;
use bcl_report::{
    Column, Interval, Table,
    chart::{Axis, LineChart, Reference, Series, Shape},
};
use serde::Serialize;
use std::fmt;

const LABEL_FREQUENCIES: [f64; 6] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9];
const NUM_NEGATIVES: [usize; 4] = [16, 64, 256, 1024];
/// The estimators that are compared, in the order of their biases.
const ESTIMATORS: [&str; 4] = ["biased", "debiased", "positive_unlabelled", "bayesian_normalised"];
/// Their colours in charts, the same as in other figures.
const COLOURS: [usize; 4] = [1, 2, 4, 0];

/// Where unlabelled samples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scenario {
    /// From what is left of the set of which positives were labelled.
    SingleTrainingSet,
    /// From the whole population.
    CaseControl,
}

impl Scenario {
    const ALL: [Self; 2] = [Self::SingleTrainingSet, Self::CaseControl];

    fn name(self) -> &'static str {
        match self {
            Self::SingleTrainingSet => "single training set",
            Self::CaseControl => "case-control",
        }
    }

    /// The share of positives that are missing among the unlabelled samples.
    fn removed(self, label_frequency: f64) -> f64 {
        match self {
            Self::SingleTrainingSet => label_frequency,
            Self::CaseControl => 0.0,
        }
    }
}

/// The biases of the estimators in one scenario.
#[derive(Debug, Clone, Serialize)]
pub struct ScenarioBias {
    /// Where unlabelled samples come from.
    pub scenario: Scenario,
    /// Label frequency c.
    pub label_frequency: f64,
    /// The expected share of positives among the unlabelled samples.
    pub share_of_positives: f64,
    /// The mean of each estimate over the expected score of a true negative, less 1: biased, debiased and Bayesian with `τ+ = α`, and
    /// positive-unlabelled with α and c, in the order biased, debiased, positive-unlabelled, Bayesian (normalised).
    pub biases: [Interval; 4],
}

/// The loss of the expectation less the loss with N true negatives, beside its bound, in nats.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct TheoremOne {
    /// Temperature t.
    pub temperature: f64,
    /// Number of negatives N.
    pub num_negatives: usize,
    /// The mean over anchors.
    pub difference: Interval,
    /// The bound at this temperature, which the paper prints for t = 1.
    pub bound: f64,
}

/// Both parts.
#[derive(Debug, Clone, Serialize)]
pub struct Unlabelled {
    /// Ordered by scenario, then by label frequency.
    pub scenarios: Vec<ScenarioBias>,
    /// Ordered by temperature, then by N.
    pub theorem: Vec<TheoremOne>,
}

/// Measures both parts at t = 1, for which the paper states them, and Theorem 1 also at the temperature of `base`.
pub(super) fn unlabelled(seed: Seed, base: &SimulationConfig) -> Unlabelled {
    let of_paper = SimulationConfig {
        temperature: 1.0,
        ..*base
    };
    Unlabelled {
        scenarios: scenarios(seed, &of_paper),
        theorem: theorem(seed, [&of_paper, base]),
    }
}

fn scenarios(seed: Seed, config: &SimulationConfig) -> Vec<ScenarioBias> {
    let each = Scenario::ALL
        .into_iter()
        .flat_map(|scenario| LABEL_FREQUENCIES.map(|frequency| (scenario, frequency)));
    each.map(|(scenario, label_frequency)| {
        let removed = scenario.removed(label_frequency);
        let topic = format!("{}, {label_frequency}", scenario.name());
        let drawn = repeat(seed, &topic, &[*config], |config, rng| {
            let mut means = [0.0; ESTIMATORS.len()];
            let mut truth = 0.0;
            for _ in 0..config.num_anchors {
                let anchor = Anchor::draw_after_labelling(config, removed, rng);
                truth += anchor.expected_true_negative(config);
                for (mean, estimate) in means.iter_mut().zip(estimates(&anchor, config, label_frequency)) {
                    *mean += estimate;
                }
            }
            means.map(|mean| mean / truth - 1.0)
        });
        ScenarioBias {
            scenario,
            label_frequency,
            share_of_positives: hidden_prior(config.tau_plus, removed),
            biases: std::array::from_fn(|index| interval(&drawn[0], |biases| biases[index])),
        }
    })
    .collect()
}

fn estimates(anchor: &Anchor, config: &SimulationConfig, label_frequency: f64) -> [f64; ESTIMATORS.len()] {
    let Anchor { scores, positives, .. } = anchor;
    let (prior, floor) = (config.tau_plus, config.smallest_score());
    [
        biased(scores),
        debiased(scores, positives, prior, floor),
        positive_unlabelled(scores, positives, prior, label_frequency, floor),
        bayesian(scores, &config.posterior()).normalised,
    ]
}

fn theorem(seed: Seed, configs: [&SimulationConfig; 2]) -> Vec<TheoremOne> {
    let mut temperatures: Vec<&SimulationConfig> = configs.into();
    temperatures.dedup();
    let points: Vec<SimulationConfig> = temperatures
        .into_iter()
        .flat_map(|config| {
            NUM_NEGATIVES.map(|num_negatives| SimulationConfig {
                num_negatives,
                tau_plus: 0.0,
                ..*config
            })
        })
        .collect();
    let drawn = repeat(seed, "theorem 1", &points, |point, rng| {
        let difference = |anchor: &Anchor| {
            let per_mean = point.num_negatives as f64 / anchor.positives[0];
            let loss = |mean: f64| (per_mean * mean).ln_1p();
            let (expected, drawn) = (anchor.expected_true_negative(point), biased(&anchor.scores));
            // The tangent at the expectation, whose own expectation is 0, takes most of the noise away.
            let tangent = per_mean * (drawn - expected) / (1.0 + per_mean * expected);
            loss(expected) - loss(drawn) + tangent
        };
        let each = (0..point.num_anchors).map(|_| difference(&Anchor::draw(point, rng)));
        each.sum::<f64>() / point.num_anchors as f64
    });
    let found = |(point, repetitions): (&SimulationConfig, &Vec<f64>)| TheoremOne {
        temperature: point.temperature,
        num_negatives: point.num_negatives,
        difference: interval(repetitions, |mean| *mean),
        bound: (2.0 * point.largest_similarity() / point.temperature).exp_m1() / (2.0 * (point.num_negatives as f64).sqrt()),
    };
    points.iter().zip(&drawn).map(found).collect()
}

impl Unlabelled {
    /// The biases over c, a figure per scenario.
    pub(super) fn drawings(&self) -> Vec<Drawing> {
        Scenario::ALL.map(|scenario| self.drawing(scenario)).into()
    }

    fn drawing(&self, scenario: Scenario) -> Drawing {
        let of = || self.scenarios.iter().filter(move |found| found.scenario == scenario);
        let mut csv = Csv::new(&format!("label_frequency,share_of_positives,estimator,{}", columns("bias")));
        for found in of() {
            for (name, bias) in ESTIMATORS.iter().zip(&found.biases) {
                csv.row(&[&found.label_frequency, &found.share_of_positives, name, &cells(bias)]);
            }
        }
        let series = ESTIMATORS.iter().zip(COLOURS).enumerate().map(|(index, (name, colour))| {
            let points = of().map(|found| (found.label_frequency, found.biases[index]));
            Series::new(name.replace('_', " "), Shape::MarkedLine, points).with_colour(colour)
        });
        let chart = LineChart::new(
            format!("Bias of the mean of negatives, {}", scenario.name()),
            "The mean of each estimate over the expected score of a true negative, less 1, with 95 % intervals over repetitions.",
            Axis::linear("label frequency c"),
            Axis::linear("relative bias"),
        );
        let unbiased = Reference {
            name: "no bias".to_owned(),
            value: 0.0,
        };
        let name = format!("unlabelled-{}", scenario.name().replace(' ', "-"));
        Drawing::new(name, chart.with_series(series).with_references([unbiased]), csv)
    }
}

/// The biases as a table, in per cent.
pub(super) struct Biases<'a>(pub(super) &'a Unlabelled);

impl fmt::Display for Biases<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |found: &ScenarioBias| {
            let biases = found.biases.iter().map(|bias| {
                let half_width = bias.half_width.map(|half_width| format!(" ± {:.2}", 100.0 * half_width));
                format!("{:+.2}{}", 100.0 * bias.mean, half_width.unwrap_or_default())
            });
            let first = [
                found.scenario.name().to_owned(),
                found.label_frequency.to_string(),
                format!("{:.3}", found.share_of_positives),
            ];
            first.into_iter().chain(biases).collect::<Vec<String>>()
        };
        let names = ["c", "positives among unlabelled"].into_iter().chain(ESTIMATORS);
        let columns = [Column::text("scenario")].into_iter().chain(names.map(Column::number));
        Table::new(columns, self.0.scenarios.iter().map(row)).fmt(f)
    }
}

/// Theorem 1 as a table.
pub(super) struct Theorem<'a>(pub(super) &'a Unlabelled);

impl fmt::Display for Theorem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |found: &TheoremOne| {
            [
                found.temperature.to_string(),
                found.num_negatives.to_string(),
                text(&found.difference),
                bound(found.bound, 4),
            ]
        };
        let columns = ["t", "N", "L_De - L_ideal, nats", "bound"].map(Column::number);
        Table::new(columns, self.0.theorem.iter().map(row)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> SimulationConfig {
        SimulationConfig {
            num_anchors: 500,
            num_negatives: 128,
            tau_plus: 0.3,
            temperature: 1.0,
            ..SimulationConfig::default()
        }
    }

    /// How many standard errors a bias is from 0.
    fn deviation(bias: &Interval) -> f64 {
        // A half-width of a 95 % interval over 10 repetitions is 2.262 standard errors.
        bias.mean / (bias.half_width.expect("there are repetitions") / 2.262)
    }

    #[test]
    fn each_correction_is_unbiased_in_its_scenario_and_the_test_would_see_the_bias_of_the_other() {
        let found = scenarios(Seed(3), &config());
        assert_eq!(found.len(), 12);
        for point in found.iter().filter(|point| point.label_frequency >= 0.25) {
            let [biased, debiased, corrected, _] = [0, 1, 2, 3].map(|index| deviation(&point.biases[index]));
            let (unbiased, other) = match point.scenario {
                Scenario::SingleTrainingSet => (corrected, debiased),
                Scenario::CaseControl => (debiased, corrected),
            };
            assert!(unbiased.abs() < 4.0, "{point:?}");
            assert!(other.abs() > 12.0 && biased > 12.0, "{point:?}");
        }
    }

    #[test]
    fn without_labels_the_scenarios_are_one() {
        let [single, control] = Scenario::ALL.map(|scenario| scenario.removed(0.0));
        assert_eq!(single, control);
        let anchor = Anchor::draw(&config(), &mut Seed(1).rng());
        let [_, debiased, corrected, _] = estimates(&anchor, &config(), 0.0);
        assert_eq!(debiased, corrected);
    }

    #[test]
    fn the_corrected_mean_has_the_coefficients_of_equation_8() {
        let (alpha, c) = (0.3, 0.4);
        let found = positive_unlabelled(&[1.0, 3.0], &[0.5, 1.5], alpha, c, 0.0);
        let expected = (1.0 - alpha * c) / (1.0 - alpha) * 2.0 - alpha * (1.0 - c) / (1.0 - alpha) * 1.0;
        assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
    }

    #[test]
    fn the_loss_of_the_expectation_is_larger_by_less_than_the_bound_and_falls_faster() {
        let base = SimulationConfig {
            temperature: 0.5,
            ..config()
        };
        let found = theorem(Seed(2), [&config(), &base]);
        assert_eq!(found.len(), 2 * NUM_NEGATIVES.len());
        for point in &found {
            assert!(point.difference.mean < point.bound, "{point:?}");
        }
        assert!(
            (found[0].bound - (2f64.exp() - 1.0) / 8.0).abs() < 1e-12,
            "the paper's at N = 16"
        );
        for pair in found.chunks(NUM_NEGATIVES.len()).flat_map(|points| points.windows(2)) {
            assert!(
                pair[1].difference.bounds().unwrap().0 > 0.0,
                "the logarithm is concave: {pair:?}"
            );
            // Each time there are four times as many negatives: a quarter of the difference, and half of the bound.
            assert!(pair[1].difference.mean < 0.35 * pair[0].difference.mean, "{pair:?}");
        }
    }
}
