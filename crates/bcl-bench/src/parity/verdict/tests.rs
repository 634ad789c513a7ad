//! Tests of the module above.

use super::*;
use bcl_core::{DebiasedLossConfig, EstimatorConfig};
use bcl_golden::LossCase;

/// Two samples at an angle, the same in both views, and a prior that nearly cancels the mass of their negatives.
fn cancelling() -> (Case, Views) {
    let rows = vec![1.0, 0.0, 0.6, 0.8];
    let views = Views {
        batch_size: 2,
        dim: 2,
        first: rows.clone(),
        second: rows,
    };
    let mean_ratio = (-0.4f64 / 0.07).exp();
    let config = DebiasedLossConfig::new()
        .with_temperature(0.07)
        .with_tau_plus(mean_ratio * (1.0 - 1e-4));
    let mut case = Case {
        config: EstimatorConfig::Debiased(config),
        reference: LossCase {
            id: "cancelling".to_owned(),
            shape: "2x2".to_owned(),
            estimator: serde_json::from_str(r#"{ "est": "dcl" }"#).unwrap(),
            loss: 0.0,
            negative_masses: Vec::new(),
            draws: None,
            gradients: [Gradient::Full(vec![0.0; 4]), Gradient::Full(vec![0.0; 4])],
        },
    };
    let exact = compute::compute(&case, &views, &Arithmetic::reference());
    case.reference.loss = exact.loss;
    case.reference.gradients = exact.gradients.map(Gradient::Full);
    (case, views)
}

fn verdict(case: &Case, views: &Views, precision: Precision, change: impl FnOnce(&mut Computed)) -> Verdict {
    let arithmetic = Arithmetic {
        precision,
        ..Arithmetic::reference()
    };
    let mut computed = compute::compute(case, views, &arithmetic);
    change(&mut computed);
    let found = quantities(&computed, case, views, precision);
    of_case(case, views, &arithmetic, &computed, &found)
}

#[test]
fn rounding_of_similarities_is_distinguished_from_errors() {
    let (case, views) = cancelling();
    assert_eq!(verdict(&case, &views, Precision::F64, |_| ()), Verdict::Within);
    assert_eq!(verdict(&case, &views, Precision::F32, |_| ()), Verdict::Rounded);
    let wrong = verdict(&case, &views, Precision::F32, |computed| computed.loss *= 1.1);
    assert_eq!(wrong, Verdict::Failed);
    let wrong = verdict(&case, &views, Precision::F32, |computed| computed.gradients[1][3] *= 1.1);
    assert_eq!(wrong, Verdict::Failed);
}

#[test]
fn rounding_is_no_excuse_if_f64_is_wrong_too() {
    let (mut case, views) = cancelling();
    case.reference.loss *= 1.001;
    assert_eq!(verdict(&case, &views, Precision::F64, |_| ()), Verdict::Failed);
    assert_eq!(verdict(&case, &views, Precision::F32, |_| ()), Verdict::Failed);
}

#[test]
fn nan_fails() {
    let (case, views) = cancelling();
    assert_eq!(
        verdict(&case, &views, Precision::F32, |computed| computed.loss = f64::NAN),
        Verdict::Failed
    );
}
