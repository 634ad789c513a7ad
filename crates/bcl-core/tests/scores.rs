//! Several positives per anchor and weights of negatives mean the same to every estimator.

use bcl_core::{
    ContrastiveObjective, DecoupledLossConfig, Estimator, EstimatorConfig, PositiveUnlabelledFloor, PositiveUnlabelledLossConfig,
    Reduction, RingLossConfig, Scores, SideInformation,
};
use burn::tensor::{Bool, DType, Device, Tensor, TensorData};

const ANCHORS: usize = 4;
const NEGATIVES: usize = 7;

/// How often each negative is repeated; the rows of odd anchors read it backwards.
const TIMES: [usize; NEGATIVES] = [2, 1, 3, 1, 1, 2, 1];

fn wave(count: usize, phase: f64) -> Vec<f64> {
    (0..count).map(|i| (1.7 * i as f64 + phase).sin() * 0.95).collect()
}

fn matrix(values: Vec<f64>, dtype: DType) -> Tensor<2> {
    let columns = values.len() / ANCHORS;
    let device = Device::flex().autodiff();
    Tensor::from_data(TensorData::new(values, [ANCHORS, columns]), (&device, dtype))
}

fn marks(values: Vec<bool>) -> Tensor<2, Bool> {
    let columns = values.len() / ANCHORS;
    Tensor::from_data(TensorData::new(values, [ANCHORS, columns]), &Device::flex().autodiff())
}

fn times(anchor: usize, column: usize) -> usize {
    TIMES[if anchor.is_multiple_of(2) {
        column
    } else {
        NEGATIVES - 1 - column
    }]
}

/// Entries of a matrix with `NEGATIVES` columns, each as often as it is repeated.
fn repeated<T: Copy>(values: &[T]) -> Vec<T> {
    let entry = |i: usize| std::iter::repeat_n(values[i], times(i / NEGATIVES, i % NEGATIVES));
    (0..values.len()).flat_map(entry).collect()
}

/// The other way round: sums over the repetitions of each entry.
fn summed(values: &[f64]) -> Vec<f64> {
    let mut rest = values;
    let mut sum_of = |i: usize| {
        let (entries, after) = rest.split_at(times(i / NEGATIVES, i % NEGATIVES));
        rest = after;
        entries.iter().sum()
    };
    (0..ANCHORS * NEGATIVES).map(&mut sum_of).collect()
}

fn negatives() -> Vec<f64> {
    let mut negatives = wave(ANCHORS * NEGATIVES, 1.1);
    // A tie, whose members share the higher rank.
    negatives[1] = negatives[4];
    negatives
}

fn kept() -> Vec<bool> {
    (0..ANCHORS * NEGATIVES).map(|i| i % 5 != 3).collect()
}

fn same_class() -> Vec<bool> {
    (0..ANCHORS * NEGATIVES).map(|i| i % 4 == 0).collect()
}

fn side(same_class: Vec<bool>, dtype: DType) -> SideInformation {
    let noise: Vec<f64> = wave(ANCHORS, 2.0).iter().map(|x| x.abs() + 0.1).collect();
    let noise = TensorData::from(noise.as_slice());
    SideInformation::none()
        .with_same_class(marks(same_class))
        .with_noise(Tensor::from_data(noise, (&Device::flex().autodiff(), dtype)))
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Losses, weights and gradients of an estimator.
#[derive(Debug, PartialEq)]
struct Computed {
    losses: Vec<f64>,
    weights: Vec<f64>,
    of_positives: Vec<f64>,
    of_negatives: Vec<f64>,
}

fn compute(config: &EstimatorConfig, scores: &Scores, side: &SideInformation) -> Computed {
    let estimator = config.init();
    let mut scores = scores.clone();
    let weights = values(estimator.weights(&scores, side));
    scores.positives = scores.positives.require_grad();
    scores.negatives = scores.negatives.require_grad();
    let leaves = [scores.positives.clone(), scores.negatives.clone()];
    let losses = estimator.losses(scores.into(), side);
    let each = values(losses.clone().values());
    let gradients = losses.reduce(Reduction::Sum).backward();
    let [of_positives, of_negatives] = leaves.map(|leaf| values(leaf.grad(&gradients).expect("a gradient")));
    Computed {
        losses: each,
        weights,
        of_positives,
        of_negatives,
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
            "{what}: {found} is not {expected}"
        );
    }
}

#[test]
fn log_weights_of_zero_change_no_bit() {
    for dtype in [DType::F64, DType::F32] {
        for config in EstimatorConfig::all() {
            for masked in [false, true] {
                let positives = matrix(wave(ANCHORS, 0.3), dtype);
                let mut scores = Scores::multi_positive(positives, matrix(negatives(), dtype)).with_least_similarity(-1.0);
                if masked {
                    scores = scores.with_mask(marks(kept()));
                }
                let side = side(same_class(), dtype);
                let plain = compute(&config, &scores, &side);
                let zeros = Tensor::zeros([1, NEGATIVES], (&scores.negatives.device(), dtype));
                let weighted = compute(&config, &scores.with_log_weights(zeros), &side);
                let what = format!("{}, {dtype:?}, masked: {masked}", config.name());
                // Without mask and log-weights the Bayesian mass is one kernel that looks weights up by rank; otherwise weights come from
                // the eCDF, and the sum has another order.
                if matches!(config, EstimatorConfig::Bayesian(_)) && !masked {
                    let tolerance = if dtype == DType::F64 { 1e-14 } else { 1e-6 };
                    assert_close(&weighted.losses, &plain.losses, tolerance, &what);
                    assert_close(&weighted.weights, &plain.weights, tolerance, &what);
                    assert_close(&weighted.of_positives, &plain.of_positives, tolerance, &what);
                    assert_close(&weighted.of_negatives, &plain.of_negatives, tolerance, &what);
                } else {
                    assert_eq!(weighted, plain, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_log_weight_equals_that_many_negatives() {
    let log_weights = || {
        let entries = (0..ANCHORS * NEGATIVES).map(|i| (times(i / NEGATIVES, i % NEGATIVES) as f64).ln());
        matrix(entries.collect(), DType::F64)
    };
    for config in all_and_normalised() {
        for masked in [false, true] {
            for least in [None, Some(-1.0)] {
                let scores = |negatives: Vec<f64>, kept: Vec<bool>| {
                    let scores =
                        Scores::multi_positive(matrix(wave(2 * ANCHORS, 0.3), DType::F64), matrix(negatives, DType::F64));
                    let scores = scores.with_least_similarity(least);
                    if masked { scores.with_mask(marks(kept)) } else { scores }
                };
                let expected = compute(
                    &config,
                    &scores(repeated(&negatives()), repeated(&kept())),
                    &side(repeated(&same_class()), DType::F64),
                );
                let found = compute(
                    &config,
                    &scores(negatives(), kept()).with_log_weights(log_weights()),
                    &side(same_class(), DType::F64),
                );
                let what = format!("{config:?}, masked: {masked}, least: {least:?}");
                assert_close(&found.losses, &expected.losses, 1e-12, &what);
                assert_close(&found.weights, &summed(&expected.weights), 1e-12, &what);
                assert_close(&found.of_positives, &expected.of_positives, 1e-12, &what);
                assert_close(&found.of_negatives, &summed(&expected.of_negatives), 1e-12, &what);
            }
        }
    }
}

fn all_and_normalised() -> Vec<EstimatorConfig> {
    let bayesian = bcl_core::BayesianLossConfig::new().with_normalised(true);
    let oracle = bcl_core::SupervisedLossConfig::new().with_rescale(true);
    let ring = bcl_core::RingLossConfig::new().with_lower(0.2).with_upper(0.7);
    let mut all = EstimatorConfig::all();
    all.extend([
        EstimatorConfig::Bayesian(bayesian),
        EstimatorConfig::Supervised(oracle),
        EstimatorConfig::Ring(ring),
    ]);
    all
}

#[test]
fn masked_entries_may_have_any_log_weight() {
    let scores = Scores::multi_positive(matrix(wave(ANCHORS, 0.3), DType::F64), matrix(negatives(), DType::F64))
        .with_mask(marks(kept()))
        .with_least_similarity(-1.0);
    let with = |left_out: f64| {
        let entry = |&kept: &bool| if kept { 0.5 } else { left_out };
        scores
            .clone()
            .with_log_weights(matrix(kept().iter().map(entry).collect(), DType::F64))
    };
    for config in all_and_normalised() {
        let side = side(same_class(), DType::F64);
        let expected = compute(&config, &with(0.0), &side);
        for left_out in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(compute(&config, &with(left_out), &side), expected, "{config:?}, {left_out}");
        }
    }
}

/// Estimators whose correction takes the mean of the positives, so that their losses are no mean over them.
fn is_corrected(config: &EstimatorConfig) -> bool {
    ["debiased", "hard", "positive_unlabelled"].contains(&config.name())
}

#[test]
fn the_loss_of_several_positives_is_the_mean_of_their_losses() {
    const POSITIVES: usize = 3;
    // Of the last anchor the first positive counts alone, and what does not count is no number.
    let counted: Vec<bool> = (0..ANCHORS * POSITIVES)
        .map(|i| i / POSITIVES + 1 < ANCHORS || i % POSITIVES == 0)
        .collect();
    for scale in [1.0, 30.0] {
        let similarities: Vec<f64> = wave(ANCHORS * POSITIVES, 0.3).iter().map(|x| x * scale).collect();
        for config in all_and_normalised().into_iter().filter(|config| !is_corrected(config)) {
            for (masked, padded, weighted) in [
                (false, false, false),
                (true, false, true),
                (true, true, false),
                (false, true, true),
            ] {
                let what = format!("{config:?}, masked: {masked}, padded: {padded}, weighted: {weighted}, scale {scale}");
                let carry = |mut scores: Scores| {
                    scores.least_similarity = Some(-scale);
                    if masked {
                        scores = scores.with_mask(marks(kept()));
                    }
                    if weighted {
                        let log_weights = wave(ANCHORS * NEGATIVES, 0.8);
                        scores = scores.with_log_weights(matrix(log_weights, DType::F64));
                    }
                    scores
                };
                let side = side(same_class(), DType::F64);
                let all_negatives: Vec<f64> = negatives().iter().map(|x| x * scale).collect();
                let single = |column: usize| {
                    let positives = (0..ANCHORS).map(|anchor| similarities[anchor * POSITIVES + column]).collect();
                    let scores = Scores::multi_positive(matrix(positives, DType::F64), matrix(all_negatives.clone(), DType::F64));
                    compute(&config, &carry(scores), &side)
                };
                let singles: Vec<Computed> = (0..POSITIVES).map(single).collect();

                let mut positives = similarities.clone();
                if padded {
                    for (positive, counted) in positives.iter_mut().zip(&counted) {
                        if !counted {
                            *positive = f64::NAN;
                        }
                    }
                }
                let mut scores = carry(Scores::multi_positive(
                    matrix(positives, DType::F64),
                    matrix(all_negatives.clone(), DType::F64),
                ));
                if padded {
                    scores = scores.with_positives_mask(marks(counted.clone()));
                }
                let found = compute(&config, &scores, &side);

                let number = |anchor: usize| if padded && anchor + 1 == ANCHORS { 1 } else { POSITIVES };
                let mean = |anchor: usize, of: &dyn Fn(&Computed) -> f64| {
                    singles[..number(anchor)].iter().map(of).sum::<f64>() / number(anchor) as f64
                };
                let losses: Vec<f64> = (0..ANCHORS)
                    .map(|anchor| mean(anchor, &|single| single.losses[anchor]))
                    .collect();
                assert_close(&found.losses, &losses, 1e-11, &what);
                let of_negatives: Vec<f64> = (0..ANCHORS * NEGATIVES)
                    .map(|i| mean(i / NEGATIVES, &|single| single.of_negatives[i]))
                    .collect();
                assert_close(&found.of_negatives, &of_negatives, 1e-11, &what);
                let of_positives: Vec<f64> = (0..ANCHORS * POSITIVES)
                    .map(|i| {
                        let (anchor, column) = (i / POSITIVES, i % POSITIVES);
                        if padded && !counted[i] {
                            0.0
                        } else {
                            singles[column].of_positives[anchor] / number(anchor) as f64
                        }
                    })
                    .collect();
                assert_close(&found.of_positives, &of_positives, 1e-11, &what);
                assert_close(&found.weights, &singles[0].weights, 1e-12, &what);
            }
        }
    }
}

#[test]
fn anchors_without_positives_have_no_loss_and_leave_the_mean() {
    for config in EstimatorConfig::all() {
        let positives = matrix(wave(2 * ANCHORS, 0.3), DType::F64);
        let counted = (0..2 * ANCHORS).map(|i| i / 2 != 1).collect();
        let scores = Scores::multi_positive(positives, matrix(negatives(), DType::F64)).with_positives_mask(marks(counted));
        let losses = config.init().losses(scores.into(), &side(same_class(), DType::F64));
        assert_eq!(
            values(losses.num_counted().expect("a mask")),
            [ANCHORS as f64 - 1.0],
            "{}",
            config.name()
        );
        let each = values(losses.clone().values());
        assert_eq!(each[1], 0.0, "{}", config.name());
        let mean = each.iter().sum::<f64>() / (ANCHORS as f64 - 1.0);
        assert_close(&values(losses.reduce(Reduction::Mean)), &[mean], 1e-12, config.name());
    }
}

#[test]
fn positives_far_apart_have_finite_gradients_in_f32() {
    for config in EstimatorConfig::all() {
        for scale in [1e-30, 1.0, 1e3, 1e6] {
            let row = [-1.0, 1.0, 0.0].map(|x| x * scale);
            let positives = matrix(row.repeat(ANCHORS), DType::F32);
            let scaled = negatives().iter().map(|x| x * scale).collect();
            let scores = Scores::multi_positive(positives, matrix(scaled, DType::F32));
            let found = compute(&config, &scores, &side(same_class(), DType::F32));
            let all = [found.losses, found.of_positives, found.of_negatives].concat();
            assert!(
                all.iter().all(|value| value.is_finite()),
                "{} at scale {scale}: {all:?}",
                config.name()
            );
        }
    }
}

#[test]
fn gradients_of_several_positives_and_weighted_negatives_match_finite_differences() {
    const STEP: f64 = 1e-6;
    let positives = wave(2 * ANCHORS, 0.3);
    for config in all_and_normalised() {
        // The noise is constant in the gradient although the rate that it is drawn with is not, and so are the weights of ADNCE and
        // ProGCL.
        let has_constant_weights = matches!(config, EstimatorConfig::Adnce(_) | EstimatorConfig::ProGcl(_));
        if config.init().requirements().gamma_shape.is_some() || has_constant_weights {
            continue;
        }
        let side = side(same_class(), DType::F64);
        let scores = |positives: Vec<f64>, negatives: Vec<f64>| {
            Scores::multi_positive(matrix(positives, DType::F64), matrix(negatives, DType::F64))
                .with_log_weights(matrix(wave(ANCHORS * NEGATIVES, 0.8), DType::F64))
                .with_mask(marks(kept()))
        };
        let total = |positives: Vec<f64>, negatives: Vec<f64>| {
            let loss = config
                .init()
                .forward_with(scores(positives, negatives), &side, Reduction::Sum);
            values(loss)[0]
        };
        let nudged = |values: &[f64], i: usize, by: f64| {
            let mut nudged = values.to_vec();
            nudged[i] += by;
            nudged
        };
        let found = compute(&config, &scores(positives.clone(), negatives()), &side);
        for (i, analytic) in found.of_positives.iter().enumerate() {
            let at = |by| total(nudged(&positives, i, by), negatives());
            let numeric = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!(
                (analytic - numeric).abs() < 1e-6,
                "{config:?}: positive {i}: {analytic} against {numeric}"
            );
        }
        for (i, analytic) in found.of_negatives.iter().enumerate() {
            // A nudge would break the tie.
            if i == 1 || i == 4 {
                continue;
            }
            let at = |by| total(positives.clone(), nudged(&negatives(), i, by));
            let numeric = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!(
                (analytic - numeric).abs() < 1e-6,
                "{config:?}: negative {i}: {analytic} against {numeric}"
            );
        }
    }
}

#[test]
#[should_panic(expected = "log-weights have shape [2, 7], but must have the shape of the negatives, [4, 7], or one row of it")]
fn log_weights_of_another_shape_are_refused() {
    let device = Device::flex();
    Scores::new(Tensor::zeros([4], &device), Tensor::zeros([4, 7], &device)).with_log_weights(Tensor::zeros([2, 7], &device));
}

/// Scores whose first row is at the floor of the losses that have one: its positive takes off more than its negatives weigh.
fn cosines() -> Scores {
    let (mut positives, mut negatives) = (wave(ANCHORS, 0.3), negatives());
    positives[0] = 0.99;
    for negative in &mut negatives[..NEGATIVES] {
        *negative = *negative / 4.0 - 0.7;
    }
    Scores::multi_positive(matrix(positives, DType::F64), matrix(negatives, DType::F64)).with_least_similarity(-1.0)
}

#[test]
fn scaled_scores_are_those_at_another_temperature() {
    let temperature = 0.2;
    for config in EstimatorConfig::all() {
        for weighted in [false, true] {
            let scores = || {
                let scores = cosines();
                if weighted {
                    scores.with_log_weights(matrix(wave(ANCHORS * NEGATIVES, 2.2), DType::F64))
                } else {
                    scores
                }
            };
            let loss = |config: &EstimatorConfig, scores: Scores| {
                let side = side(same_class(), DType::F64);
                values(config.init().losses(scores.into(), &side).values())
            };
            let at = |temperature| {
                let mut config = config.clone();
                config.set_parameter("temperature", temperature);
                config
            };
            let rate = Tensor::from_data(
                TensorData::from([1.0 / temperature]),
                (&Device::flex().autodiff(), DType::F64),
            );
            let pairs = loss(&at(temperature), scores())
                .into_iter()
                .zip(loss(&at(1.0), scores().scaled(rate)));
            for (expected, found) in pairs {
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{}: {found} is not {expected}",
                    config.name()
                );
            }
        }
    }
}

/// σ is a width of similarities, and the printed floor is e^-1 at any temperature: a learned one changes neither.
#[test]
fn a_learned_temperature_leaves_sigma_and_the_printed_floor_alone() {
    let temperature = 0.2;
    let printed = PositiveUnlabelledLossConfig::new().with_floor(PositiveUnlabelledFloor::Printed);
    for mut config in [
        EstimatorConfig::Decoupled(DecoupledLossConfig::new().with_sigma(Some(0.5))),
        EstimatorConfig::PositiveUnlabelled(printed),
    ] {
        let mut loss = |temperature: f64, scores: Scores| {
            config.set_parameter("temperature", temperature);
            values(config.init().losses(scores.into(), &SideInformation::default()).values())
        };
        let rate = Tensor::from_data(
            TensorData::from([1.0 / temperature]),
            (&Device::flex().autodiff(), DType::F64),
        );
        let (expected, found) = (loss(temperature, cosines()), loss(1.0, cosines().scaled(rate)));
        assert_close(&found, &expected, 1e-12, "learned and fixed");
    }
}

/// The gradient reaches the temperature through scores and floor.
#[test]
fn the_gradient_of_a_learned_temperature_is_the_slope_of_the_loss() {
    const STEP: f64 = 1e-5;
    let mut floored = 0;
    for config in EstimatorConfig::all() {
        // Their noise holds parts of the loss constant, so its slope is another.
        if config.init().requirements().gamma_shape.is_some() {
            continue;
        }
        let side = || side(same_class(), DType::F64);
        for log_rate in [0.5, 2.0] {
            let loss = |log_rate: f64| {
                let mut config = config.clone();
                config.set_parameter("temperature", (-log_rate).exp());
                values(config.init().forward_with(cosines(), &side(), Reduction::Mean))[0]
            };
            let slope = (loss(log_rate + STEP) - loss(log_rate - STEP)) / (2.0 * STEP);

            let device = Device::flex().autodiff();
            let parameter = Tensor::<1>::from_data(TensorData::from([log_rate]), (&device, DType::F64)).require_grad();
            let mut at_one = config.clone();
            at_one.set_parameter("temperature", 1.0);
            let scores = cosines().scaled(parameter.clone().exp());
            let gradients = at_one.init().forward_with(scores, &side(), Reduction::Mean).backward();
            let gradient = values(parameter.grad(&gradients).expect("the loss depends on it"))[0];
            assert!(
                (gradient - slope).abs() < 1e-7 * slope.abs().max(1.0),
                "{}: {gradient} is not {slope}",
                config.name()
            );

            // Without the floor, some loss is another one: the floor takes part.
            let mut scores = cosines().scaled(parameter.exp());
            scores.least_similarity = None;
            let unfloored = at_one.init().forward_with(scores, &side(), Reduction::Mean);
            floored += usize::from((values(unfloored)[0] - loss(log_rate)).abs() > 1e-3);
        }
    }
    assert_eq!(floored, 3, "{floored} cases have an active floor");
}

#[test]
fn gradients_of_corrections_by_the_mean_of_positives_are_those_of_differences() {
    const POSITIVES: usize = 3;
    let counted: Vec<bool> = (0..ANCHORS * POSITIVES).map(|i| i != 4).collect();
    let similarities = wave(ANCHORS * POSITIVES, 0.3);
    let side = side(same_class(), DType::F64);
    let scores = |similarities: &[f64]| {
        let mut positives = similarities.to_vec();
        // What does not count is no number.
        positives[4] = f64::NAN;
        let scores = Scores::multi_positive(matrix(positives, DType::F64), matrix(negatives(), DType::F64));
        scores.with_positives_mask(marks(counted.clone())).with_least_similarity(-1.0)
    };
    for config in EstimatorConfig::all().into_iter().filter(is_corrected) {
        let found = compute(&config, &scores(&similarities), &side);
        let loss = |similarities: &[f64]| compute(&config, &scores(similarities), &side).losses.iter().sum::<f64>();
        let mut expected = Vec::new();
        for index in 0..similarities.len() {
            let moved = |by: f64| {
                let mut moved = similarities.clone();
                moved[index] += by;
                loss(&moved)
            };
            expected.push((moved(1e-6) - moved(-1e-6)) / 2e-6);
        }
        assert_close(&found.of_positives, &expected, 1e-7, config.name());
    }
}

#[test]
fn weights_of_positives_count_in_any_order_and_with_every_objective() {
    let similarities = |first: f64| vec![first, 0.1, first, 0.2, first, 0.3, first, 0.4];
    let weights = || matrix([1.0, 0.0].repeat(ANCHORS), DType::F64);
    let scores = |positives| Scores::multi_positive(matrix(positives, DType::F64), matrix(negatives(), DType::F64));
    let all = || marks(vec![true; 2 * ANCHORS]);
    for objective in [ContrastiveObjective::Nce, ContrastiveObjective::Jsd] {
        let loss = |scores: Scores| {
            let estimator = objective.init(&EstimatorConfig::all()[0]);
            values(estimator.losses(scores.into(), &SideInformation::default()).values())
        };
        // Only the first positive of each anchor counts.
        let alone = loss(scores(vec![0.6; ANCHORS]));
        let weighted = scores(similarities(0.6)).with_positive_weights(weights());
        assert_close(&loss(weighted.clone()), &alone, 1e-12, "weights");
        assert_close(
            &loss(weighted.with_positives_mask(all())),
            &alone,
            1e-12,
            "weights, then a mask",
        );
        let masked = scores(similarities(0.6)).with_positives_mask(all());
        assert_close(
            &loss(masked.with_positive_weights(weights())),
            &alone,
            1e-12,
            "a mask, then weights",
        );
        // A share of the weight is a share of the loss.
        let share = |first: f64| matrix([first, 1.0 - first].repeat(ANCHORS), DType::F64);
        let [less, more] = [0.2, 0.7].map(|first| loss(scores(similarities(0.6)).with_positive_weights(share(first))));
        let both = loss(scores(similarities(0.6)).with_positive_weights(share(0.45)));
        let midpoint: Vec<f64> = less
            .iter()
            .zip(&more)
            .map(|(less, more)| f64::midpoint(*less, *more))
            .collect();
        assert_close(&both, &midpoint, 1e-12, objective.name());
    }
}

/// Sums of weights round, and the share of a row at most as large as its largest negative is 1 all the same.
#[test]
fn a_whole_ring_has_the_hardest_negative_at_any_weights() {
    const MANY: usize = 510;
    let log_weights: Vec<f64> = (0..ANCHORS * MANY)
        .map(|i| if i % 10 == i / MANY { 0.7f64.ln() } else { 0.0 })
        .collect();
    let scores = Scores::multi_positive(
        matrix(vec![0.5; ANCHORS], DType::F32),
        matrix(wave(ANCHORS * MANY, 0.2), DType::F32),
    );
    let scores = scores.with_log_weights(matrix(log_weights, DType::F32));
    let ring = RingLossConfig::new().with_upper(1.0).init();
    let weights = ring.weights(&scores, &SideInformation::default());
    let left_out = weights.into_data().iter::<f32>().filter(|weight| *weight <= 0.0).count();
    assert_eq!(left_out, 0);
}
