//! Losses and gradients against values of an independent implementation, in f64.
//!
//! The literals in `golden/cases.rs` and the excerpt in `golden/excerpt.json` are cases of the project's golden file. `PyTorch` computed
//! them in f64, with gradients by its autograd; they agree to 1e-13 with hand-derived gradients in numpy. No code of this library was
//! used.

#[path = "golden/cases.rs"]
mod cases;
#[path = "golden/file.rs"]
mod file;

use bcl_core::{BayesianVariant, EstimatorConfig, Reduction, Scores, SideInformation, Similarity};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::path::Path;

/// Two views of a batch, row-major.
struct Views<'a> {
    batch_size: usize,
    first: &'a [f64],
    second: &'a [f64],
}

/// Loss, and gradients with respect to the first and the second view.
type Computed = (f64, [Vec<f64>; 2]);

fn scores(views: &Views, device: &Device, dtype: DType) -> ([Tensor<2>; 2], Scores) {
    let [first, second] = [views.first, views.second].map(|view| {
        let data = TensorData::new(view.to_vec(), [views.batch_size, view.len() / views.batch_size]);
        Tensor::<2>::from_data(data, (device, dtype)).require_grad()
    });
    // The file has unit rows, and gradients with respect to these rows without normalisation.
    let scores = Scores::from_views(first.clone(), second.clone(), Similarity::Dot).with_least_similarity(-1.0);
    ([first, second], scores)
}

fn compute(config: &EstimatorConfig, draws: &[f64], views: &Views, dtype: DType) -> Computed {
    let device = Device::flex().autodiff();
    let (inputs, scores) = scores(views, &device, dtype);
    let mut side = SideInformation::none();
    if !draws.is_empty() {
        let noise = standard_draws(config, draws, views);
        side = side.with_noise(Tensor::from_data(noise.as_slice(), (&device, dtype)));
    }
    let loss = config.init().forward_with(scores, &side, Reduction::Mean);
    let gradients = loss.backward();
    let of_input = |input: Tensor<2>| values(input.grad(&gradients).expect("both views take part"));
    (values(loss)[0], inputs.map(of_input))
}

/// The golden file has draws `u` at the rate of each anchor, estimators need draws at unit rate: `g = u · rate`.
fn standard_draws(config: &EstimatorConfig, draws: &[f64], views: &Views) -> Vec<f64> {
    let (_, scores) = scores(views, &Device::flex().autodiff(), DType::F64);
    let x = |similarity: &f64| (similarity / config.temperature()).exp();
    let positives = values(scores.positives.clone());
    let negatives = values(scores.negatives.clone());
    let rates = negatives
        .chunks(scores.num_negatives())
        .zip(&positives)
        .map(|(row, positive)| {
            let sum: f64 = row.iter().map(x).sum();
            match config {
                EstimatorConfig::Augmented(_) => sum + x(positive),
                _ => sum,
            }
        });
    draws.iter().zip(rates).map(|(u, rate)| u * rate).collect()
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// The largest difference relative to the largest reference value.
fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().all(|value| value.is_finite()), "{found:?}");
    let largest = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).fold(0.0, f64::max);
    let difference = largest(&mut found.iter().zip(expected).map(|(found, expected)| found - expected));
    difference / largest(&mut expected.iter().copied())
}

fn assert_literals_match(dtype: DType, tolerance: impl Fn(&EstimatorConfig) -> f64) {
    let views = Views {
        batch_size: 4,
        first: cases::FIRST,
        second: cases::SECOND,
    };
    for case in cases::cases() {
        let (loss, gradients) = compute(&case.config, case.draws, &views, dtype);
        let tolerance = tolerance(&case.config);
        let error = relative_error(&[loss], &[case.loss]);
        assert!(error < tolerance, "{}: the loss {loss} is off by {error:e}", case.id);
        for (found, expected) in gradients.iter().zip(case.gradients) {
            let error = relative_error(found, expected);
            assert!(error < tolerance, "{}: a gradient is off by {error:e}", case.id);
        }
    }
}

#[test]
fn losses_and_gradients_match_the_reference_in_f64() {
    assert_literals_match(DType::F64, |_| 1e-9);
}

#[test]
fn losses_and_gradients_match_the_reference_in_f32() {
    assert_literals_match(DType::F32, |config| match config {
        EstimatorConfig::Hard(hard) if hard.temperature < 0.1 => 3e-5,
        EstimatorConfig::Bayesian(bayesian) if bayesian.variant == BayesianVariant::Official => 1.5e-3,
        EstimatorConfig::Bayesian(_) => 3e-4,
        _ => 1e-6,
    });
}

#[test]
fn every_estimator_of_the_golden_file_has_a_case() {
    let found: std::collections::BTreeSet<_> = cases::cases().iter().map(|case| case.config.name()).collect();
    let expected = [
        "augmented",
        "bayesian",
        "debiased",
        "geometric",
        "hard",
        "info_nce",
        "positive_unlabelled",
    ];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}

fn assert_file_matches(file: &Path) {
    let golden = file::Golden::read(file);
    assert!(!golden.cases.is_empty(), "{} has no cases", file.display());
    for case in &golden.cases {
        let views = Views {
            batch_size: case.batch_size,
            first: &case.views[0],
            second: &case.views[1],
        };
        let (loss, gradients) = compute(&case.config, &case.draws, &views, DType::F64);
        // Losses at the floor are as small as 1e-11; differences below 1e-12 do not count.
        let error = ((loss - case.loss).abs() - 1e-12) / case.loss.abs();
        assert!(error < 1e-9, "{}: the loss {loss} is off by {error:e}", case.id);
        for (found, expected) in gradients.iter().zip(&case.gradients) {
            let error = expected.error_of(found);
            assert!(error < 1e-9, "{}: a gradient is off by {error:e}", case.id);
        }
    }
}

#[test]
fn the_excerpt_of_the_golden_file_matches() {
    assert_file_matches(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/excerpt.json"));
}

#[test]
#[ignore = "needs the whole file: BCL_GOLDEN=PATH/golden_public.json cargo test -p bcl-core --test golden -- --ignored"]
fn the_whole_golden_file_matches() {
    let file = std::env::var_os("BCL_GOLDEN").expect("BCL_GOLDEN is the path of the golden file");
    assert_file_matches(file.as_ref());
}
