//! Properties of every estimator, and limits in which one estimator equals another.

use super::*;
use burn::tensor::{Bool, DType, Device, TensorData};

/// Deterministic similarities in (-1, 1), without a random source.
fn similarities(count: usize, phase: f64) -> Vec<f64> {
    (0..count).map(|i| (1.7 * i as f64 + phase).sin() * 0.95).collect()
}

fn scores_on(device: &Device, num_anchors: usize, num_negatives: usize) -> Scores {
    let positives = TensorData::from(similarities(num_anchors, 0.3).as_slice());
    let negatives = TensorData::new(similarities(num_anchors * num_negatives, 1.1), [num_anchors, num_negatives]);
    let options = (device, DType::F64);
    Scores::new(Tensor::from_data(positives, options), Tensor::from_data(negatives, options))
}

/// Truth and noise for scores of this shape.
fn side_on(device: &Device, num_anchors: usize, num_negatives: usize) -> SideInformation {
    let same_class: Vec<bool> = (0..num_anchors * num_negatives).map(|i| i % 4 == 0).collect();
    let noise: Vec<f64> = similarities(num_anchors, 2.0).iter().map(|x| x.abs() + 0.1).collect();
    SideInformation::none()
        .with_same_class(Tensor::from_data(
            TensorData::new(same_class, [num_anchors, num_negatives]),
            device,
        ))
        .with_noise(Tensor::from_data(TensorData::from(noise.as_slice()), (device, DType::F64)))
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().expect("the CPU can be read")
}

fn assert_close(left: &[f64], right: &[f64], tolerance: f64) {
    assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        assert!((l - r).abs() <= tolerance * (1.0 + r.abs()), "{l} is not {r}");
    }
}

/// One of each estimator, and the variants whose arithmetic differs.
fn with_variants() -> Vec<EstimatorConfig> {
    let rates = [
        AugmentedRate::WithPositive,
        AugmentedRate::Negatives,
        AugmentedRate::MeanNegatives,
    ];
    let bases = [AugmentedBase::InfoNce, AugmentedBase::Decoupled];
    let augmented = rates.into_iter().flat_map(|rate| {
        bases.map(|base| EstimatorConfig::Augmented(AugmentedLossConfig::new().with_lambda(0.5).with_rate(rate).with_base(base)))
    });
    let weighted = EstimatorConfig::Decoupled(DecoupledLossConfig::new().with_sigma(Some(0.5)));
    EstimatorConfig::all()
        .into_iter()
        .chain(augmented)
        .chain([weighted])
        .collect()
}

/// Losses with the truth and noise of [`side_on`].
fn losses(config: &EstimatorConfig, scores: Scores) -> Vec<f64> {
    let side = side_on(&scores.negatives.device(), scores.num_anchors(), scores.num_negatives());
    losses_with(config, scores, &side)
}

fn losses_with(config: &EstimatorConfig, scores: Scores, side: &SideInformation) -> Vec<f64> {
    values(config.init().losses(scores.into(), side).values())
}

#[test]
fn gradients_match_finite_differences() {
    let step = 1e-6;
    let plain = Device::flex();
    for config in EstimatorConfig::all() {
        let estimator = config.init();
        let device = plain.clone().autodiff();
        let mut scores = scores_on(&device, 3, 7);
        scores.positives = scores.positives.require_grad();
        scores.negatives = scores.negatives.require_grad();
        let (positives, negatives) = (scores.positives.clone(), scores.negatives.clone());
        let gradients = estimator
            .forward_with(scores, &side_on(&device, 3, 7), Reduction::Sum)
            .backward();
        let analytic_positives = values(positives.grad(&gradients).expect("a gradient"));
        let analytic_negatives = values(negatives.grad(&gradients).expect("a gradient"));

        // The noise of the augmented losses and the weights of ADNCE and ProGCL are constant in the gradient, which so is not the slope of their value;
        // other tests cover them.
        let has_constants = estimator.requirements().gamma_shape.is_some()
            || matches!(config, EstimatorConfig::Adnce(_) | EstimatorConfig::ProGcl(_));
        if has_constants {
            continue;
        }
        let total = |scores: Scores| values(estimator.forward_with(scores, &side_on(&plain, 3, 7), Reduction::Sum))[0];
        let slope = |change: &dyn Fn(&mut Scores, f64)| {
            let (mut up, mut down) = (scores_on(&plain, 3, 7), scores_on(&plain, 3, 7));
            change(&mut up, step);
            change(&mut down, -step);
            (total(up) - total(down)) / (2.0 * step)
        };
        for (i, &analytic) in analytic_positives.iter().enumerate() {
            let numeric = slope(&|scores, by| {
                let mut data = values(scores.positives.clone());
                data[i] += by;
                scores.positives = Tensor::from_data(TensorData::new(data, [3, 1]), (&plain, DType::F64));
            });
            assert!(
                (analytic - numeric).abs() < 1e-6,
                "{}: positive {i}: {analytic} against {numeric}",
                config.name()
            );
        }
        for (i, &analytic) in analytic_negatives.iter().enumerate() {
            let numeric = slope(&|scores, by| {
                let mut data = values(scores.negatives.clone());
                data[i] += by;
                scores.negatives = Tensor::from_data(TensorData::new(data, [3, 7]), (&plain, DType::F64));
            });
            assert!(
                (analytic - numeric).abs() < 1e-6,
                "{}: negative {i}: {analytic} against {numeric}",
                config.name()
            );
        }
    }
}

#[test]
fn masking_an_entry_equals_leaving_it_out() {
    let device = Device::flex();
    for config in with_variants() {
        let whole = scores_on(&device, 4, 9);
        let mut short = whole.clone();
        short.negatives = whole.negatives.clone().slice([0..4, 0..6]);
        let side = side_on(&device, 4, 9);
        let mut side_of_short = side.clone();
        side_of_short.same_class = side.same_class.clone().map(|truth| truth.slice([0..4, 0..6]));
        let keep = TensorData::new((0..4 * 9).map(|i| i % 9 < 6).collect::<Vec<_>>(), [4, 9]);
        let masked = whole.with_mask(Tensor::from_data(keep, &device));

        let estimator = config.init();
        let weights = values(estimator.weights(&masked, &side).slice([0..4, 0..6]));
        assert_close(&weights, &values(estimator.weights(&short, &side_of_short)), 1e-12);
        let left_over = values(estimator.weights(&masked, &side).slice([0..4, 6..9]));
        assert!(left_over.iter().all(|&weight| weight == 0.0), "{}", config.name());
        assert_close(
            &losses_with(&config, masked, &side),
            &losses_with(&config, short, &side_of_short),
            1e-12,
        );
    }
}

#[test]
fn the_order_of_negatives_does_not_matter() {
    let device = Device::flex();
    for config in with_variants() {
        let scores = scores_on(&device, 3, 8);
        let mut flipped = scores.clone();
        flipped.negatives = scores.negatives.clone().flip([1]);
        let mut side = side_on(&device, 3, 8);
        side.same_class = side.same_class.map(|truth| truth.flip([1]));
        assert_close(&losses_with(&config, flipped, &side), &losses(&config, scores), 1e-12);
    }
}

#[test]
fn weights_and_mass_agree_where_the_loss_is_a_weighted_sum() {
    let device = Device::flex();
    for config in EstimatorConfig::all() {
        let weighted_sum = matches!(
            config,
            EstimatorConfig::InfoNce(_)
                | EstimatorConfig::Bayesian(_)
                | EstimatorConfig::Ring(_)
                | EstimatorConfig::Adnce(_)
                | EstimatorConfig::ProGcl(_)
                | EstimatorConfig::Supervised(_)
        );
        if !weighted_sum {
            continue;
        }
        let scores = scores_on(&device, 3, 8);
        let weights = values(config.init().weights(&scores, &side_on(&device, 3, 8)));
        let (positives, negatives) = (values(scores.positives.clone()), values(scores.negatives.clone()));
        let x = |similarity: f64| (similarity / config.temperature()).exp();
        let expected: Vec<f64> = (0..3)
            .map(|i| (0..8).map(|j| weights[i * 8 + j] * x(negatives[i * 8 + j])).sum::<f64>() / x(positives[i]))
            .map(f64::ln_1p)
            .collect();
        assert_close(&losses(&config, scores), &expected, 1e-12);
    }
}

#[test]
fn huge_and_tiny_similarities_stay_finite() {
    let device = Device::flex().autodiff();
    for config in with_variants() {
        for scale in [1e-30, 1.0, 1e3, 1e6] {
            let positives = Tensor::<1>::from_data([scale, -scale], &device).require_grad();
            let negatives = Tensor::<2>::from_data([[-scale, scale, 0.0], [scale, -scale, 0.5 * scale]], &device).require_grad();
            let scores = Scores::new(positives.clone(), negatives.clone());
            let side = SideInformation::none()
                .with_same_class(Tensor::<2>::from_data([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], &device).bool())
                .with_noise(Tensor::ones([2], &device));
            let loss = config.init().forward_with(scores, &side, Reduction::Mean);
            let gradients = loss.clone().backward();
            let finite = values(loss)
                .into_iter()
                .chain(values(positives.grad(&gradients).expect("a gradient")))
                .chain(values(negatives.grad(&gradients).expect("a gradient")))
                .all(f64::is_finite);
            assert!(finite, "{} at scale {scale}", config.name());
        }
    }
}

#[test]
fn the_floor_keeps_a_tiny_loss_and_its_gradient() {
    let device = Device::flex().autodiff();
    let positives = Tensor::<1>::from_data([0.9], &device).require_grad();
    let negatives = Tensor::<2>::from_data([[-0.9, -0.8, -0.95]], &device);
    let scores = Scores::new(positives.clone(), negatives).with_least_similarity(-1.0);
    let loss = DebiasedLossConfig::new()
        .with_temperature(0.07)
        .with_tau_plus(0.1)
        .init()
        .forward(scores, Reduction::Mean);
    let gradients = loss.clone().backward();
    let expected = 3.0 * (-1.9f64 / 0.07).exp();
    assert_close(&[values(loss)[0] / expected], &[1.0], 1e-5);
    let slope = values(positives.grad(&gradients).expect("a gradient"))[0];
    assert_close(&[slope / (-expected / 0.07)], &[1.0], 1e-5);
}

/// Loss and gradients of scores in f32, for estimators that take raw similarities.
fn with_gradients(config: &EstimatorConfig, positives: &[f32], negatives: &[f32], least: Option<f64>) -> [Vec<f64>; 3] {
    let device = Device::flex().autodiff();
    let positives = Tensor::<1>::from_data(TensorData::from(positives), &device).require_grad();
    let shape = [positives.dims()[0], negatives.len() / positives.dims()[0]];
    let truth = TensorData::new((0..negatives.len()).map(|i| i % shape[1] == 1).collect::<Vec<_>>(), shape);
    let negatives = Tensor::<2>::from_data(TensorData::new(negatives.to_vec(), shape), &device).require_grad();
    let scores = Scores {
        least_similarity: least,
        ..Scores::new(positives.clone(), negatives.clone())
    };
    let side = SideInformation::none()
        .with_noise(Tensor::ones([shape[0]], &device))
        .with_same_class(Tensor::from_data(truth, &device));
    let loss = config.init().forward_with(scores, &side, Reduction::Mean);
    let gradients = loss.backward();
    [
        values(loss),
        values(positives.grad(&gradients).expect("a gradient")),
        values(negatives.grad(&gradients).expect("a gradient")),
    ]
}

fn floored() -> [EstimatorConfig; 3] {
    [
        EstimatorConfig::Debiased(DebiasedLossConfig::new().with_temperature(0.1)),
        EstimatorConfig::Hard(HardLossConfig::new().with_temperature(0.1)),
        EstimatorConfig::PositiveUnlabelled(PositiveUnlabelledLossConfig::new().with_temperature(0.1)),
    ]
}

fn all_finite(found: &[Vec<f64>]) -> bool {
    found.iter().flatten().all(|value| value.is_finite())
}

#[test]
fn a_positive_far_below_the_floor_has_finite_gradients() {
    // The floor is e^(190 / t) times as heavy as the positive, which no f32 holds.
    let negatives = [-200.0, -199.0, -250.0, -201.0];
    for config in floored() {
        for least in [None, Some(-1.0), Some(-300.0)] {
            let found @ [loss, of_positives, _] = &with_gradients(&config, &[-200.0], &negatives, least);
            assert!(all_finite(found), "{} {least:?}: {found:?}", config.name());
            if least == Some(-1.0) {
                // N e^(-1/t) is all the mass there is: the loss is log(N) + (199 / t).
                assert_close(loss, &[4f64.ln() + 1990.0], 1e-5);
                assert_close(of_positives, &[-10.0], 1e-5);
            }
        }
    }
}

#[test]
fn without_a_least_similarity_nothing_bounds_the_mass_but_zero() {
    // The positive beats all negatives by far: the expected false negatives outweigh them.
    for config in floored() {
        let [loss, of_positives, _] = with_gradients(&config, &[0.9], &[-0.9, -0.8, -0.95], None);
        assert_eq!((loss[0], of_positives[0]), (0.0, 0.0), "{}", config.name());
        let [loss, of_positives, _] = with_gradients(&config, &[0.9], &[-0.9, -0.8, -0.95], Some(-1.0));
        assert!(loss[0] > 0.0 && of_positives[0] < 0.0, "{}", config.name());
    }
}

#[test]
fn the_printed_floor_of_positive_unlabelled_losses_is_one_over_e_at_any_temperature() {
    let config = |temperature| {
        let config = PositiveUnlabelledLossConfig::new().with_temperature(temperature);
        EstimatorConfig::PositiveUnlabelled(config.with_floor(PositiveUnlabelledFloor::Printed))
    };
    let negatives = [-0.9, -0.8, -0.95];
    for least in [None, Some(-1.0)] {
        let [loss, of_positives, of_negatives] = with_gradients(&config(0.1), &[0.5], &negatives, least);
        let expected = (3.0 * (-1.0f64).exp() / (0.5f64 / 0.1).exp()).ln_1p();
        assert_close(&[loss[0] / expected], &[1.0], 1e-5);
        assert!(of_positives[0] < 0.0 && of_negatives.iter().all(|&slope| slope == 0.0));
    }
    // In a batch, fused kernels compute the same floor; at t = 1 it is the lowest similarity of cosines.
    let device = Device::flex();
    let views = [0.3, 1.1].map(|phase| Tensor::<2>::from_data(TensorData::new(similarities(24, phase), [6, 4]), &device));
    let of = |config: EstimatorConfig| values(config.init().forward(views.clone(), Reduction::Mean))[0];
    let lowest = EstimatorConfig::PositiveUnlabelled(PositiveUnlabelledLossConfig::new().with_temperature(1.0));
    assert_eq!(of(config(1.0)), of(lowest));
}

#[test]
fn hard_without_hardness_is_debiased_for_any_mask() {
    let device = Device::flex();
    let keep = TensorData::new((0..4 * 9).map(|i| i % 9 < 6 - i / 9).collect::<Vec<_>>(), [4, 9]);
    let scores = || scores_on(&device, 4, 9).with_mask(Tensor::from_data(keep.clone(), &device));
    for beta in [0.0, 1e-35] {
        let hard = EstimatorConfig::Hard(HardLossConfig::new().with_beta(beta));
        let debiased = EstimatorConfig::Debiased(DebiasedLossConfig::new());
        assert_close(
            &values(hard.init().weights(&scores(), &SideInformation::none())),
            &values(debiased.init().weights(&scores(), &SideInformation::none())),
            1e-12,
        );
        assert_close(&losses(&hard, scores()), &losses(&debiased, scores()), 1e-12);
    }
}

#[test]
fn anchors_without_negatives_have_no_loss_and_leave_the_mean() {
    let device = Device::flex().autodiff();
    for config in with_variants() {
        let estimator = config.init();
        let with = |keep: Option<[bool; 3]>| {
            let mut scores = scores_on(&device, 3, 7);
            if let Some(keep) = keep {
                let rows = keep.iter().flat_map(|&keep| [keep; 7]).collect();
                scores = scores.with_mask(Tensor::from_data(TensorData::new::<bool, _>(rows, [3, 7]), &device));
            }
            scores.positives = scores.positives.require_grad();
            scores.negatives = scores.negatives.require_grad();
            let leaves = (scores.positives.clone(), scores.negatives.clone());
            let losses = estimator.losses(scores.into(), &side_on(&device, 3, 7));
            let counted = losses.num_counted().map(|counted| values(counted)[0]);
            let each = values(losses.clone().values());
            let mean = losses.reduce(Reduction::Mean);
            let gradients = mean.backward();
            let of_positives = values(leaves.0.grad(&gradients).expect("a gradient"));
            let of_negatives = values(leaves.1.grad(&gradients).expect("a gradient"));
            (counted, each, values(mean)[0], of_positives, of_negatives)
        };
        let (_, each, mean, _, of_negatives) = with(None);
        let all = with(Some([true; 3]));
        assert_eq!(
            (all.0, all.2),
            (Some(3.0), mean),
            "{}: a mask that hides nothing changes nothing",
            config.name()
        );
        assert_close(&all.4, &of_negatives, 1e-15);

        let (counted, some, mean, of_positives, of_negatives) = with(Some([true, false, true]));
        assert_eq!((counted, some[1]), (Some(2.0), 0.0), "{}", config.name());
        // A loss that depends on other anchors is another one without them.
        let each = if estimator.requirements().whole_batch { some } else { each };
        assert_close(&[mean], &[f64::midpoint(each[0], each[2])], 1e-12);
        assert_eq!(of_positives[1], 0.0, "{}", config.name());
        assert_eq!(of_negatives[7..14], [0.0; 7], "{}", config.name());

        let (counted, none, mean, of_positives, _) = with(Some([false; 3]));
        assert_eq!((counted, none, mean), (Some(0.0), vec![0.0; 3], 0.0), "{}", config.name());
        assert_eq!(of_positives, [0.0; 3], "{}", config.name());
    }
}

#[test]
fn negatives_without_weight_do_not_drown_the_others() {
    // The highest score is far above the rest and left out: a ring drops it, to the oracle it is a false negative, and the weights of a
    // perfect encoder are 0 there.
    let left_out = [
        EstimatorConfig::Ring(RingLossConfig::new().with_temperature(0.1)),
        EstimatorConfig::Supervised(SupervisedLossConfig::new().with_temperature(0.1)),
        EstimatorConfig::Bayesian(BayesianLossConfig::new().with_temperature(0.1).with_alpha(1.0).with_beta(0.5)),
    ];
    for config in left_out {
        for scale in [1.0f32, 1e3, 1e30] {
            let row = [0.3, 100.0, 0.1, -0.2].map(|score: f32| score * scale);
            let found @ [_, of_positives, of_negatives] = &with_gradients(&config, &[0.2 * scale], &row, None);
            assert!(all_finite(found), "{} {scale}: {found:?}", config.name());
            assert_eq!(of_negatives[1], 0.0, "{}", config.name());
            assert!(of_positives[0] < -1.0, "{} {scale}: {of_positives:?}", config.name());
        }
    }
}

#[test]
fn scores_that_are_not_finite_have_no_loss() {
    for config in with_variants() {
        for row in [[f32::NAN, 0.1, 0.2, 0.3], [0.1, 0.2, 0.3, f32::NAN]] {
            let [loss, ..] = with_gradients(&config, &[0.5], &row, None);
            assert!(loss[0].is_nan(), "{}: {loss:?}", config.name());
        }
    }
}

#[test]
fn normalised_weights_average_to_one_and_keep_their_ratios() {
    let device = Device::flex();
    let config = BayesianLossConfig::new()
        .with_alpha(0.999)
        .with_beta(1.0)
        .with_tau_plus(0.0008);
    let keep = TensorData::new((0..3 * 8).map(|i| i < 8 || i % 3 > 0).collect::<Vec<_>>(), [3, 8]);
    let mut scores = scores_on(&device, 3, 8);
    // A tie, whose members share the higher rank.
    scores.negatives = scores.negatives.slice_fill([0..1, 2..5], 0.4);
    for scores in [scores.clone(), scores.with_mask(Tensor::from_data(keep, &device))] {
        let none = SideInformation::none();
        let plain = values(config.clone().init().weights(&scores, &none));
        let normalised = values(config.clone().with_normalised(true).init().weights(&scores, &none));
        for (plain, normalised) in plain.chunks(8).zip(normalised.chunks(8)) {
            let count = normalised.iter().filter(|&&weight| weight > 0.0).count() as f64;
            let mean = plain.iter().sum::<f64>() / count;
            assert!(mean > 1.5, "{mean}");
            assert_close(
                normalised,
                &plain.iter().map(|weight| weight / mean).collect::<Vec<_>>(),
                1e-12,
            );
        }
        let expected: Vec<f64> = values(scores.negatives.clone())
            .chunks(8)
            .zip(normalised.chunks(8))
            .zip(values(scores.positives.clone()))
            .map(|((row, weights), positive)| {
                let terms = row
                    .iter()
                    .zip(weights)
                    .map(|(score, weight)| weight * ((score - positive) / 0.5).exp());
                terms.sum::<f64>().ln_1p()
            })
            .collect();
        let loss = EstimatorConfig::Bayesian(config.clone().with_normalised(true));
        assert_close(&losses(&loss, scores), &expected, 1e-12);
    }
}

#[test]
fn a_measured_alpha_is_kept_where_weights_average_to_one_within_a_tenth() {
    let config = BayesianLossConfig::new().with_alpha(crate::auc::ALPHA_CEILING).with_beta(1.0);
    for (tau_plus, num_negatives) in [(0.0, 510), (0.0008, 128), (0.0, 16), (1e-4, 4096)] {
        let at_the_pole = config.clone().with_tau_plus(tau_plus);
        assert!(at_the_pole.mean_weight(num_negatives) > 1.2);
        let kept = at_the_pole.away_from_the_pole(num_negatives);
        let mean = kept.mean_weight(num_negatives);
        assert!((1.09..=1.1).contains(&mean), "{mean} at {kept:?}");
    }
    let far = BayesianLossConfig::new().with_alpha(0.95).with_beta(0.9);
    assert_eq!(far.clone().away_from_the_pole(510), far);
    let normalised = config.with_tau_plus(0.0).with_normalised(true);
    assert_eq!(normalised.clone().away_from_the_pole(510), normalised);
}

#[test]
fn limits_lead_from_one_estimator_to_another() {
    let device = Device::flex();
    let info_nce = losses(&EstimatorConfig::InfoNce(InfoNceLossConfig::new()), scores_on(&device, 4, 9));
    let same_as_info_nce = [
        EstimatorConfig::Debiased(DebiasedLossConfig::new().with_tau_plus(0.0)),
        EstimatorConfig::Hard(HardLossConfig::new().with_tau_plus(0.0).with_beta(0.0)),
        EstimatorConfig::Bayesian(BayesianLossConfig::new().with_alpha(0.5).with_beta(0.5)),
        EstimatorConfig::PositiveUnlabelled(PositiveUnlabelledLossConfig::new().with_class_prior(0.0)),
        EstimatorConfig::PositiveUnlabelled(PositiveUnlabelledLossConfig::new().with_label_frequency(1.0)),
        EstimatorConfig::Ring(RingLossConfig::new().with_lower(0.0).with_upper(1.0)),
        EstimatorConfig::Adnce(AdnceLossConfig::new().with_sigma(1e6)),
        EstimatorConfig::ProGcl(ProGclLossConfig::new().with_strength(0.0)),
        EstimatorConfig::Augmented(AugmentedLossConfig::new().with_lambda(0.0)),
    ];
    for config in same_as_info_nce {
        assert_close(&losses(&config, scores_on(&device, 4, 9)), &info_nce, 1e-12);
    }
    let hard = EstimatorConfig::Hard(HardLossConfig::new().with_beta(0.0));
    let debiased = EstimatorConfig::Debiased(DebiasedLossConfig::new());
    assert_close(
        &losses(&hard, scores_on(&device, 4, 9)),
        &losses(&debiased, scores_on(&device, 4, 9)),
        1e-12,
    );
}

#[test]
fn the_augmented_and_geometric_values_follow_their_equations() {
    let device = Device::flex();
    let scores = scores_on(&device, 3, 7);
    let x = |similarity: &f64| (similarity / 0.5).exp();
    let positives: Vec<f64> = values(scores.positives.clone()).iter().map(x).collect();
    let sums: Vec<f64> = values(scores.negatives.clone())
        .chunks(7)
        .map(|row| row.iter().map(x).sum())
        .collect();
    let noise = values(side_on(&device, 3, 7).noise.expect("noise"));
    let augmented: Vec<f64> = (0..3)
        .map(|i| {
            let rate = positives[i] + sums[i];
            -positives[i].ln() + noise[i] / rate * rate
        })
        .collect();
    let geometric: Vec<f64> = (0..3)
        .map(|i| -(3.0 * positives[i].ln() - sums[i].ln() - noise[i] / sums[i] * sums[i]))
        .collect();
    assert_close(
        &losses(&EstimatorConfig::Augmented(AugmentedLossConfig::new()), scores.clone()),
        &augmented,
        1e-12,
    );
    assert_close(
        &losses(&EstimatorConfig::Geometric(GeometricLossConfig::new()), scores),
        &geometric,
        1e-12,
    );
}

#[test]
fn adnce_weighs_by_a_bell_around_mu_and_holds_the_weights_constant() {
    let (t, mu, sigma) = (0.3, 0.4, 0.25);
    let config = AdnceLossConfig::new().with_temperature(t).with_mu(mu).with_sigma(sigma);
    let device = Device::flex().autodiff();
    let keep = |i: usize| i % 5 != 3;
    let mask: Vec<bool> = (0..21).map(keep).collect();
    let mut scores = scores_on(&device, 3, 7).with_mask(Tensor::from_data(TensorData::new::<bool, _>(mask, [3, 7]), &device));
    scores.positives = scores.positives.require_grad();
    scores.negatives = scores.negatives.require_grad();
    let (positives, negatives) = (scores.positives.clone(), scores.negatives.clone());
    let losses = config.init().losses(scores.into(), &SideInformation::none());
    let each = values(losses.clone().values());
    let gradients = losses.reduce(Reduction::Sum).backward();
    let of_positives = values(positives.grad(&gradients).expect("a gradient"));
    let of_negatives = values(negatives.grad(&gradients).expect("a gradient"));

    let (positives, negatives) = (values(positives), values(negatives));
    let mut expected = [Vec::new(), Vec::new(), Vec::new()];
    for (row, positive) in positives.iter().enumerate() {
        let entries = 7 * row..7 * row + 7;
        let bell = |i: usize| {
            let distance: f64 = (negatives[i] - mu) / sigma;
            if keep(i) { (-distance * distance / 2.0).exp() } else { 0.0 }
        };
        let mean = entries.clone().map(bell).sum::<f64>() / entries.clone().filter(|&i| keep(i)).count() as f64;
        let mass = |i: usize| bell(i) / mean * (negatives[i] / t).exp();
        let of_positive = (positive / t).exp();
        let total = of_positive + entries.clone().map(mass).sum::<f64>();
        expected[0].push((total / of_positive).ln());
        expected[1].push((of_positive / total - 1.0) / t);
        expected[2].extend(entries.map(|i| mass(i) / total / t));
    }
    assert_close(&each, &expected[0], 1e-12);
    assert_close(&of_positives, &expected[1], 1e-12);
    assert_close(&of_negatives, &expected[2], 1e-12);
}

#[test]
fn the_oracle_ignores_false_negatives_and_keeps_the_mass_when_asked() {
    let device = Device::flex();
    let scores = scores_on(&device, 2, 8);
    let side = side_on(&device, 2, 8);
    let plain = values(SupervisedLossConfig::new().init().weights(&scores, &side));
    assert_eq!(&plain[..8], &[0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    let rescaled = values(SupervisedLossConfig::new().with_rescale(true).init().weights(&scores, &side));
    assert_close(&[rescaled[..8].iter().sum()], &[8.0], 1e-12);
}

#[test]
fn bayesian_weights_are_those_of_the_posterior() {
    let device = Device::flex();
    let scores = Scores::new(
        Tensor::<1>::from_data([0.0], &device),
        Tensor::<2>::from_data([[1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 0.0]], &device),
    );
    let bayesian = BayesianLossConfig::new().with_alpha(0.8).with_beta(0.7).init();
    let weights = values(bayesian.weights(&scores, &SideInformation::none()));
    let posterior = crate::posterior::Posterior::new(0.8, 0.7, 0.1).expect("in range");
    let ecdf = [2.0, 4.0, 4.0, 7.0, 7.0, 7.0, 8.0, 1.0].map(|rank: f64| rank / 8.0);
    assert_close(&weights, &ecdf.map(|u| posterior.omega(u)), 1e-6);
}

#[test]
fn every_kind_survives_a_round_trip_and_refuses_unknown_keys() {
    for config in with_variants() {
        let mut value = serde_json::to_value(&config).expect("serialises");
        assert_eq!(value["kind"], config.name());
        assert_eq!(
            serde_json::from_value::<EstimatorConfig>(value.clone()).expect("parses"),
            config
        );
        assert!(
            value.get("normalised").is_none(),
            "what is not asked for is not written, so that hashes of recipes stay"
        );
        value["gamma"] = 1.into();
        assert!(serde_json::from_value::<EstimatorConfig>(value).is_err(), "{}", config.name());
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name_value_and_range() {
    let cases = [
        (
            EstimatorConfig::InfoNce(InfoNceLossConfig::new().with_temperature(0.0)),
            "temperature is 0",
        ),
        (
            EstimatorConfig::Decoupled(DecoupledLossConfig::new().with_temperature(f64::NAN)),
            "temperature is NaN",
        ),
        (
            EstimatorConfig::Decoupled(DecoupledLossConfig::new().with_sigma(Some(0.0))),
            "sigma is 0, but must be in [1e-6, 1000000]",
        ),
        (
            EstimatorConfig::Debiased(DebiasedLossConfig::new().with_tau_plus(1.0)),
            "tau_plus is 1, but must be in [0, 1)",
        ),
        (EstimatorConfig::Hard(HardLossConfig::new().with_beta(-0.5)), "beta is -0.5"),
        (
            EstimatorConfig::Bayesian(BayesianLossConfig::new().with_alpha(0.4)),
            "alpha is 0.4, but must be in [0.5, 1]",
        ),
        (
            EstimatorConfig::Bayesian(BayesianLossConfig::new().with_beta(1.5)),
            "beta is 1.5, but must be in [0, 1]",
        ),
        (
            EstimatorConfig::Bayesian(BayesianLossConfig::new().with_alpha(1.0).with_beta(1.0)),
            "alpha",
        ),
        (
            EstimatorConfig::PositiveUnlabelled(PositiveUnlabelledLossConfig::new().with_class_prior(1.0)),
            "class_prior is 1",
        ),
        (
            EstimatorConfig::Ring(RingLossConfig::new().with_lower(0.95)),
            "lower is 0.95, but must be in [0, 0.9)",
        ),
        (
            EstimatorConfig::Supervised(SupervisedLossConfig::new().with_temperature(-1.0)),
            "temperature is -1",
        ),
        (
            EstimatorConfig::Augmented(AugmentedLossConfig::new().with_lambda(2.0)),
            "lambda is 2, but must be in [0, 1]",
        ),
        (
            EstimatorConfig::Geometric(GeometricLossConfig::new().with_temperature(f64::INFINITY)),
            "temperature is inf",
        ),
    ];
    for (config, expected) in cases {
        let message = config.check().expect_err("out of range").to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
#[should_panic(expected = "beta is 2, but must be in [0, 1]")]
fn init_panics_with_the_text_of_the_check() {
    BayesianLossConfig::new().with_beta(2.0).init();
}

#[test]
#[should_panic(expected = "with_same_class")]
fn the_error_of_the_oracle_says_how_to_provide_labels() {
    let device = Device::flex();
    let scores = Scores::new(Tensor::zeros([1], &device), Tensor::zeros([1, 2], &device));
    SupervisedLossConfig::new().init().forward_no_reduction(scores);
}

#[test]
fn what_is_not_asked_for_is_not_written() {
    // Otherwise the hashes of recipes would change.
    let written = |config: EstimatorConfig| serde_json::to_value(config).expect("serialises");
    assert_eq!(
        written(EstimatorConfig::Decoupled(DecoupledLossConfig::new())),
        serde_json::json!({ "kind": "decoupled", "temperature": 0.5 })
    );
    assert_eq!(
        written(EstimatorConfig::Augmented(AugmentedLossConfig::new())),
        serde_json::json!({ "kind": "augmented", "temperature": 0.5, "lambda": 1.0 })
    );
}

#[test]
fn easy_pairs_weigh_less_in_the_weighted_decoupled_loss_and_weights_average_to_one() {
    let device = Device::flex().autodiff();
    let leaves = || {
        let scores = scores_on(&device, 4, 6);
        (scores.positives.clone().require_grad(), scores)
    };
    let gradient = |sigma: Option<f64>| {
        let (positives, mut scores) = leaves();
        scores.positives = positives.clone();
        let loss = DecoupledLossConfig::new()
            .with_sigma(sigma)
            .init()
            .forward(scores, Reduction::Sum);
        values(positives.grad(&loss.backward()).expect("a gradient"))
    };
    // The loss is -w s+ / t beside the negatives, so w is the ratio of the gradients.
    let weights: Vec<f64> = gradient(Some(0.3))
        .iter()
        .zip(gradient(None))
        .map(|(with, without)| with / without)
        .collect();
    let positives = values(leaves().0);
    let total: f64 = positives.iter().map(|positive| (positive / 0.3).exp()).sum();
    let expected: Vec<f64> = positives
        .iter()
        .map(|positive| 2.0 - 4.0 * (positive / 0.3).exp() / total)
        .collect();
    assert_close(&weights, &expected, 1e-12);
    assert_close(&[weights.iter().sum()], &[4.0], 1e-12);
    assert!(
        DecoupledLossConfig::new()
            .with_sigma(Some(0.3))
            .init()
            .requirements()
            .whole_batch
    );
    assert!(!DecoupledLossConfig::new().init().requirements().whole_batch);
}

#[test]
fn masked_positives_have_no_part_in_the_weights_of_others() {
    let device = Device::flex();
    let negatives = scores_on(&device, 2, 6).negatives;
    let options = (&device, DType::F64);
    let padded = Tensor::from_data([[0.4, 0.1], [-0.2, 90.0]], options);
    let keep = Tensor::<2, Bool>::from_data([[true, false], [true, false]], &device);
    let loss = EstimatorConfig::Decoupled(DecoupledLossConfig::new().with_sigma(Some(0.3)));
    let scores = Scores::multi_positive(padded, negatives.clone()).with_positives_mask(keep);
    let alone = Scores::new(Tensor::from_data([0.4, -0.2], options), negatives);
    assert_close(&losses(&loss, scores), &losses(&loss, alone), 1e-12);
}

/// Gradients with respect to positives and negatives, one after the other.
fn slopes(config: &EstimatorConfig, side: impl FnOnce(&Scores) -> SideInformation) -> Vec<f64> {
    let device = Device::flex().autodiff();
    let mut scores = scores_on(&device, 3, 7);
    scores.positives = scores.positives.require_grad();
    scores.negatives = scores.negatives.require_grad();
    let leaves = [scores.positives.clone(), scores.negatives.clone()];
    let side = side(&scores);
    let gradients = config.init().forward_with(scores, &side, Reduction::Mean).backward();
    leaves.map(|leaf| values(leaf.grad(&gradients).expect("a gradient"))).concat()
}

/// The gradient is linear in the draw g, whose mean is 1, so draws that average to 1 show its expectation without an error.
#[test]
fn draws_at_the_rate_of_the_batch_only_add_noise_to_the_base() {
    let info_nce = EstimatorConfig::InfoNce(InfoNceLossConfig::new());
    let decoupled = EstimatorConfig::Decoupled(DecoupledLossConfig::new());
    for (rate, base, same) in [
        (AugmentedRate::WithPositive, AugmentedBase::InfoNce, &info_nce),
        (AugmentedRate::Negatives, AugmentedBase::Decoupled, &decoupled),
        (AugmentedRate::MeanNegatives, AugmentedBase::Decoupled, &decoupled),
    ] {
        for lambda in [0.3, 1.0] {
            let config = AugmentedLossConfig::new().with_lambda(lambda).with_rate(rate).with_base(base);
            let config = EstimatorConfig::Augmented(config);
            let with_draw = |draw: f64| {
                slopes(&config, |scores| {
                    SideInformation::none().with_noise(scores.positives.full_like(draw).squeeze_dim(1))
                })
            };
            let (low, high) = (with_draw(0.25), with_draw(1.75));
            let mean: Vec<f64> = low.iter().zip(&high).map(|(low, high)| f64::midpoint(*low, *high)).collect();
            assert_close(&mean, &slopes(same, |_| SideInformation::none()), 1e-12);
            assert!(
                low.iter().zip(&high).any(|(low, high)| (low - high).abs() > 1e-3),
                "{rate:?} has noise"
            );
        }
    }
}

#[test]
fn given_rates_that_are_those_of_the_batch_change_nothing() {
    for rate in [
        AugmentedRate::WithPositive,
        AugmentedRate::Negatives,
        AugmentedRate::MeanNegatives,
    ] {
        let augmented = AugmentedLossConfig::new().with_lambda(0.5).with_rate(rate);
        let estimator = augmented.init();
        let config = EstimatorConfig::Augmented(augmented);
        let device = Device::flex().autodiff();
        let rates = |scores: &Scores| estimator.log_rates(scores, estimator.log_means(scores));
        let given = slopes(&config, |scores| side_on(&device, 3, 7).with_log_rates(rates(scores)));
        assert_close(&given, &slopes(&config, |_| side_on(&device, 3, 7)), 1e-12);
    }
}

#[test]
fn a_rate_half_as_high_draws_weights_twice_as_high() {
    let augmented = AugmentedLossConfig::new().with_rate(AugmentedRate::Negatives);
    let estimator = augmented.init();
    let config = EstimatorConfig::Augmented(augmented);
    let device = Device::flex().autodiff();
    let rates = |scores: &Scores| estimator.log_rates(scores, estimator.log_means(scores));
    let halved = slopes(&config, |scores| {
        side_on(&device, 3, 7).with_log_rates(rates(scores) - 2f64.ln())
    });
    let whole = slopes(&config, |_| side_on(&device, 3, 7));
    // The positive does not depend on the draw.
    assert_close(&halved[..3], &whole[..3], 1e-12);
    let doubled: Vec<f64> = whole[3..].iter().map(|slope| 2.0 * slope).collect();
    assert_close(&halved[3..], &doubled, 1e-12);
}

#[test]
fn an_anchor_without_negatives_has_no_log_mean() {
    let device = Device::flex();
    let mask = Tensor::<2>::from_data([[1, 1], [0, 0], [1, 0]], &device).bool();
    let negatives = Tensor::<2>::from_data([[0.1, 0.3], [0.2, 0.4], [-0.2, 0.9]], &device);
    let scores = Scores::new(Tensor::from_data([0.5, 0.6, 0.7], &device), negatives).with_mask(mask);
    let augmented = AugmentedLossConfig::new().with_running(Some(0.1)).init();
    let log_means = augmented.log_means(&scores);
    let of_first = f64::midpoint(0.2f64.exp(), 0.6f64.exp()).ln();
    let found = values(log_means.clone());
    assert_close(&[found[0], found[2]], &[of_first, -0.4], 1e-6);
    assert_eq!(found[1], f64::from(AugmentedLoss::NO_LOG_MEAN));
    assert!(
        values(augmented.log_rates(&scores, log_means))
            .iter()
            .all(|rate| rate.is_finite())
    );
}

#[test]
fn side_information_of_some_anchors_has_their_rates() {
    let device = Device::flex();
    let rates = Tensor::<1>::from_data([0.1, 0.2, 0.3], &device);
    let some = SideInformation::none().with_log_rates(rates).of_anchors(1..3);
    assert_close(&values(some.log_rates.expect("given")), &[0.2, 0.3], 1e-6);
}

#[test]
fn an_anchor_is_floored_beyond_the_margin_of_its_temperature() {
    let device = Device::flex().autodiff();
    // All negatives are 0, so the margin is the positive: t ln(1 / τ+) = 0.23 for t = 0.1 and τ+ = 0.1.
    let margin = 0.1 * 10f64.ln();
    let weights: [f64; 2] = [(1.0 - 0.12 * 0.1) / 0.88, 0.12 * 0.9 / 0.88];
    let of_positive_unlabelled = 0.1 * (weights[0] / weights[1]).ln();
    for (config, margin) in floored().into_iter().zip([margin, margin, of_positive_unlabelled]) {
        let config = match config {
            EstimatorConfig::PositiveUnlabelled(config) => {
                EstimatorConfig::PositiveUnlabelled(config.with_class_prior(0.12).with_label_frequency(0.1))
            }
            other => other,
        };
        let options = (&device, DType::F64);
        let positives = Tensor::<1>::from_data([margin - 1e-3, margin + 1e-3, 0.9], options);
        let negatives = Tensor::<2>::zeros([3, 4], options).require_grad();
        let keep = TensorData::new((0..12).map(|entry| entry < 8).collect::<Vec<_>>(), [3, 4]);
        let scores = Scores::new(positives, negatives.clone()).with_least_similarity(-1.0);
        let scores = scores.with_mask(Tensor::<2, Bool>::from_data(keep, &device));
        let (estimator, side) = (config.init(), SideInformation::none());
        let marks = estimator.floored(&scores, &side).expect("a floor").into_data();
        // The last anchor has no negatives and so no loss.
        assert_eq!(
            marks.iter::<bool>().collect::<Vec<_>>(),
            [false, true, false],
            "{}",
            config.name()
        );
        let gradients = estimator.forward(scores, Reduction::Mean).backward();
        let slopes = values(negatives.grad(&gradients).expect("a gradient"));
        assert!(slopes[0] > 0.0, "{}: {slopes:?}", config.name());
        assert_eq!(slopes[4..8], [0.0; 4], "{}", config.name());
    }
}

#[test]
fn with_several_positives_an_anchor_is_floored_by_the_mean_of_those_that_count() {
    let device = Device::flex();
    let positives = Tensor::<2>::from_data([[0.9, 0.1], [0.1, 0.0], [0.9, 0.1]], &device);
    let keep = Tensor::<2, Bool>::from_data([[true, true], [true, true], [false, true]], &device);
    let scores = Scores::multi_positive(positives, Tensor::zeros([3, 4], &device)).with_least_similarity(-1.0);
    let scores = scores.with_positives_mask(keep);
    let estimator = DebiasedLossConfig::new().with_temperature(0.1).init();
    let marks = estimator
        .floored(&scores, &SideInformation::none())
        .expect("a floor")
        .into_data();
    assert_eq!(marks.iter::<bool>().collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn estimators_without_a_floor_mark_nothing() {
    let scores = scores_on(&Device::flex(), 3, 7);
    for config in EstimatorConfig::all() {
        let has_floor = floored().iter().any(|floored| floored.name() == config.name());
        let marks = config.init().floored(&scores, &side_on(&Device::flex(), 3, 7));
        assert_eq!(marks.is_some(), has_floor, "{}", config.name());
    }
}

/// The loss of some of six samples with two views each, and its gradient with respect to all views.
fn of_samples(config: &EstimatorConfig, samples: &[usize], draws: Option<&[f64]>) -> (f64, Vec<f64>) {
    const ALL: usize = 6;
    let device = Device::flex().autodiff();
    let options = (&device, DType::F64);
    let views = [0.4, 1.3].map(|phase| TensorData::new(similarities(4 * ALL, phase), [ALL, 4]));
    let views = views.map(|view| Tensor::<2>::from_data(view, options).require_grad());
    let rows = views.clone().map(|view| {
        let samples: Vec<i64> = samples.iter().map(|&sample| sample as i64).collect();
        view.select(0, Tensor::from_data(&*samples, &device))
    });
    let mut side = SideInformation::none();
    if let Some(draws) = draws {
        let of_view = |view: usize| samples.iter().map(move |sample| draws[view * ALL + sample]);
        let draws: Vec<f64> = of_view(0).chain(of_view(1)).collect();
        let zeros = Tensor::<1>::zeros([draws.len()], options);
        side = side
            .with_noise(Tensor::from_data(TensorData::from(&*draws), options))
            .with_log_rates(zeros);
    }
    let loss = config.init().forward_with(rows, &side, Reduction::Mean);
    let gradients = loss.backward();
    let gradient = views
        .iter()
        .flat_map(|view| values(view.grad(&gradients).expect("a gradient")));
    (values(loss)[0], gradient.collect())
}

#[test]
fn with_several_positives_the_corrections_take_their_mean() {
    let device = Device::flex();
    let options = (&device, DType::F64);
    let (positives, negatives) = (similarities(8, 0.3), similarities(20, 1.1));
    let mask = [true, true, false, true, false, false, true, true];
    let scores = Scores::multi_positive(
        Tensor::from_data(TensorData::new(positives.clone(), [4, 2]), options),
        Tensor::from_data(TensorData::new(negatives.clone(), [4, 5]), options),
    )
    .with_positives_mask(Tensor::from_data(TensorData::new(mask.to_vec(), [4, 2]), &device));
    let x = |similarity: f64| (similarity / 0.5).exp();
    let expected = |number: f64, [unlabelled, correction, beta]: [f64; 3]| -> Vec<f64> {
        let of_anchor = |anchor: usize| {
            let counted: Vec<f64> = (0..2)
                .filter(|place| mask[2 * anchor + place])
                .map(|place| x(positives[2 * anchor + place]))
                .collect();
            let mean_positive = counted.iter().sum::<f64>() / counted.len() as f64;
            let row: Vec<f64> = negatives[5 * anchor..][..5].iter().map(|&similarity| x(similarity)).collect();
            let weights: Vec<f64> = row.iter().map(|x| x.powf(beta)).collect();
            let mean = row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() / weights.iter().sum::<f64>();
            let mass = number * (unlabelled * mean - correction * mean_positive).max(0.0);
            counted.iter().map(|positive| (mass / positive).ln_1p()).sum::<f64>() / counted.len() as f64
        };
        (0..4).filter(|&anchor| anchor != 2).map(of_anchor).collect()
    };
    let (alpha, c) = (0.2, 0.3);
    let unlabelled = PositiveUnlabelledLossConfig::new()
        .with_class_prior(alpha)
        .with_label_frequency(c);
    let debiased = [1.0 / 0.9, 0.1 / 0.9];
    let corrected = [(1.0 - alpha * c) / (1.0 - alpha), alpha * (1.0 - c) / (1.0 - alpha)];
    for number in [None, Some(7.5)] {
        let cases = [
            (
                EstimatorConfig::Debiased(DebiasedLossConfig::new().with_num_negatives(number)),
                [debiased[0], debiased[1], 0.0],
            ),
            (
                EstimatorConfig::Hard(HardLossConfig::new().with_num_negatives(number)),
                [debiased[0], debiased[1], 1.0],
            ),
            (
                EstimatorConfig::PositiveUnlabelled(unlabelled.clone().with_num_negatives(number)),
                [corrected[0], corrected[1], 0.0],
            ),
        ];
        for (config, terms) in cases {
            let found = values(
                config
                    .init()
                    .losses(scores.clone().into(), &SideInformation::none())
                    .values()
                    .clone(),
            );
            let found: Vec<f64> = found
                .into_iter()
                .enumerate()
                .filter(|(anchor, _)| *anchor != 2)
                .map(|(_, loss)| loss)
                .collect();
            assert_close(&found, &expected(number.unwrap_or(5.0), terms), 1e-10);
        }
    }
}

#[test]
fn pairs_take_another_number_of_negatives_where_kernels_do_not() {
    let device = Device::flex();
    let views = || [0.4, 1.3].map(|phase| Tensor::<2>::from_data(TensorData::new(similarities(256, phase), [64, 4]), &device));
    let loss = |config: DebiasedLossConfig| values(config.init().forward(views(), Reduction::Mean))[0];
    let plain = loss(DebiasedLossConfig::new());
    let of = |number| loss(DebiasedLossConfig::new().with_num_negatives(Some(number)));
    assert_close(&[of(126.0)], &[plain], 1e-5);
    assert!(of(252.0) > plain + 0.5, "{} is not far above {plain}", of(252.0));
}

#[test]
fn with_draws_from_elsewhere_batches_are_unbiased_and_without_them_they_are_not() {
    let draws: Vec<f64> = similarities(12, 2.0).iter().map(|value| value.abs() + 0.1).collect();
    let decomposable = AugmentedLossConfig::new().with_rate(AugmentedRate::MeanNegatives);
    let decomposable = decomposable.with_base(AugmentedBase::Decoupled);
    // All pairs and all triples of samples: pairs are the tuples of the paper's appendix D.
    let batches = |size: u32| {
        let sets = (0_u32..1 << 6).filter(move |set| set.count_ones() == size);
        sets.map(|set| (0..6).filter(|sample| set >> sample & 1 == 1).collect::<Vec<usize>>())
    };
    // The largest difference of a gradient from the gradient of all samples.
    let bias = |config: &EstimatorConfig, draws: Option<&[f64]>, size: u32| {
        let (whole, of_whole) = of_samples(config, &[0, 1, 2, 3, 4, 5], draws);
        let count = batches(size).count() as f64;
        let (mut mean, mut gradient) = (0.0, vec![0.0; of_whole.len()]);
        for samples in batches(size) {
            let (loss, slopes) = of_samples(config, &samples, draws);
            mean += loss / count;
            gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope / count);
        }
        let differences = gradient.iter().zip(&of_whole).map(|(mean, whole)| (mean - whole).abs());
        // `f64::max` would drop NaN.
        let largest: f64 = differences.fold(0.0, |most, next| if next.is_nan() { f64::INFINITY } else { most.max(next) });
        ((mean - whole).abs(), largest)
    };
    for size in [2, 3] {
        let (value, gradient) = bias(&EstimatorConfig::Augmented(decomposable.clone()), Some(&draws), size);
        assert!(value < 1e-12 && gradient < 1e-12, "{size}: {value}, {gradient}");
        let (_, gradient) = bias(&EstimatorConfig::Decoupled(DecoupledLossConfig::new()), None, size);
        assert!(gradient > 1e-3, "{size}: {gradient}");
    }
}
