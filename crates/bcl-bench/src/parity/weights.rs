//! Compares rows of weights: from the posterior's own functions, and from the tensors that an estimator computes with.

use super::{
    compute::values,
    precision::{Arithmetic, Precision},
    result::{Kind, ParityResult, Quantity},
};
use bcl_core::{
    BayesianLossConfig, BayesianVariant, Estimator, Scores, SideInformation,
    posterior::{Posterior, ecdf},
};
use bcl_golden::{Deviation, WeightRow};
use burn::tensor::{Tensor, TensorData};

/// Compares one row. The posterior's functions compute in f64, so only the f64 comparison includes them.
pub(super) fn compare(row: &WeightRow, posterior: &Posterior, arithmetic: &Arithmetic, result: &mut ParityResult) {
    let precision = arithmetic.precision;
    let mut check = |column: &'static str, found: &dyn Fn() -> Vec<f64>, expected: &Option<Vec<f64>>| {
        let Some(expected) = expected else { return };
        let deviation = Deviation::of_numbers(&found(), expected);
        let quantity = Quantity::new(column, 0, deviation, precision.weight_tolerance());
        result.record((Kind::Weights, precision, column), &row.name, &[quantity], false);
    };
    if precision == Precision::F64 {
        let of_ecdf = |weight: fn(&Posterior, f64) -> f64| -> Vec<f64> {
            ecdf(&row.scores).into_iter().map(|u| weight(posterior, u)).collect()
        };
        check("ecdf", &|| ecdf(&row.scores), &row.ecdf);
        check("omega exact, posterior", &|| of_ecdf(Posterior::omega), &row.omega_exact);
        check(
            "omega official, posterior",
            &|| of_ecdf(Posterior::omega_official),
            &row.omega_official,
        );
    }
    check(
        "omega exact, estimator",
        &|| by_estimator(row, BayesianVariant::Exact, arithmetic),
        &row.omega_exact,
    );
    check(
        "omega official, estimator",
        &|| by_estimator(row, BayesianVariant::Official, arithmetic),
        &row.omega_official,
    );
}

fn by_estimator(row: &WeightRow, variant: BayesianVariant, arithmetic: &Arithmetic) -> Vec<f64> {
    let data = TensorData::new(row.scores.clone(), [1, row.scores.len()]);
    let negatives = Tensor::<2>::from_data(data, arithmetic.options());
    let positives = negatives.clone().slice([0..1, 0..1]).squeeze_dim(1);
    let estimator = BayesianLossConfig::new()
        .with_alpha(row.alpha)
        .with_beta(row.beta)
        .with_tau_plus(row.tau_plus)
        .with_variant(variant)
        .init();
    values(estimator.weights(&Scores::new(positives, negatives), &SideInformation::none()))
}
