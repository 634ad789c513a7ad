//! The numerical experiment: its distributions against their definitions, its estimators against limits, and its figures.

use bcl_core::{
    auc::auc,
    posterior::Posterior,
    simulation::{
        Anchor, ClassSampler, Proposal, Repetition, SimulationConfig, SimulationResult, Theta, bayesian, biased, debiased, hard,
        simulate, supervised,
    },
};
use proptest::prelude::*;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn run(config: SimulationConfig) -> SimulationResult {
    simulate(&config, &mut rng(2301))
}

fn error(config: SimulationConfig, theta: Theta) -> f64 {
    run(config).of(theta).mean_squared_error
}

fn assert_within(actual: f64, expected: f64, share: f64, what: &str) {
    assert!(
        (actual / expected - 1.0).abs() < share,
        "{what}: {actual:.1}, expected {expected} within {share}"
    );
}

/// The largest distance between an empirical and a given distribution function on `[0, 1]` (Kolmogorov-Smirnov).
fn distance(mut draws: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    draws
        .iter()
        .enumerate()
        .map(|(index, &draw)| {
            let expected = distribution(draw);
            (expected - index as f64 / count)
                .abs()
                .max((expected - (index + 1) as f64 / count).abs())
        })
        // `f64::max` would drop NaN.
        .fold(0.0, |most, next| if next.is_nan() { f64::INFINITY } else { most.max(next) })
}

/// The distance of 10,000 draws exceeds this once in about 10,000 runs.
const FAR: f64 = 0.022;
const DRAWS: usize = 10_000;

fn smaller_of_two(quantile: f64) -> f64 {
    2.0 * quantile - quantile * quantile
}

fn larger_of_two(quantile: f64) -> f64 {
    quantile * quantile
}

#[test]
fn both_samplers_draw_from_the_class_distributions() {
    for alpha in [0.5, 0.7, 0.9, 1.0] {
        let (sampler, mut rng) = (ClassSampler::new(alpha), rng(1));
        let true_negative = |quantile| alpha * smaller_of_two(quantile) + (1.0 - alpha) * larger_of_two(quantile);
        let false_negative = |quantile| (1.0 - alpha) * smaller_of_two(quantile) + alpha * larger_of_two(quantile);
        let mut draws = |draw: &dyn Fn(&mut Xoshiro256PlusPlus) -> f64| (0..DRAWS).map(|_| draw(&mut rng)).collect::<Vec<_>>();

        assert!(distance(draws(&|rng| sampler.true_negative(rng)), true_negative) < FAR);
        assert!(distance(draws(&|rng| sampler.true_negative_by_rejection(rng)), true_negative) < FAR);
        assert!(distance(draws(&|rng| sampler.false_negative(rng)), false_negative) < FAR);
        assert!(distance(draws(&|rng| sampler.false_negative_by_rejection(rng)), false_negative) < FAR);
    }
}

#[test]
fn unlabelled_scores_follow_the_distribution_that_the_posterior_inverts() {
    let config = SimulationConfig {
        num_negatives: DRAWS,
        gamma: 0.0,
        alpha: 0.8,
        tau_plus: 0.3,
        ..SimulationConfig::default()
    };
    let anchor = Anchor::draw(&config, &mut rng(2));
    let largest = config.largest_similarity();
    let quantiles = anchor
        .scores
        .iter()
        .map(|score| f64::midpoint(score.ln() * config.temperature / largest, 1.0))
        .collect();

    let posterior = config.posterior();
    // F at a quantile, by bisection of Φ(F), which should be its inverse.
    let distribution = |quantile: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if posterior.phi(middle) < quantile {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    assert!(distance(quantiles, distribution) < FAR);
}

#[test]
fn truth_agrees_with_the_posterior_probability() {
    let config = SimulationConfig {
        num_negatives: 40_000,
        tau_plus: 0.3,
        ..SimulationConfig::default()
    };
    let anchor = Anchor::draw(&config, &mut rng(3));
    let mut labelled: Vec<(f64, bool)> = anchor.scores.into_iter().zip(anchor.is_false_negative).collect();
    labelled.sort_by(|left, right| left.0.total_cmp(&right.0));
    for (index, tenth) in labelled.chunks(4000).enumerate() {
        let observed = tenth.iter().filter(|(_, is_false)| !is_false).count() as f64 / 4000.0;
        let ecdf = (index as f64 + 0.5) / 10.0;
        let expected = config.posterior().p_true_negative(ecdf);
        assert!(
            (observed - expected).abs() < 0.03,
            "tenth {index}: {observed}, expected {expected}"
        );
    }
}

#[test]
fn the_auc_of_independent_draws_is_below_alpha() {
    for alpha in [0.5, 0.75, 1.0] {
        let (sampler, mut rng) = (ClassSampler::new(alpha), rng(4));
        let positives: Vec<f64> = (0..DRAWS).map(|_| sampler.false_negative(&mut rng)).collect();
        let negatives: Vec<f64> = (0..DRAWS).map(|_| sampler.true_negative(&mut rng)).collect();
        assert!((auc(&positives, &negatives).unwrap() - (1.0 + 4.0 * alpha) / 6.0).abs() < 0.015);
    }
}

#[test]
fn gamma_bounds_how_much_of_the_interval_an_anchor_lacks() {
    let config = SimulationConfig {
        gamma: 0.1,
        ..SimulationConfig::default()
    };
    let mut rng = rng(5);
    let ends: Vec<Proposal> = (0..1000).map(|_| Proposal::draw(&config, &mut rng)).collect();
    assert!(
        ends.iter()
            .all(|ends| (3.6..=4.0).contains(&ends.high) && (3.6..=4.0).contains(&-ends.low))
    );
    assert!(ends.iter().any(|ends| ends.high < 3.65) && ends.iter().any(|ends| ends.high > 3.95));
    let same = Proposal::draw(&SimulationConfig { gamma: 0.0, ..config }, &mut rng);
    assert_eq!(same, Proposal { low: -4.0, high: 4.0 });
}

#[test]
fn anchors_always_have_a_true_negative() {
    let config = SimulationConfig {
        num_negatives: 1,
        tau_plus: 0.9,
        ..SimulationConfig::default()
    };
    let mut rng = rng(6);
    assert!((0..100).all(|_| Anchor::draw(&config, &mut rng).is_false_negative == [false]));
}

#[test]
fn the_default_setting_gives_the_reference_errors() {
    let result = run(SimulationConfig::default());
    for (theta, reference) in [
        (Theta::Biased, 719.0),
        (Theta::Debiased, 601.0),
        (Theta::BayesianNormalised, 259.0),
    ] {
        assert_within(result.of(theta).mean_squared_error, reference, 0.08, theta.name());
    }
}

#[test]
fn the_error_over_alpha_is_the_reference_one() {
    for (alpha, reference) in [(0.5, 217.0), (0.6, 242.0), (0.7, 269.0), (0.8, 276.0), (0.9, 259.0)] {
        let config = SimulationConfig {
            alpha,
            ..SimulationConfig::default()
        };
        assert_within(
            error(config, Theta::BayesianNormalised),
            reference,
            0.08,
            &format!("alpha {alpha}"),
        );
    }
}

#[test]
fn the_error_falls_as_one_over_the_number_of_negatives() {
    let reference = [(16, 1051.0), (32, 527.0), (64, 259.0), (128, 131.0), (256, 64.0), (512, 32.0)];
    for (num_negatives, reference) in reference {
        let config = SimulationConfig {
            num_negatives,
            ..SimulationConfig::default()
        };
        assert_within(
            error(config, Theta::BayesianNormalised),
            reference,
            0.1,
            &format!("{num_negatives} negatives"),
        );
    }
}

#[test]
fn hardness_beyond_one_half_misses_the_supervised_mean() {
    let result = run(SimulationConfig {
        beta: 0.7,
        ..SimulationConfig::default()
    });
    let bayesian = result.of(Theta::BayesianNormalised).mean_squared_error;
    assert_within(bayesian, 1062.0, 0.08, "beta 0.7");
    assert!(bayesian > result.of(Theta::Debiased).mean_squared_error);
}

#[test]
fn normalised_the_bayesian_error_is_the_lowest_over_a_grid() {
    let mut lost_by_the_plain_form = Vec::new();
    for temperature in [0.5, 0.7, 1.0, 2.0] {
        for num_negatives in [16, 64, 256] {
            for alpha in [0.5, 0.7, 0.9] {
                for tau_plus in [0.05, 0.1, 0.2] {
                    let grid = SimulationConfig {
                        temperature,
                        num_negatives,
                        alpha,
                        tau_plus,
                        ..SimulationConfig::default()
                    };
                    let result = run(SimulationConfig {
                        num_anchors: 1000,
                        repetitions: 1,
                        ..grid
                    });
                    let error = |theta| result.of(theta).mean_squared_error;
                    let others = error(Theta::Biased).min(error(Theta::Debiased)) * (1.0 + 1e-9);
                    assert!(error(Theta::BayesianNormalised) <= others, "{grid:?}");
                    if error(Theta::Bayesian) > others {
                        lost_by_the_plain_form.push((temperature, num_negatives));
                    }
                }
            }
        }
    }
    // Without division by the mean weight, its error of O(1/N) shows for scores that hardly differ.
    assert!(!lost_by_the_plain_form.is_empty());
    assert!(
        lost_by_the_plain_form
            .iter()
            .all(|&(temperature, n)| temperature >= 1.0 && n < 256),
        "{lost_by_the_plain_form:?}"
    );
}

#[test]
fn an_uninformed_encoder_makes_the_bayesian_estimate_the_biased_one() {
    let result = run(SimulationConfig {
        alpha: 0.5,
        num_anchors: 100,
        repetitions: 2,
        ..SimulationConfig::default()
    });
    let (bayesian, biased) = (result.of(Theta::Bayesian), result.of(Theta::Biased));
    assert!((bayesian.mean_squared_error / biased.mean_squared_error - 1.0).abs() < 1e-9);
    assert!((bayesian.mean / biased.mean - 1.0).abs() < 1e-9);
}

#[test]
fn on_average_the_bayesian_estimate_is_the_supervised_mean_and_the_biased_one_is_not() {
    let result = run(SimulationConfig {
        num_negatives: 256,
        ..SimulationConfig::default()
    });
    assert_within(result.of(Theta::Bayesian).mean, result.mean_supervised, 0.01, "Bayesian");
    assert!(result.of(Theta::Biased).mean > 1.1 * result.mean_supervised);
}

#[test]
fn one_seed_gives_one_result_and_another_seed_another() {
    let config = SimulationConfig {
        num_anchors: 20,
        repetitions: 2,
        ..SimulationConfig::default()
    };
    assert_eq!(simulate(&config, &mut rng(1)), simulate(&config, &mut rng(1)));
    assert_ne!(simulate(&config, &mut rng(1)), simulate(&config, &mut rng(2)));
}

#[test]
fn repetitions_drawn_one_by_one_are_those_of_the_whole() {
    let config = SimulationConfig {
        num_anchors: 20,
        repetitions: 3,
        ..SimulationConfig::default()
    };
    let mut rng = rng(4);
    let repetitions = [(); 3].map(|()| Repetition::draw(&config, &mut rng));
    let whole = simulate(&config, &mut self::rng(4));
    assert_eq!(SimulationResult::of_repetitions(&config, &repetitions), whole);
    let theta = Theta::Debiased;
    let mean = repetitions
        .map(|repetition| repetition.mean_squared_error(theta))
        .iter()
        .sum::<f64>()
        / 3.0;
    assert!((mean / whole.of(theta).mean_squared_error - 1.0).abs() < 1e-12);
}

#[test]
fn summaries_are_found_by_their_estimator() {
    let result = run(SimulationConfig {
        num_anchors: 2,
        repetitions: 1,
        ..SimulationConfig::default()
    });
    for theta in Theta::ALL {
        assert_eq!(result.of(theta).theta, theta);
        assert_eq!(result.of(theta).std_dev, 0.0);
        assert_eq!(serde_json::to_string(&theta).unwrap(), format!("\"{}\"", theta.name()));
    }
}

proptest! {
    #[test]
    fn of_constant_scores_every_estimate_but_the_plain_one_is_the_constant(constant in 0.1..10.0, count in 1usize..50, tau_plus in 0.0..0.9) {
        let scores = vec![constant; count];
        let posterior = Posterior::new(0.9, 0.5, tau_plus).unwrap();
        let estimates = [
            biased(&scores),
            debiased(&scores, &[constant], tau_plus, 0.0),
            hard(&scores, &[constant], tau_plus, 0.0, 0.7),
            bayesian(&scores, &posterior).normalised,
        ];
        for estimate in estimates {
            prop_assert!((estimate / constant - 1.0).abs() < 1e-9);
        }
        let plain = bayesian(&scores, &posterior).plain;
        prop_assert!((plain / (posterior.omega(1.0) * constant) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_a_prior_or_hardness_all_estimates_are_the_biased_one(scores in prop::collection::vec(0.1..10.0, 1..20)) {
        let posterior = Posterior::new(0.5, 0.5, 0.0).unwrap();
        let expected = biased(&scores);
        for estimate in [debiased(&scores, &[9.0], 0.0, 0.0), hard(&scores, &[9.0], 0.0, 0.0, 0.0), bayesian(&scores, &posterior).plain] {
            prop_assert!((estimate / expected - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn the_floor_catches_a_mean_that_subtraction_made_negative() {
    assert_eq!(debiased(&[1.0, 1.0], &[100.0], 0.1, 0.25), 0.25);
    assert_eq!(hard(&[1.0, 1.0], &[100.0], 0.1, 0.25, 1.0), 0.25);
}

#[test]
fn hard_weights_prefer_large_scores_and_stay_finite() {
    // weights 1/3 and 1 of the largest: (1·1/3 + 3·1) / (4/3) = 2.5
    assert!((hard(&[1.0, 3.0], &[0.0], 0.0, 0.0, 1.0) - 2.5).abs() < 1e-12);
    assert!((hard(&[1e300, 3e300], &[0.0], 0.0, 0.0, 1.0) / 2.5e300 - 1.0).abs() < 1e-12);
}

#[test]
fn the_supervised_mean_leaves_false_negatives_out() {
    assert_eq!(supervised(&[1.0, 2.0, 6.0], &[false, true, false]), Some(3.5));
    assert_eq!(supervised(&[1.0], &[true]), None);
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let text = |config: SimulationConfig| config.check().unwrap_err().to_string();
    let good = SimulationConfig::default();
    assert!(good.check().is_ok());
    assert_eq!(
        text(SimulationConfig { num_anchors: 0, ..good }),
        "num_anchors is 0, but must be at least 1"
    );
    assert_eq!(
        text(SimulationConfig {
            num_negatives: 0,
            ..good
        }),
        "num_negatives is 0, but must be at least 1"
    );
    assert_eq!(
        text(SimulationConfig {
            num_positives: 0,
            ..good
        }),
        "num_positives is 0, but must be at least 1"
    );
    assert_eq!(
        text(SimulationConfig { repetitions: 0, ..good }),
        "repetitions is 0, but must be at least 1"
    );
    assert_eq!(
        text(SimulationConfig { alpha: 0.4, ..good }),
        "alpha is 0.4, but must be in [0.5, 1]"
    );
    assert_eq!(
        text(SimulationConfig { gamma: 1.0, ..good }),
        "gamma is 1, but must be in [0, 1)"
    );
    assert_eq!(
        text(SimulationConfig { tau_plus: 0.995, ..good }),
        "tau_plus is 0.995, but must be in [0, 0.99]"
    );
    assert_eq!(
        text(SimulationConfig {
            temperature: 0.1,
            ..good
        }),
        "temperature is 0.1, but must be a finite number of at least 0.15"
    );
    assert_eq!(
        text(SimulationConfig { hard_beta: -1.0, ..good }),
        "hard_beta is -1, but must be a finite number of at least 0"
    );
}

#[test]
fn the_smallest_temperature_stays_finite() {
    let config = SimulationConfig {
        temperature: 0.15,
        gamma: 0.0,
        num_anchors: 10,
        repetitions: 1,
        hard_beta: 2.0,
        ..SimulationConfig::default()
    };
    let result = run(config);
    assert!(
        result.summaries.iter().all(|summary| summary.mean_squared_error.is_finite()),
        "{result:?}"
    );
}

#[test]
fn a_configuration_survives_a_round_trip_and_refuses_unknown_keys() {
    let config = SimulationConfig {
        num_negatives: 16,
        ..SimulationConfig::default()
    };
    assert_eq!(
        serde_json::from_str::<SimulationConfig>(&serde_json::to_string(&config).unwrap()).unwrap(),
        config
    );
    assert_eq!(
        serde_json::from_str::<SimulationConfig>("{}").unwrap(),
        SimulationConfig::default()
    );
    assert!(
        serde_json::from_str::<SimulationConfig>(r#"{"anchors": 1}"#)
            .unwrap_err()
            .to_string()
            .contains("anchors")
    );
}

#[test]
fn the_expected_score_of_true_negatives_is_the_mean_of_many() {
    for (alpha, temperature) in [(0.5, 1.0), (0.9, 0.5), (1.0, 0.7)] {
        let config = SimulationConfig {
            alpha,
            temperature,
            num_negatives: 400_000,
            ..SimulationConfig::default()
        };
        let anchor = Anchor::draw(&config, &mut rng(5));
        let ratio = anchor.supervised() / anchor.expected_true_negative(&config);
        assert!((ratio - 1.0).abs() < 0.02, "alpha {alpha}, t {temperature}: {ratio}");
    }
}
