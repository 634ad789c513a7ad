//! Claims of the papers about the posterior and its weights, as property tests.

use bcl_core::posterior::{Posterior, PosteriorTensors, ecdf};
use burn::tensor::{DType, Device, Tensor, TensorData};
use proptest::prelude::*;

/// Parameters from the whole accepted ranges, ends included.
fn posteriors() -> impl Strategy<Value = Posterior> {
    (alphas(), betas(), tau_plus()).prop_filter_map("0/0", |(alpha, beta, tau_plus)| Posterior::new(alpha, beta, tau_plus).ok())
}

fn alphas() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.5..=1.0, 1 => Just(0.5), 1 => Just(1.0), 1 => Just(0.999_999)]
}

fn betas() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..=1.0, 1 => Just(0.0), 1 => Just(0.5), 1 => Just(1.0)]
}

fn tau_plus() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..0.999, 1 => Just(0.0), 1 => Just(0.5)]
}

fn rows() -> impl Strategy<Value = Vec<f64>> {
    // Whole numbers, so that ties are common.
    prop::collection::vec((-6i32..6).prop_map(f64::from), 1..24)
}

/// The paper's own coefficients `a` and `b` of Eq. 14.
fn quadratic(posterior: &Posterior) -> (f64, f64) {
    let (alpha, tau_plus) = (posterior.alpha(), posterior.tau_plus());
    let tau_minus = 1.0 - tau_plus;
    (
        (1.0 - 2.0 * alpha) * (tau_minus - tau_plus),
        2.0 * (alpha * tau_minus + (1.0 - alpha) * tau_plus),
    )
}

fn close(left: f64, right: f64, tolerance: f64) -> bool {
    (left - right).abs() <= tolerance * right.abs().max(1.0)
}

proptest! {
    #[test]
    fn the_quadratic_has_a_real_root_between_its_ends(posterior in posteriors(), ecdf in 0.0..=1.0) {
        let (a, b) = quadratic(&posterior);
        prop_assert!(close(a + b, 1.0, 1e-12));
        let discriminant = b * b + 4.0 * a * ecdf;
        let (at_zero, at_one) = (b * b, (2.0 - b) * (2.0 - b));
        prop_assert!(discriminant >= at_zero.min(at_one) - 1e-12 && discriminant <= at_zero.max(at_one) + 1e-12);
    }

    #[test]
    fn phi_solves_the_quadratic(posterior in posteriors(), ecdf in 0.0..=1.0) {
        let (a, b) = quadratic(&posterior);
        let phi = posterior.phi(ecdf);
        prop_assert!(close(a * phi * phi + b * phi, ecdf, 1e-12), "phi {phi}");
    }

    #[test]
    fn phi_increases_from_zero_to_one(posterior in posteriors(), left in 0.0..=1.0, right in 0.0..=1.0) {
        prop_assert_eq!(posterior.phi(0.0), 0.0);
        prop_assert!(close(posterior.phi(1.0), 1.0, 1e-15));
        let (low, high) = if left < right { (left, right) } else { (right, left) };
        prop_assert!(posterior.phi(low) <= posterior.phi(high));
    }

    #[test]
    fn without_information_or_at_even_odds_phi_is_the_ecdf(beta in 0.0..0.99, free in 0.5..=1.0, ecdf in 0.0..=1.0) {
        let uninformed = Posterior::new(0.5, beta, free - 0.5).unwrap();
        let even = Posterior::new(free, beta, 0.5).unwrap();
        prop_assert!(close(uninformed.phi(ecdf), ecdf, 1e-14));
        prop_assert!(close(even.phi(ecdf), ecdf, 1e-14));
    }

    #[test]
    fn weights_and_probabilities_are_finite_and_never_negative(posterior in posteriors(), ecdf in 0.0..=1.0) {
        for ecdf in [ecdf, 0.0, 1.0] {
            let (omega, probability) = (posterior.omega(ecdf), posterior.p_true_negative(ecdf));
            prop_assert!(omega.is_finite() && omega >= 0.0, "omega {omega} at {ecdf}");
            prop_assert!((0.0..=1.0).contains(&probability), "P(TN|x) {probability} at {ecdf}");
        }
    }

    #[test]
    fn with_beta_one_half_the_weight_is_the_probability_over_its_prior(alpha in alphas(), tau_plus in tau_plus(), ecdf in 0.0..=1.0) {
        let posterior = Posterior::new(alpha, 0.5, tau_plus).unwrap();
        prop_assert!(close(posterior.omega(ecdf), posterior.p_true_negative(ecdf) / (1.0 - tau_plus), 1e-12));
    }

    #[test]
    fn without_information_and_hardness_all_weights_are_one(tau_plus in tau_plus(), ecdf in 0.0..=1.0) {
        let posterior = Posterior::new(0.5, 0.5, tau_plus).unwrap();
        prop_assert!(close(posterior.omega(ecdf), 1.0, 1e-14));
    }

    #[test]
    fn the_probability_of_a_true_negative_falls_with_the_score(posterior in posteriors(), left in 0.0..=1.0, right in 0.0..=1.0) {
        let (low, high) = if left < right { (left, right) } else { (right, left) };
        prop_assert!(posterior.p_true_negative(low) >= posterior.p_true_negative(high) - 1e-12);
    }

    #[test]
    fn the_weight_rises_above_the_neutral_beta_and_falls_below(posterior in posteriors(), left in 0.0..=1.0, right in 0.0..=1.0) {
        let (low, high) = if left < right { (left, right) } else { (right, left) };
        let (at_low, at_high) = (posterior.omega(low), posterior.omega(high));
        let slack = 1e-9 * at_low.max(at_high).max(1.0);
        if posterior.beta() >= posterior.neutral_beta() {
            prop_assert!(at_high >= at_low - slack, "{at_low} then {at_high}");
        } else {
            prop_assert!(at_high <= at_low + slack, "{at_low} then {at_high}");
        }
    }

    #[test]
    fn at_the_neutral_beta_all_weights_are_one(alpha in 0.5..0.99, tau_plus in tau_plus(), ecdf in 0.0..=1.0) {
        let neutral = Posterior::new(alpha, 0.5, tau_plus).unwrap().neutral_beta();
        let posterior = Posterior::new(alpha, neutral, tau_plus).unwrap();
        prop_assert!(close(posterior.omega(ecdf), 1.0, 1e-10));
    }

    #[test]
    fn the_neutral_beta_is_one_half_without_false_negatives_and_alpha_at_even_odds(alpha in 0.5..0.999) {
        prop_assert!(close(Posterior::new(alpha, 0.5, 0.0).unwrap().neutral_beta(), 0.5, 1e-12));
        prop_assert!(close(Posterior::new(alpha, 0.5, 0.5).unwrap().neutral_beta(), alpha, 1e-12));
    }

    #[test]
    fn the_mean_weight_misses_one_by_at_most_its_range_over_n(posterior in posteriors(), num_negatives in 1usize..400) {
        let weights = posterior.rank_weights(num_negatives);
        let mean = weights.iter().sum::<f64>() / num_negatives as f64;
        let range = (posterior.omega(1.0) - posterior.omega(0.0)).abs();
        prop_assert!((mean - 1.0).abs() <= range / num_negatives as f64 + 1e-6 * range.max(1e-6), "mean {mean}, range {range}");
    }

    #[test]
    fn the_mean_weight_is_high_where_weights_rise_and_low_where_they_fall(posterior in posteriors(), num_negatives in 1usize..400) {
        let mean = posterior.rank_weights(num_negatives).iter().sum::<f64>() / num_negatives as f64;
        if posterior.beta() >= posterior.neutral_beta() {
            prop_assert!(mean >= 1.0 - 1e-9, "{mean}");
        } else {
            prop_assert!(mean <= 1.0 + 1e-9, "{mean}");
        }
    }

    #[test]
    fn the_ecdf_counts_the_scores_at_or_below(row in rows()) {
        let ecdf = ecdf(&row);
        for (score, ecdf) in row.iter().zip(&ecdf) {
            let count = row.iter().filter(|other| *other <= score).count();
            prop_assert_eq!(*ecdf, count as f64 / row.len() as f64);
        }
    }

    #[test]
    fn permuting_negatives_permutes_their_ecdf(row in rows(), offset in 0usize..24) {
        let offset = offset % row.len();
        let mut rotated = row.clone();
        rotated.rotate_left(offset);
        let mut expected = ecdf(&row);
        expected.rotate_left(offset);
        prop_assert_eq!(ecdf(&rotated), expected);
    }

    #[test]
    fn an_increasing_map_of_a_row_leaves_its_ecdf_unchanged(row in rows(), shift in -100i32..100, temperature in 0.1f64..10.0) {
        let shifted: Vec<f64> = row.iter().map(|score| score + f64::from(shift)).collect();
        let exponentials: Vec<f64> = row.iter().map(|&score| (score / temperature).exp()).collect();
        prop_assert_eq!(ecdf(&shifted), ecdf(&row));
        prop_assert_eq!(ecdf(&exponentials), ecdf(&row));
    }

    #[test]
    fn tensors_give_the_scalar_values(posterior in posteriors(), row in rows()) {
        let ecdf = ecdf(&row);
        let tensor = |values: &[f64]| Tensor::<1>::from_floats(values, &Device::flex()).unsqueeze::<2>();
        let expected = |function: &dyn Fn(f64) -> f64| tensor(&ecdf.iter().map(|&ecdf| function(ecdf)).collect::<Vec<_>>());
        let input = tensor(&ecdf);
        let tolerance = burn::tensor::Tolerance::<f32>::rel_abs(2e-4, 1e-5);
        for (actual, expected) in [
            (posterior.phi_tensor(input.clone()), expected(&|ecdf| posterior.phi(ecdf))),
            (posterior.omega_tensor(input.clone()), expected(&|ecdf| posterior.omega(ecdf))),
            (posterior.p_true_negative_tensor(input.clone()), expected(&|ecdf| posterior.p_true_negative(ecdf))),
        ] {
            actual.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
        }
    }
}

#[test]
fn equal_scores_share_the_largest_rank_of_their_run() {
    assert_eq!(ecdf(&[2.0, 1.0, 2.0, 3.0]), [0.75, 0.25, 0.75, 1.0]);
    assert_eq!(ecdf(&[0.0, -0.0]), [1.0, 1.0]);
    assert_eq!(ecdf(&[f64::INFINITY, f64::NEG_INFINITY]), [1.0, 0.5]);
    assert!(ecdf(&[]).is_empty());
}

#[test]
fn nan_ranks_above_all_as_in_the_kernels() {
    let row = [0.5, f64::NAN, 0.1, f64::INFINITY];
    assert_eq!(ecdf(&row), [0.5, 1.0, 0.25, 1.0]);
    let scores = Tensor::<1>::from_data(TensorData::from(row), (&Device::flex(), DType::F64)).unsqueeze::<2>();
    let ranks: Vec<f64> = bcl_kernels::row_ranks(scores, None).into_data().iter::<f64>().collect();
    assert_eq!(ranks.iter().map(|rank| rank / 4.0).collect::<Vec<_>>(), ecdf(&row));
}

#[test]
fn hardness_above_alpha_is_not_what_decides_the_direction() {
    // β < α, and still the weight rises: at small τ+ there is little to debias.
    let posterior = Posterior::new(0.9, 0.8, 0.01).unwrap();
    assert!(posterior.omega(1.0) > posterior.omega(0.5));
    assert!(posterior.neutral_beta() < 0.8);
}

#[test]
fn a_perfect_encoder_without_false_negatives_weighs_all_alike() {
    let posterior = Posterior::new(1.0, 0.7, 0.0).unwrap();
    for ecdf in [0.0, 0.3, 1.0] {
        assert_eq!(posterior.omega(ecdf), 1.0);
        assert_eq!(posterior.p_true_negative(ecdf), 1.0);
    }
    let ecdf = Tensor::<2>::from_floats([[0.5, 1.0]], &Device::flex());
    posterior
        .omega_tensor(ecdf)
        .into_data()
        .assert_eq(&TensorData::from([[1.0f32, 1.0]]), true);
}

#[test]
fn a_perfect_encoder_gives_the_highest_score_no_weight() {
    let posterior = Posterior::new(1.0, 0.9, 0.1).unwrap();
    assert_eq!(posterior.omega(1.0), 0.0);
    assert_eq!(posterior.p_true_negative(1.0), 0.0);
}

#[test]
fn rank_weights_are_the_weights_of_a_row_without_ties() {
    let posterior = Posterior::new(0.9, 0.9, 0.1).unwrap();
    let expected: Vec<f64> = ecdf(&[1.0, 2.0, 3.0]).into_iter().map(|ecdf| posterior.omega(ecdf)).collect();
    assert_eq!(posterior.rank_weights(3), expected);
    assert!(posterior.rank_weights(0).is_empty());
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let text = |alpha, beta, tau_plus| Posterior::new(alpha, beta, tau_plus).unwrap_err().to_string();
    assert_eq!(text(0.4, 0.5, 0.1), "alpha is 0.4, but must be in [0.5, 1]");
    assert_eq!(text(0.9, -0.1, 0.1), "beta is -0.1, but must be in [0, 1]");
    assert_eq!(text(0.9, 0.5, 1.0), "tau_plus is 1, but must be in [0, 1)");
    assert_eq!(text(f64::NAN, 0.5, 0.1), "alpha is NaN, but must be in [0.5, 1]");
    assert!(text(1.0, 1.0, 0.1).contains("choose alpha < 1 or beta < 1"));
}

#[test]
fn the_released_weight_is_constant_where_its_epsilon_cancels_a() {
    // (2α - 1)(τ- - τ+) = 1e-3: Φ is 0 for every score, where the exact weight rises from 0.2 to 1.8.
    let posterior = Posterior::new(0.501, 0.9, 0.25).unwrap();
    let official = posterior.rank_weights_official(8);
    assert!(official.iter().all(|&weight| weight == official[0]), "{official:?}");
    assert!(close(official[0], 0.2001, 1e-4), "{official:?}");
    assert!(posterior.omega(0.0) < 0.21 && posterior.omega(1.0) > 1.79);
}

#[test]
fn near_a_perfect_encoder_the_released_weight_is_half() {
    let posterior = Posterior::new(0.999, 1.0, 0.01).unwrap();
    let ratio = posterior.omega_official(0.5) / posterior.omega(0.5);
    assert!(close(ratio, 0.5, 1e-2), "{ratio}");
}

#[test]
fn official_tensors_give_the_scalar_values() {
    let posterior = Posterior::new(0.9, 0.9, 0.1).unwrap();
    let ecdf = Tensor::<2>::from_floats([[0.25, 0.5, 1.0]], &Device::flex());
    let expected = [[0.25, 0.5, 1.0].map(|ecdf| posterior.omega_official(ecdf) as f32)];
    let tolerance = burn::tensor::Tolerance::<f32>::rel_abs(1e-4, 1e-6);
    posterior
        .omega_official_tensor(ecdf)
        .into_data()
        .assert_approx_eq::<f32>(&TensorData::from(expected), tolerance);
}
