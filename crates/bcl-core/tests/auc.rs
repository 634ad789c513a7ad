//! The area under the ROC curve against its definition, and the `α` that follows from it.

use bcl_core::{
    Scores,
    auc::{
        ALPHA_CEILING, alpha_of_auc, auc, auc_of_alpha, auc_of_classes, auc_of_positives, auc_unlabelled, label_free_alpha,
        limited_alpha,
    },
    simulation::ClassSampler,
};
use burn::tensor::{Bool, Device, Tensor, TensorData};
use proptest::prelude::*;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

/// Whole numbers, so that ties are common.
fn samples() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-5i32..5).prop_map(f64::from), 1..20)
}

fn by_definition(positives: &[f64], negatives: &[f64]) -> f64 {
    let mut wins = 0.0;
    for positive in positives {
        for negative in negatives {
            wins += match positive.partial_cmp(negative).unwrap() {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    wins / (positives.len() * negatives.len()) as f64
}

fn scores(positives: &[f64], negatives: &[f64]) -> Scores {
    let device = Device::flex();
    let num_negatives = negatives.len() / positives.len();
    Scores::new(
        Tensor::from_floats(positives, &device),
        Tensor::<1>::from_floats(negatives, &device).reshape([positives.len(), num_negatives]),
    )
}

fn flags<const M: usize, const N: usize>(flags: [[bool; N]; M]) -> Tensor<2, Bool> {
    Tensor::from_data(TensorData::from(flags), &Device::flex())
}

proptest! {
    #[test]
    fn the_sorted_count_equals_the_definition(positives in samples(), negatives in samples()) {
        let expected = by_definition(&positives, &negatives);
        prop_assert!((auc(&positives, &negatives).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn swapping_the_samples_gives_the_complement(positives in samples(), negatives in samples()) {
        let sum = auc(&positives, &negatives).unwrap() + auc(&negatives, &positives).unwrap();
        prop_assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn an_increasing_map_changes_nothing(positives in samples(), negatives in samples()) {
        let map = |sample: &[f64]| sample.iter().map(|&score| (score / 2.0).exp()).collect::<Vec<_>>();
        prop_assert_eq!(auc(&map(&positives), &map(&negatives)), auc(&positives, &negatives));
    }

    #[test]
    fn the_unlabelled_auc_is_the_mean_over_rows(positives in prop::collection::vec((-5i32..5).prop_map(f64::from), 4), negatives in prop::collection::vec((-5i32..5).prop_map(f64::from), 24)) {
        let expected = positives.iter().zip(negatives.chunks(6)).map(|(&positive, row)| by_definition(&[positive], row)).sum::<f64>() / 4.0;
        prop_assert!((auc_unlabelled(&scores(&positives, &negatives)).unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn the_label_free_alpha_undoes_the_mixing(alpha in 0.5f64..0.999, tau_plus in 0.0..0.9) {
        // An unlabelled score is a true negative with probability τ-, and otherwise as good as the positive.
        let auc_unlabelled = (1.0 - tau_plus) * alpha + tau_plus * 0.5;
        prop_assert!((label_free_alpha(auc_unlabelled, tau_plus) - alpha).abs() < 1e-12);
    }

    #[test]
    fn every_estimate_becomes_an_accepted_alpha(estimate in prop_oneof![-3.0..3.0, Just(f64::NAN), Just(f64::INFINITY)]) {
        let alpha = limited_alpha(estimate);
        prop_assert!((0.5..=ALPHA_CEILING).contains(&alpha));
        prop_assert!(bcl_core::posterior::Posterior::new(alpha, 1.0, 0.1).unwrap().omega(1.0).is_finite());
    }
}

#[test]
fn ties_count_one_half() {
    assert_eq!(auc(&[1.0], &[1.0]), Some(0.5));
    assert_eq!(auc(&[0.0], &[-0.0]), Some(0.5));
    assert_eq!(auc(&[f64::INFINITY], &[f64::INFINITY, 1.0]), Some(0.75));
}

#[test]
fn an_empty_sample_has_no_auc() {
    assert_eq!(auc(&[], &[1.0]), None);
    assert_eq!(auc(&[1.0], &[]), None);
}

#[test]
fn nan_scores_have_no_auc() {
    let nan = f64::NAN;
    assert_eq!(auc(&[1.0], &[0.0, nan]), None);
    assert_eq!(auc(&[nan], &[0.0, 1.0]), None);
    for (positives, negatives) in [([0.5, nan], [0.1, 0.9, 0.1, 0.2]), ([0.5, 0.5], [0.1, 0.9, nan, 0.2])] {
        let scores = scores(&positives, &negatives);
        assert_eq!(auc_unlabelled(&scores), None);
        assert_eq!(auc_of_positives(&scores, &flags([[false, false], [false, true]])), None);
    }
    let scores = scores(&[0.5, 0.5], &[0.1, 0.9, nan, 0.2]);
    assert_eq!(auc_of_classes(&scores, &flags([[true, false], [true, false]])), None);
}

#[test]
fn masked_entries_may_be_nan() {
    let masked = scores(&[0.5, 0.5], &[0.1, 0.9, f64::NAN, 0.2]).with_mask(flags([[true, true], [false, true]]));
    assert_eq!(auc_unlabelled(&masked), Some(0.75));
    assert_eq!(auc_of_classes(&masked, &flags([[true, false], [true, false]])), Some(0.0));
}

#[test]
fn draws_of_the_model_separate_less_than_alpha_and_lead_back_to_it() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    for alpha in [0.5, 0.7, 0.9, 1.0] {
        let sampler = ClassSampler::new(alpha);
        let false_negatives: Vec<f64> = (0..200_000).map(|_| sampler.false_negative(&mut rng)).collect();
        let true_negatives: Vec<f64> = (0..200_000).map(|_| sampler.true_negative(&mut rng)).collect();
        let measured = auc(&false_negatives, &true_negatives).unwrap();
        // The standard error of the AUC is about 0.001; α's is 1.5 times as large.
        assert!((measured - auc_of_alpha(alpha)).abs() < 0.004, "{measured} at {alpha}");
        assert!(
            (alpha_of_auc(measured) - alpha).abs() < 0.006,
            "{} at {alpha}",
            alpha_of_auc(measured)
        );
    }
}

#[test]
fn masked_negatives_have_no_effect() {
    let masked =
        scores(&[0.5, 0.5], &[0.1, 0.9, 0.5, 0.1, 0.9, 0.9]).with_mask(flags([[true, false, true], [true, false, false]]));
    assert_eq!(auc_unlabelled(&masked), Some(f64::midpoint(0.75, 1.0)));
}

#[test]
fn anchors_without_negatives_are_left_out_of_the_mean() {
    let half = scores(&[0.5, 0.5], &[0.1, 0.9, 0.1, 0.1]).with_mask(flags([[true, true], [false, false]]));
    assert_eq!(auc_unlabelled(&half), Some(0.5));
    let none = scores(&[0.5], &[0.1, 0.9]).with_mask(flags([[false, false]]));
    assert_eq!(auc_unlabelled(&none), None);
}

#[test]
fn with_labels_false_negatives_do_not_count_against_the_positive() {
    let scores = scores(&[0.5], &[0.1, 0.9, 0.5]);
    let same_class = flags([[false, true, false]]);
    assert_eq!(auc_unlabelled(&scores), Some(0.5));
    assert_eq!(auc_of_positives(&scores, &same_class), Some(0.75));
    let masked = scores.with_mask(flags([[true, true, false]]));
    assert_eq!(auc_of_positives(&masked, &same_class), Some(1.0));
}

#[test]
fn classes_are_compared_row_by_row_without_the_positive() {
    // The second row's scores are all above the first's; the third has no false negative and is left out.
    let scores = scores(&[0.0, 0.0, 0.0], &[0.1, 0.3, 0.2, 5.1, 5.0, 5.1, 1.0, 1.0, 1.0]);
    let same_class = flags([[false, true, false], [true, false, false], [false, false, false]]);
    assert_eq!(auc_of_classes(&scores, &same_class), Some(f64::midpoint(1.0, 0.75)));
    let masked = scores.with_mask(flags([[true, false, true], [true, true, false], [true, true, true]]));
    assert_eq!(auc_of_classes(&masked, &same_class), Some(1.0));
}

#[test]
fn without_both_classes_in_a_row_there_is_no_class_auc() {
    let (scores, same_class) = (scores(&[0.0], &[0.1, 0.3]), flags([[true, true]]));
    assert_eq!(auc_of_classes(&scores, &same_class), None);
    assert_eq!(auc_of_positives(&scores, &same_class), None);
}

#[test]
fn the_auc_of_several_positives_is_the_mean_of_theirs() {
    let device = Device::flex();
    let positives = Tensor::from_floats([[0.5, 0.2, 7.0], [0.0, f32::NAN, f32::NAN], [0.0, 0.0, 0.0]], &device);
    let negatives = Tensor::from_floats([[0.1, 0.3], [0.1, -0.3], [0.1, 0.1]], &device);
    let counted = flags([[true, true, false], [true, false, false], [false, false, false]]);
    let scores = Scores::multi_positive(positives, negatives).with_positives_mask(counted);
    // The first anchor has 1 and 1/2, the second 1/2; the third has no positive.
    assert_eq!(auc_unlabelled(&scores), Some(f64::midpoint(0.75, 0.5)));
}

#[test]
#[should_panic(expected = "same_class must have the shape of the negatives")]
fn a_label_based_auc_checks_the_shape_of_the_truth() {
    auc_of_classes(&scores(&[0.0], &[0.1]), &flags([[true, false]]));
}

#[test]
#[should_panic(expected = "tau_plus is 1, but must be in [0, 1)")]
fn a_prior_of_one_leaves_nothing_to_estimate() {
    label_free_alpha(0.9, 1.0);
}
