//! Limits of the Jensen-Shannon objective, its floor and its masks. Reference values are in `tests/graphs.rs`.

use super::*;
use crate::{
    BayesianLossConfig, DebiasedLossConfig, HardLossConfig, InfoNceLossConfig, PositiveUnlabelledLossConfig, ProGclLossConfig,
    Reduction, RingLossConfig, Scores, SideInformation, SupervisedLossConfig,
};
use burn::tensor::{Bool, DType, Device, TensorData};

fn table(values: &[f64], columns: usize) -> Tensor<2> {
    let shape = [values.len() / columns, columns];
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (&Device::flex(), DType::F64))
}

/// Three anchors with four negatives each.
fn scores() -> Scores {
    let negatives: Vec<f64> = (0..12).map(|i| 3.0 * (1.7 * f64::from(i)).sin()).collect();
    Scores::multi_positive(table(&[2.0, -0.5, 0.25], 1), table(&negatives, 4))
}

fn info_nce() -> EstimatorConfig {
    EstimatorConfig::InfoNce(InfoNceLossConfig::new().with_temperature(1.0))
}

fn debiased(tau_plus: f64) -> EstimatorConfig {
    EstimatorConfig::Debiased(DebiasedLossConfig::new().with_temperature(1.0).with_tau_plus(tau_plus))
}

fn hard(tau_plus: f64, beta: f64) -> EstimatorConfig {
    let config = HardLossConfig::new().with_temperature(1.0).with_tau_plus(tau_plus);
    EstimatorConfig::Hard(config.with_beta(beta))
}

fn losses(estimator: &EstimatorConfig, scores: Scores) -> Vec<f64> {
    values(
        JensenShannonLoss::new(estimator)
            .losses(scores.into(), &SideInformation::none())
            .values(),
    )
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn assert_close(left: &[f64], right: &[f64]) {
    assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        assert!((l - r).abs() <= 1e-12 * (1.0 + r.abs()), "{left:?} is not {right:?}");
    }
}

#[test]
fn without_weights_it_is_the_loss_of_info_graph() {
    let softplus = |x: f64| x.exp().ln_1p();
    let (positives, negatives) = (values(scores().positives), values(scores().negatives));
    let rows = positives.iter().zip(negatives.chunks(4));
    let expected: Vec<f64> = rows
        .map(|(p, row)| softplus(-p) + row.iter().map(|&q| softplus(q)).sum::<f64>() / 4.0)
        .collect();
    assert_close(&losses(&info_nce(), scores()), &expected);
}

#[test]
fn estimators_meet_in_their_limits() {
    let of_info_nce = losses(&info_nce(), scores());
    let ring = RingLossConfig::new().with_temperature(1.0).with_upper(1.0);
    let bayesian = BayesianLossConfig::new()
        .with_temperature(1.0)
        .with_tau_plus(0.5)
        .with_alpha(0.5)
        .with_beta(0.5);
    for estimator in [
        debiased(0.0),
        hard(0.0, 0.0),
        EstimatorConfig::Ring(ring),
        EstimatorConfig::Bayesian(bayesian),
    ] {
        assert_close(&losses(&estimator, scores()), &of_info_nce);
    }
    assert_close(&losses(&hard(0.2, 0.0), scores()), &losses(&debiased(0.2), scores()));
    // α = τ+ and c = 0 is the debiased loss.
    let unlabelled = PositiveUnlabelledLossConfig::new()
        .with_temperature(1.0)
        .with_class_prior(0.2);
    let unlabelled = EstimatorConfig::PositiveUnlabelled(unlabelled.with_label_frequency(0.0));
    assert_close(&losses(&unlabelled, scores()), &losses(&debiased(0.2), scores()));
    assert!(losses(&hard(0.2, 2.0), scores())[0] > losses(&debiased(0.2), scores())[0]);
}

#[test]
fn large_positives_do_not_cut_digits_off_hard_weights() {
    let single = |value: f64| {
        let mut scores = scores();
        scores.positives = scores.positives.full_like(value).cast(DType::F32);
        scores.negatives = scores.negatives.cast(DType::F32);
        let weights = JensenShannonLoss::new(&hard(0.1, 1.0)).weights(&scores, &SideInformation::none());
        values(weights)
    };
    assert_eq!(single(1e4), single(0.0));
}

#[test]
fn the_temperature_divides_all_scores() {
    let mut halved = scores();
    halved.positives = halved.positives * 0.5;
    halved.negatives = halved.negatives * 0.5;
    for config in EstimatorConfig::all() {
        if !ContrastiveObjective::Jsd.supports(&config) || config.init().requirements().truth {
            continue;
        }
        let [mut cold, mut warm] = [config.clone(), config];
        cold.set_parameter("temperature", 1.0);
        warm.set_parameter("temperature", 2.0);
        // Parameters in units of the scores are divided with them.
        for name in ["mu", "sigma"] {
            if let Some(value) = cold.parameter(name) {
                cold.set_parameter(name, value / 2.0);
            }
        }
        assert_close(&losses(&warm, scores()), &losses(&cold, halved.clone()));
    }
}

#[test]
fn masked_negatives_may_be_anything() {
    let cut = {
        let mut cut = scores();
        cut.negatives = cut.negatives.slice([0..3, 0..3]);
        cut
    };
    let mut masked = scores();
    let column = Tensor::full([3, 1], f64::NAN, (&Device::flex(), DType::F64));
    masked.negatives = masked.negatives.slice_assign([0..3, 3..4], column);
    let keep = (0..12).map(|entry| entry % 4 != 3).collect::<Vec<_>>();
    let keep = Tensor::<2, Bool>::from_data(TensorData::new(keep, [3, 4]), &Device::flex());
    let bayesian = EstimatorConfig::Bayesian(BayesianLossConfig::new().with_temperature(1.0));
    for estimator in [info_nce(), debiased(0.3), hard(0.3, 1.0), bayesian] {
        assert_close(
            &losses(&estimator, masked.clone().with_mask(keep.clone())),
            &losses(&estimator, cut.clone()),
        );
    }
    for estimator in [debiased(0.3), hard(0.3, 1.0)] {
        let official = JensenShannonLoss::official(&estimator);
        let [of_masked, of_cut] = [masked.clone().with_mask(keep.clone()), cut.clone()]
            .map(|scores| values(official.losses(scores.into(), &SideInformation::none()).values()));
        assert_close(&of_masked, &of_cut);
    }
}

#[test]
fn several_positives_are_averaged() {
    let with = |positives| Scores::multi_positive(positives, scores().negatives);
    let both = losses(&debiased(0.3), with(table(&[2.0, -1.0, -0.5, 0.5, 0.25, 4.0], 2)));
    let first = losses(&debiased(0.3), with(table(&[2.0, -0.5, 0.25], 1)));
    let second = losses(&debiased(0.3), with(table(&[-1.0, 0.5, 4.0], 1)));
    let mean: Vec<f64> = first
        .iter()
        .zip(second)
        .map(|(first, second)| (first + second) / 2.0)
        .collect();
    assert_close(&both, &mean);
}

#[test]
fn at_the_floor_negatives_have_no_gradient_and_the_loss_is_bounded() {
    let device = Device::flex().autodiff();
    let options = (&device, DType::F64);
    let negatives = Tensor::<2>::from_data(TensorData::new(vec![-4.0; 4], [2, 2]), options).require_grad();
    let scores = Scores::new(Tensor::from_data([9.0, -9.0], options), negatives.clone());
    for estimator in [debiased(0.3), hard(0.3, 1.0)] {
        let objective = JensenShannonLoss::new(&estimator);
        let marks = objective.floored(&scores, &SideInformation::none()).unwrap();
        assert_eq!(marks.into_data().iter::<bool>().collect::<Vec<_>>(), [true, false]);
        let losses = objective.losses(scores.clone().into(), &SideInformation::none());
        assert!(values(losses.clone().values()).iter().all(|&loss| loss >= 0.0));
        let gradient = values(negatives.grad(&losses.reduce(Reduction::Sum).backward()).unwrap());
        assert_eq!(gradient[..2], [0.0; 2]);
        assert!(gradient[2..].iter().all(|&slope| slope > 0.0), "{gradient:?}");
    }
    assert!(
        JensenShannonLoss::new(&info_nce())
            .floored(&scores, &SideInformation::none())
            .is_none()
    );
}

#[test]
fn the_supervised_weights_leave_false_negatives_out() {
    let supervised = EstimatorConfig::Supervised(SupervisedLossConfig::new().with_temperature(1.0));
    let same_class = Tensor::<2, Bool>::from_data(TensorData::new(vec![true; 12], [3, 4]), &Device::flex());
    let objective = JensenShannonLoss::new(&supervised);
    let side = SideInformation::none().with_same_class(same_class);
    // Without a true negative there is no loss.
    assert_eq!(values(objective.losses(scores().into(), &side).values()), [0.0; 3]);
}

#[test]
fn huge_scores_stay_finite() {
    let scores = Scores::multi_positive(table(&[-1e4, 1e4], 1), table(&[1e4, -1e4, 1e4, 0.0], 2));
    for estimator in [info_nce(), debiased(0.1), hard(0.1, 3.0)] {
        assert!(
            losses(&estimator, scores.clone()).iter().all(|loss| loss.is_finite()),
            "{estimator:?}"
        );
    }
}

#[test]
fn hard_negatives_need_the_whole_batch_and_the_names_are_those_of_recipes() {
    assert!(JensenShannonLoss::new(&hard(0.1, 1.0)).requirements().whole_batch);
    assert!(!JensenShannonLoss::new(&debiased(0.1)).requirements().whole_batch);
    let fitted = EstimatorConfig::ProGcl(ProGclLossConfig::new());
    assert!(JensenShannonLoss::new(&fitted).requirements().whole_batch);
    for objective in ContrastiveObjective::ALL {
        let name = serde_json::to_value(objective).unwrap();
        assert_eq!(name, objective.name());
        for estimator in EstimatorConfig::all() {
            if objective.supports(&estimator) {
                assert_eq!(objective.init(&estimator).temperature(), estimator.temperature());
            }
        }
    }
}
