//! The share of the gradient that goes to false negatives.

use bcl_core::{Estimator, Reduction, Scores, SideInformation};
use bcl_report::result::FalseNegatives;
use burn::tensor::Tensor;

/// Computes the share of false negatives among all negatives, and their share of the gradient; `None` without true classes or if the
/// gradient is zero.
///
/// "Gradient" means the gradient of the estimator's mean loss with respect to the scores of the negatives, which count as `1 - same_cluster`
/// negatives if clusters were detected. Where detected pairs are attracted, too, it is only what pushes them apart.
pub(super) fn false_negatives(
    scores: &Scores,
    side: &SideInformation,
    counted: &[bool],
    estimator: &dyn Estimator,
    same_cluster: Option<&Tensor<2>>,
) -> Option<FalseNegatives> {
    let same_class: Vec<bool> = side.same_class.clone()?.into_data().iter::<bool>().collect();
    let trained = match same_cluster {
        Some(probabilities) => scores.clone().eliminated(probabilities.clone()),
        None => scores.clone(),
    };
    let gradient = gradient(&trained, side, estimator);
    let entries = || (0..gradient.len()).filter(|&i| counted[i]);
    let total: f64 = entries().map(|i| gradient[i]).sum();
    let of_false: f64 = entries().filter(|&i| same_class[i]).map(|i| gradient[i]).sum();
    let number = entries().filter(|&i| same_class[i]).count();
    (total.is_finite() && total > 0.0).then(|| FalseNegatives {
        share: number as f64 / entries().count() as f64,
        gradient: of_false / total,
    })
}

/// `|∂loss / ∂score|` of each negative, row-major.
fn gradient(scores: &Scores, side: &SideInformation, estimator: &dyn Estimator) -> Vec<f64> {
    let negatives = scores.negatives.clone().detach().autodiff().require_grad();
    let mut scores = scores.clone();
    scores.positives = scores.positives.detach().autodiff();
    scores.negatives = negatives.clone();
    scores.positives_mask = scores.positives_mask.map(Tensor::autodiff);
    scores.mask = scores.mask.map(Tensor::autodiff);
    scores.log_weights = scores.log_weights.map(Tensor::autodiff);
    scores.factor = scores.factor.map(|factor| factor.detach().autodiff());
    let mut side = side.clone();
    side.same_class = side.same_class.map(Tensor::autodiff);
    side.noise = side.noise.map(Tensor::autodiff);
    let gradients = estimator.forward_with(scores, &side, Reduction::Mean).backward();
    let of_negatives = negatives.grad(&gradients).expect("every loss depends on its negatives");
    of_negatives.abs().into_data().iter::<f64>().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::{BayesianLossConfig, EstimatorConfig, InfoNceLossConfig, SupervisedLossConfig};
    use burn::tensor::Device;

    /// Two anchors; the hardest negative of each is a false one.
    fn scores() -> Scores {
        let device = Device::flex();
        let positives = Tensor::from_data([0.9, 0.8], &device);
        let negatives = Tensor::<2>::from_data([[0.7, 0.1, -0.2, 0.0], [0.1, 0.6, -0.1, -0.3]], &device);
        Scores::new(positives, negatives)
    }

    fn side() -> SideInformation {
        let truth = Tensor::<2>::from_data([[1, 0, 0, 0], [0, 1, 0, 0]], &Device::flex()).bool();
        SideInformation::none().with_same_class(truth)
    }

    fn measured(scores: &Scores, estimator: &dyn Estimator) -> Option<FalseNegatives> {
        false_negatives(scores, &side(), &[true; 8], estimator, None)
    }

    #[test]
    fn the_gradient_of_info_nce_is_in_proportion_to_the_exponentials() {
        let found = measured(&scores(), &InfoNceLossConfig::new().with_temperature(0.5).init()).unwrap();
        assert_eq!(found.share, 0.25);
        let x = |score: f64| (score / 0.5_f64).exp();
        let rows = [(0.9, [0.7, 0.1, -0.2, 0.0]), (0.8, [0.6, 0.1, -0.1, -0.3])];
        // Per row: x_i / (x+ + Σ x); the false negative is the first of each row here.
        let (of_false, all) = rows.iter().fold((0.0, 0.0), |(of_false, all), (positive, row)| {
            let mass: f64 = row.iter().map(|&score| x(score)).sum();
            let whole = x(*positive) + mass;
            (of_false + x(row[0]) / whole, all + mass / whole)
        });
        assert!((found.gradient - of_false / all).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn the_supervised_oracle_spends_nothing_on_false_negatives() {
        let found = measured(&scores(), &SupervisedLossConfig::new().init()).unwrap();
        assert_eq!(found.gradient, 0.0);
    }

    #[test]
    fn weights_that_avoid_probable_false_negatives_spend_less_on_them() {
        let bayesian = BayesianLossConfig::new().with_tau_plus(0.25).with_alpha(0.95).with_beta(0.5);
        let of = |estimator: &dyn Estimator| measured(&scores(), estimator).unwrap().gradient;
        assert!(of(&bayesian.init()) < of(&InfoNceLossConfig::new().init()));
    }

    #[test]
    fn detected_false_negatives_get_as_much_less_as_they_are_probable() {
        let info_nce = InfoNceLossConfig::new().with_temperature(0.5).init();
        let of = |probability: f32| {
            let zero = 0.0;
            let detected = [[probability, zero, zero, zero], [zero, probability, zero, zero]];
            let detected = Tensor::<2>::from_data(detected, &Device::flex());
            false_negatives(&scores(), &side(), &[true; 8], &info_nce, Some(&detected)).unwrap()
        };
        let without = measured(&scores(), &info_nce).unwrap();
        assert!((of(0.0).gradient - without.gradient).abs() < 1e-6);
        assert_eq!(of(1.0).gradient, 0.0);
        assert_eq!(of(1.0).share, 0.25, "the share is of all negatives");
        // Each false negative counts as half a one.
        let x = |score: f64| (score / 0.5_f64).exp();
        let rows = [(0.9, 0.7, [0.1, -0.2, 0.0]), (0.8, 0.6, [0.1, -0.1, -0.3])];
        let (of_false, all) = rows.iter().fold((0.0, 0.0), |(of_false, all), (positive, detected, others)| {
            let half = x(*detected) / 2.0;
            let mass = half + others.iter().map(|&score| x(score)).sum::<f64>();
            let whole = x(*positive) + mass;
            (of_false + half / whole, all + mass / whole)
        });
        assert!((of(0.5).gradient - of_false / all).abs() < 1e-6);
    }

    #[test]
    fn masked_negatives_take_no_part() {
        let device = Device::flex();
        let mask = Tensor::<2>::from_data([[0, 1, 1, 1], [1, 0, 1, 1]], &device).bool();
        let counted = [false, true, true, true, true, false, true, true];
        let scores = scores().with_mask(mask);
        let found = false_negatives(&scores, &side(), &counted, &InfoNceLossConfig::new().init(), None).unwrap();
        assert_eq!((found.share, found.gradient), (0.0, 0.0));
    }

    #[test]
    fn every_estimator_has_a_share_and_without_true_classes_none_has() {
        let side = side().with_noise(Tensor::ones([2], &Device::flex()));
        for config in EstimatorConfig::all() {
            let found = false_negatives(&scores(), &side, &[true; 8], config.init().as_ref(), None).unwrap();
            assert!((0.0..=1.0).contains(&found.gradient), "{config:?}: {found:?}");
        }
        let info_nce = InfoNceLossConfig::new().init();
        assert_eq!(
            false_negatives(&scores(), &SideInformation::none(), &[true; 8], &info_nce, None),
            None
        );
    }
}
