//! A slow reference, the authors' algorithm, limits, and scores to which no mixture can be fitted.

use super::*;
use crate::{EstimatorConfig, InfoNceLossConfig, Reduction};
use burn::tensor::{DType, Device, TensorData};

const ANCHORS: usize = 5;
const NEGATIVES: usize = 12;
const ENTRIES: usize = ANCHORS * NEGATIVES;

/// Most similarities are low; one in `every` is far above them.
fn similarities_with(every: usize) -> Vec<f64> {
    let similarity = |i: usize| {
        let wave = (1.7 * i as f64).sin() + (2.3 * i as f64 + 1.0).sin();
        if i % every == 2 {
            0.85 + 0.05 * wave
        } else {
            0.3 + 0.1 * wave
        }
    };
    (0..ENTRIES).map(similarity).collect()
}

fn similarities() -> Vec<f64> {
    similarities_with(6)
}

fn matrix(values: &[f64], rows: usize, dtype: DType, device: &Device) -> Tensor<2> {
    let shape = [rows, values.len() / rows];
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (device, dtype))
}

fn scores_in(values: &[f64], dtype: DType, device: &Device) -> Scores {
    let positives: Vec<f64> = (0..2 * ANCHORS).map(|i| (0.9 * i as f64).cos()).collect();
    Scores::multi_positive(
        matrix(&positives, ANCHORS, dtype, device),
        matrix(values, ANCHORS, dtype, device),
    )
}

fn scores(values: &[f64]) -> Scores {
    scores_in(values, DType::F64, &Device::flex())
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

fn weights(config: &ProGclLossConfig, scores: &Scores) -> Vec<f64> {
    values(config.clone().init().weights(scores, &SideInformation::none()))
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
            "{found} is not {expected}"
        );
    }
}

/// `ln Γ(x)` by recurrence to large arguments, where two terms of Stirling's series are enough.
fn ln_gamma(x: f64) -> f64 {
    let large = x + 100.0;
    let product: f64 = (0..100).map(|step| (x + f64::from(step)).ln()).sum();
    let series = 1.0 / (12.0 * large) - 1.0 / (360.0 * large.powi(3));
    (large - 0.5) * large.ln() - large + 0.5 * std::f64::consts::TAU.ln() + series - product
}

fn density([u, rest]: [f64; 2], alpha: f64, beta: f64) -> f64 {
    let ln_beta = ln_gamma(alpha) + ln_gamma(beta) - ln_gamma(alpha + beta);
    ((alpha - 1.0) * u.ln() + (beta - 1.0) * rest.ln() - ln_beta).exp()
}

/// Settings in which the estimator departs from the authors' code.
struct Fit {
    margin: f64,
    kept: f64,
    least: f64,
}

const OURS: Fit = Fit {
    margin: 1e-6,
    kept: 1e-4,
    least: 0.01,
};
const AUTHORS: Fit = Fit {
    margin: 1e-12,
    kept: 0.0,
    least: 0.0,
};

/// `p u` of each similarity, each of which counts as often as its entry of `counts` says.
fn slow_products(similarities: &[f64], counts: &[f64], share: f64, fit: &Fit) -> Vec<f64> {
    let counted = || similarities.iter().zip(counts).filter(|(_, count)| **count > 0.0);
    let lowest = counted().map(|(s, _)| *s).fold(f64::INFINITY, f64::min);
    let highest = counted().map(|(s, _)| *s).fold(f64::NEG_INFINITY, f64::max);
    let scale = |s: &f64| [s - lowest, highest - s].map(|distance| (distance / (highest - lowest)).max(fit.margin));
    let scaled: Vec<[f64; 2]> = similarities.iter().map(scale).collect();
    let mut components = [(1.0, 2.0, 1.0 - share), (2.0, 1.0, share)];
    let responsibility = |components: &[(f64, f64, f64); 2], component: usize, u: [f64; 2]| {
        let likelihood = |(alpha, beta, share): (f64, f64, f64)| share * density(u, alpha, beta);
        likelihood(components[component]) / components.map(likelihood).iter().sum::<f64>()
    };
    for _ in 0..10 {
        let of_component = |component: usize| {
            let weight = |(u, count): ([f64; 2], &f64)| {
                if *count > 0.0 {
                    count * (responsibility(&components, component, u) + fit.kept)
                } else {
                    0.0
                }
            };
            let weights: Vec<f64> = scaled.iter().copied().zip(counts).map(weight).collect();
            let size: f64 = weights.iter().sum();
            let over = |of: &dyn Fn(f64) -> f64| {
                let terms = weights.iter().zip(&scaled).filter(|(weight, _)| **weight > 0.0);
                terms.map(|(weight, [u, _])| weight * of(*u)).sum::<f64>() / size
            };
            let mean = over(&|u| u);
            let variance = over(&|u| (u - mean).powi(2));
            let concentration = mean * (1.0 - mean) / variance - 1.0;
            let (alpha, beta) = (mean * concentration, (1.0 - mean) * concentration);
            let least_beta = if component == 1 { 1.01 } else { fit.least };
            (alpha.max(fit.least), beta.max(least_beta), size)
        };
        components = [of_component(0), of_component(1)];
        let total = components[0].2 + components[1].2;
        for component in &mut components {
            component.2 /= total;
        }
    }
    scaled.iter().map(|&u| responsibility(&components, 0, u) * u[0]).collect()
}

/// Weights with the mean 1 over what counts of each row.
fn slow_weights(similarities: &[f64], counts: &[f64], share: f64, fit: &Fit) -> Vec<f64> {
    let products = slow_products(similarities, counts, share, fit);
    let rows = products.chunks(NEGATIVES).zip(counts.chunks(NEGATIVES));
    rows.flat_map(|(products, counts)| {
        let weighted = products.iter().zip(counts).filter(|(_, count)| **count > 0.0);
        let mean = weighted.map(|(product, count)| product * count).sum::<f64>() / counts.iter().sum::<f64>();
        products.iter().map(move |product| product / mean)
    })
    .collect()
}

#[test]
fn losses_and_gradients_are_those_of_a_slow_reference() {
    let (t, share) = (0.3, 0.1);
    let config = ProGclLossConfig::new().with_temperature(t).with_initial_share(share);
    let device = Device::flex().autodiff();
    let keep: Vec<bool> = (0..ENTRIES).map(|i| i % 7 != 3).collect();
    let counts: Vec<f64> = (0..ENTRIES).map(|i| 0.5 + (i % 4) as f64).collect();
    let log_weights: Vec<f64> = counts.iter().map(|count| count.ln()).collect();
    let mut similarities = similarities();
    let mut scores = scores_in(&similarities, DType::F64, &device)
        .with_mask(Tensor::from_data(
            TensorData::new(keep.clone(), [ANCHORS, NEGATIVES]),
            &device,
        ))
        .with_log_weights(matrix(&log_weights, ANCHORS, DType::F64, &device));
    scores.positives = scores.positives.require_grad();
    // What does not count may be anything.
    for (similarity, _) in similarities.iter_mut().zip(&keep).filter(|(_, keep)| !**keep) {
        *similarity = f64::NAN;
    }
    scores.negatives = matrix(&similarities, ANCHORS, DType::F64, &device).require_grad();
    let (positives, negatives) = (scores.positives.clone(), scores.negatives.clone());
    let losses = config.init().losses(scores.into(), &SideInformation::none());
    let each = values(losses.clone().values());
    let gradients = losses.reduce(Reduction::Sum).backward();
    let of_positives = values(positives.grad(&gradients).expect("a gradient"));
    let of_negatives = values(negatives.grad(&gradients).expect("a gradient"));

    let counts: Vec<f64> = counts
        .iter()
        .zip(&keep)
        .map(|(count, keep)| if *keep { *count } else { 0.0 })
        .collect();
    let weights = slow_weights(&similarities, &counts, share, &OURS);
    let positives = values(positives);
    let mut expected = [Vec::new(), Vec::new(), vec![0.0; ENTRIES]];
    for anchor in 0..ANCHORS {
        let entries = || (anchor * NEGATIVES..(anchor + 1) * NEGATIVES).filter(|&i| keep[i]);
        let mass = |i: usize| counts[i] * weights[i] * (similarities[i] / t).exp();
        let mut loss = 0.0;
        for positive in &positives[2 * anchor..2 * anchor + 2] {
            let of_positive = (positive / t).exp();
            let total = of_positive + entries().map(mass).sum::<f64>();
            loss += (total / of_positive).ln() / 2.0;
            expected[1].push((of_positive / total - 1.0) / t / 2.0);
            entries().for_each(|i| expected[2][i] += mass(i) / total / t / 2.0);
        }
        expected[0].push(loss);
    }
    assert_close(&each, &expected[0], 1e-10);
    assert_close(&of_positives, &expected[1], 1e-10);
    assert_close(&of_negatives, &expected[2], 1e-10);
}

#[test]
fn weights_are_nearly_those_of_the_authors_algorithm_on_the_same_scale() {
    let similarities = similarities();
    let ones = [1.0; ENTRIES];
    for share in [0.05, 0.15] {
        let expected = slow_weights(&similarities, &ones, share, &AUTHORS);
        let found = weights(&ProGclLossConfig::new().with_initial_share(share), &scores(&similarities));
        assert_close(&found, &expected, 0.01);
        let spread = |weights: &[f64]| weights.iter().fold(0.0, |most: f64, weight| most.max(*weight));
        assert!(spread(&expected) > 1.5, "{expected:?}");
    }
}

#[test]
fn the_most_similar_negatives_weigh_less_than_those_below_them() {
    let similarities = similarities();
    let found = weights(&ProGclLossConfig::new(), &scores(&similarities));
    // In each row, the third and the ninth are far above the others.
    for (row, weights) in similarities.chunks(NEGATIVES).zip(found.chunks(NEGATIVES)) {
        let others = || (0..NEGATIVES).filter(|i| i % 6 != 2);
        let most = others().max_by(|&i, &j| row[i].total_cmp(&row[j])).expect("there are others");
        assert!(weights[2] < weights[most] && weights[8] < weights[most], "{weights:?}");
        // Of the others, more similar ones weigh more.
        let least = others().min_by(|&i, &j| row[i].total_cmp(&row[j])).expect("there are others");
        assert!(weights[least] < weights[most], "{weights:?}");
        assert_close(&[weights.iter().sum()], &[NEGATIVES as f64], 1e-12);
    }
}

/// Nothing orders the components. Here a quarter of the negatives is far above the others, five times as many as the fit starts from, and it gives the narrow peak to
/// the second component.
#[test]
fn a_start_far_below_the_share_of_false_negatives_exchanges_the_components() {
    let scores = scores(&similarities_with(4));
    let of_high = |share| {
        let weights = weights(&ProGclLossConfig::new().with_initial_share(share), &scores);
        let high = (0..ENTRIES).filter(|i| i % 4 == 2).map(|i| weights[i]);
        high.sum::<f64>() / (ENTRIES / 4) as f64
    };
    assert!(
        of_high(0.3) < 0.1 && of_high(0.05) > 2.0,
        "{} {}",
        of_high(0.3),
        of_high(0.05)
    );
}

#[test]
fn without_an_identified_mixture_it_is_info_nce() {
    let device = Device::flex();
    let info_nce = InfoNceLossConfig::new().init();
    let config = ProGclLossConfig::new();
    let cases = |dtype| {
        let equal = scores_in(&[0.3; ENTRIES], dtype, &device);
        // As equal as 32 bits make similarities of a collapsed encoder.
        let nearly: Vec<f64> = (0..ENTRIES).map(|i| 0.3 + 1e-7 * (i % 3) as f64).collect();
        let few = Scores::new(
            Tensor::from_data([0.4, 0.1], (&device, dtype)),
            matrix(&[0.9, 0.1, 0.2, 0.4, -0.3, 7.0], 2, dtype, &device),
        );
        let keep = Tensor::<2, Bool>::from_data([[true, true, false], [true, true, true]], &device);
        let one = Scores::new(Tensor::from_data([0.4], (&device, dtype)), matrix(&[0.9], 1, dtype, &device));
        [equal, scores_in(&nearly, dtype, &device), few.with_mask(keep), one]
    };
    for dtype in [DType::F64, DType::F32] {
        for scores in cases(dtype) {
            let none = SideInformation::none();
            let expected = values(info_nce.weights(&scores, &none));
            assert_eq!(weights(&config, &scores), expected);
            let [found, expected] = [
                values(config.clone().init().losses(scores.clone().into(), &none).values()),
                values(info_nce.losses(scores.into(), &none).values()),
            ];
            assert_close(&found, &expected, if dtype == DType::F64 { 1e-14 } else { 1e-6 });
        }
    }
    // Six are enough, and unequal ones differ.
    let six = Scores::new(
        Tensor::from_data([0.4, 0.1], &device),
        Tensor::from_data([[0.9, 0.1, 0.2], [0.4, -0.3, 0.7]], &device),
    );
    assert_ne!(weights(&config, &six), [1.0; 6]);
}

#[test]
fn the_strength_leads_from_info_nce_to_the_weights() {
    let scores = scores(&similarities());
    let whole = weights(&ProGclLossConfig::new(), &scores);
    let at = |strength| weights(&ProGclLossConfig::new().with_strength(strength), &scores);
    assert_eq!(at(0.0), [1.0; ENTRIES]);
    let half: Vec<f64> = whole.iter().map(|weight| f64::midpoint(1.0, *weight)).collect();
    assert_close(&at(0.5), &half, 1e-14);
}

#[test]
fn shifts_and_factors_of_all_similarities_change_no_weight() {
    let similarities = similarities();
    let expected = weights(&ProGclLossConfig::new(), &scores(&similarities));
    for (factor, shift) in [(3.0, 0.0), (1e-3, 0.0), (0.5, 10.0), (1e6, -3e5)] {
        let moved: Vec<f64> = similarities.iter().map(|s| factor * s + shift).collect();
        assert_close(&weights(&ProGclLossConfig::new(), &scores(&moved)), &expected, 1e-9);
    }
}

#[test]
fn unusual_scores_have_finite_weights_with_the_mean_one() {
    let two_values: Vec<f64> = (0..ENTRIES).map(|i| (i % 2) as f64).collect();
    let mut outlier = vec![0.1; ENTRIES];
    outlier[7] = 1e6;
    let spikes: Vec<f64> = (0..ENTRIES)
        .map(|i| 0.2 + 0.6 * (i % 2) as f64 + 1e-4 * (i % 5) as f64)
        .collect();
    let uniform: Vec<f64> = (0..ENTRIES).map(|i| i as f64 / ENTRIES as f64).collect();
    let huge: Vec<f64> = similarities().iter().map(|s| s * 1e30).collect();
    for (number, case) in [two_values, outlier, spikes, uniform, huge].iter().enumerate() {
        for share in [1e-6, 0.05, 0.99] {
            let config = ProGclLossConfig::new().with_initial_share(share);
            for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 1e-5)] {
                let found = weights(&config, &scores_in(case, dtype, &Device::flex()));
                for row in found.chunks(NEGATIVES) {
                    assert!(row.iter().all(|weight| *weight >= 0.0), "case {number}: {row:?}");
                    assert_close(&[row.iter().sum()], &[NEGATIVES as f64], tolerance);
                }
            }
        }
    }
}

#[test]
fn single_precision_is_enough_for_the_fit() {
    let similarities = similarities();
    let single = weights(
        &ProGclLossConfig::new(),
        &scores_in(&similarities, DType::F32, &Device::flex()),
    );
    assert_close(&single, &weights(&ProGclLossConfig::new(), &scores(&similarities)), 1e-4);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (config, expected) in [
        (
            ProGclLossConfig::new().with_initial_share(0.0),
            "initial_share is 0, but must be in [1e-6, 0.99]",
        ),
        (
            ProGclLossConfig::new().with_strength(1.5),
            "strength is 1.5, but must be in [0, 1]",
        ),
    ] {
        let message = EstimatorConfig::ProGcl(config).check().expect_err("out of range").to_string();
        assert_eq!(message, expected);
    }
}
