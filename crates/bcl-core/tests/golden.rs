//! Losses, gradients and weights against values of independent implementations.
//!
//! `PyTorch` computed the excerpt in `bcl-golden` in f64, with gradients by its autograd; hand-derived gradients in numpy agree to 1e-13. No
//! code of this library was used. `BCL_GOLDEN=PATH/golden_public.json` compares with the whole file instead.

use bcl_core::{
    BayesianVariant, EstimatorConfig, Pairs, Reduction, Scores, SideInformation, Similarity,
    posterior::{Posterior, ecdf},
};
use bcl_golden::{Deviation, LOSSES, LossCase, LossFile, Views};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::{collections::BTreeSet, env};

/// The largest relative error in f64.
const TOLERANCE: f64 = 1e-9;

/// Cases, at least one per estimator, whose similarities f32 rounds without consequence; some at small temperatures, some at the floor.
const IN_F32: [&str; 14] = [
    "public-4x8-000",
    "public-4x8-005",
    "public-4x8-010",
    "public-4x8-012",
    "public-4x8-015",
    "public-4x8-016",
    "public-4x8-024",
    "public-4x8-111",
    "public-4x8-146",
    "public-4x8-147",
    "public-4x8-148",
    "public-4x8-166",
    "public-4x8-193",
    "public-4x8-194",
];

fn golden() -> LossFile {
    let file = env::var_os("BCL_GOLDEN").unwrap_or_else(|| LOSSES.into());
    LossFile::read(file.as_ref() as &std::path::Path).unwrap_or_else(|error| panic!("{error}"))
}

fn configuration(case: &LossCase) -> EstimatorConfig {
    let table = case
        .estimator
        .table()
        .unwrap_or_else(|problem| panic!("{}: {problem}", case.id));
    serde_json::from_value(table).unwrap_or_else(|error| panic!("{}: {error}", case.id))
}

/// Loss, and gradients with respect to the first and the second view.
type Computed = (f64, [Vec<f64>; 2]);

fn scores(views: &Views, device: &Device, dtype: DType) -> ([Tensor<2>; 2], Scores) {
    let [first, second] = [&views.first, &views.second].map(|view| {
        let data = TensorData::new(view.clone(), [views.batch_size, views.dim]);
        Tensor::<2>::from_data(data, (device, dtype)).require_grad()
    });
    // The file has unit rows, and gradients with respect to these rows without normalisation.
    let scores = Pairs::from_views(first.clone(), second.clone(), Similarity::Dot)
        .into_scores()
        .with_least_similarity(-1.0);
    ([first, second], scores)
}

fn compute(config: &EstimatorConfig, draws: Option<&Vec<f64>>, views: &Views, dtype: DType) -> Computed {
    let device = Device::flex().autodiff();
    let (inputs, scores) = scores(views, &device, dtype);
    let mut side = SideInformation::none();
    if let Some(draws) = draws {
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

fn assert_matches(case: &LossCase, config: &EstimatorConfig, views: &Views, dtype: DType, tolerance: f64) {
    let (loss, gradients) = compute(config, case.draws.as_ref(), views, dtype);
    let deviation = Deviation::of_number(loss, case.loss);
    assert!(deviation.within(tolerance), "{}: the loss {loss}: {deviation:?}", case.id);
    for (found, expected) in gradients.iter().zip(&case.gradients) {
        let deviation = Deviation::of_gradient(found, expected);
        assert!(deviation.within(tolerance), "{}: a gradient: {deviation:?}", case.id);
    }
}

#[test]
fn losses_and_gradients_match_the_reference_in_f64() {
    let golden = golden();
    let mut seen = BTreeSet::new();
    for case in &golden.cases {
        let config = configuration(case);
        assert_matches(case, &config, golden.views(case), DType::F64, TOLERANCE);
        seen.insert(config.name());
    }
    let expected = [
        "augmented",
        "bayesian",
        "debiased",
        "geometric",
        "hard",
        "info_nce",
        "positive_unlabelled",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn losses_and_gradients_match_the_reference_in_f32() {
    let golden = golden();
    for id in IN_F32 {
        let case = golden.cases.iter().find(|case| case.id == id).expect("a case of the file");
        let config = configuration(case);
        let tolerance = match &config {
            EstimatorConfig::Hard(hard) if hard.temperature < 0.1 => 3e-5,
            EstimatorConfig::Bayesian(bayesian) if bayesian.variant == BayesianVariant::Official => 1.5e-3,
            EstimatorConfig::Bayesian(_) => 3e-4,
            _ => 1e-6,
        };
        assert_matches(case, &config, golden.views(case), DType::F32, tolerance);
    }
}

/// The absolute part is for weights near zero, where the reference cancels: at α = 0.999999 it misses the highest score's 1e-5 by
/// one part in 1e9.
#[test]
fn weights_match_the_reference_defects_of_the_official_variant_included() {
    let golden = golden();
    assert!(!golden.weights.is_empty());
    for row in &golden.weights {
        let posterior = Posterior::new(row.alpha, row.beta, row.tau_plus).expect("parameters in their ranges");
        let ecdf = ecdf(&row.scores);
        assert_eq!(Some(&ecdf), row.ecdf.as_ref(), "{}", row.name);
        let weights = |weight: fn(&Posterior, f64) -> f64| ecdf.iter().map(|&ecdf| weight(&posterior, ecdf)).collect::<Vec<_>>();
        for (found, expected) in [
            (weights(Posterior::omega), &row.omega_exact),
            (weights(Posterior::omega_official), &row.omega_official),
        ] {
            let expected = expected.as_ref().expect("both variants");
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                let is_close = (found - expected).abs() <= TOLERANCE * expected.abs() + 1e-13;
                assert!(is_close, "{}: {found} is not {expected}", row.name);
            }
        }
    }
}
