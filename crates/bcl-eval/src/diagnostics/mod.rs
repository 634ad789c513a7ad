//! Diagnostics of the weights ω, measured on one batch of scores: effective sample size, quantiles, calibration, the share of the gradient
//! that false negatives get, and the share of anchors at the floor of the loss.

mod calibration;
mod false_negatives;

pub use calibration::Predictors;

use bcl_core::{Estimator, Scores, SideInformation, auc};
use bcl_report::histogram;
use bcl_report::result::{CalibrationBin, FalseNegatives};
use burn::tensor::Tensor;

/// The quantiles of the weights that an epoch record holds.
pub const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// Diagnostics of one batch of scores under an estimator.
///
/// All are empty if a score is NaN or infinite. Anchors without negatives are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagnostics {
    /// Mean over anchors with negatives of (Σω)² / (n Σω²); `None` without any.
    pub effective_sample_size: Option<f64>,
    /// Mean over anchors of the standard deviation of their negatives' similarities; `None` if none has two.
    pub score_spread: Option<f64>,
    /// Share of anchors at the [floor](Estimator::floored) of the loss, whose negatives have no gradient; `None` if the loss has no floor
    /// or no anchor has a loss.
    pub floored: Option<f64>,
    /// The weights at [`QUANTILES`].
    pub omega_quantiles: Vec<f64>,
    /// Number of weights in each bin of [`histogram`].
    pub omega_histogram: Vec<u64>,
    /// `P(x+ > x_unlabelled)`, ties counting half; `None` if all negatives are masked.
    pub auc_unlabelled: Option<f64>,
    /// P(false negative > true negative), which the papers use as α; `None` without true classes.
    pub alpha_labels: Option<f64>,
    /// Calibration of P(TN|x); empty without true classes or anything that predicts it.
    pub calibration: Vec<CalibrationBin>,
    /// Share of the gradient that false negatives get; `None` without true classes.
    pub false_negatives: Option<FalseNegatives>,
}

impl Diagnostics {
    /// Measures scores under an estimator.
    pub fn measure(scores: &Scores, side: &SideInformation, estimator: &dyn Estimator, predictors: &Predictors) -> Self {
        let num_negatives = scores.num_negatives();
        let counted = counted(scores);
        if !all_finite(scores, &counted) {
            return Self::default();
        }
        let weights = host(estimator.weights(scores, side));
        let unmasked: Vec<f64> = weights
            .iter()
            .zip(&counted)
            .filter_map(|(w, counts)| counts.then_some(*w))
            .collect();
        Self {
            effective_sample_size: effective_sample_size(&weights, &counted, num_negatives),
            score_spread: score_spread(scores, &counted),
            floored: floored(scores, side, &counted, estimator),
            omega_histogram: histogram::histogram(unmasked.iter().copied()),
            omega_quantiles: quantiles(unmasked),
            auc_unlabelled: auc::auc_unlabelled(scores),
            alpha_labels: side
                .same_class
                .as_ref()
                .and_then(|same_class| auc::auc_of_classes(scores, same_class)),
            calibration: calibration::calibration(scores, side, &counted, predictors),
            false_negatives: false_negatives::false_negatives(
                scores,
                side,
                &counted,
                estimator,
                predictors.same_cluster.as_ref(),
            ),
        }
    }
}

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Which negatives are not masked, row-major.
fn counted(scores: &Scores) -> Vec<bool> {
    match &scores.mask {
        Some(mask) => mask.clone().into_data().iter::<bool>().collect(),
        None => vec![true; scores.num_anchors() * scores.num_negatives()],
    }
}

/// Whether all scores are finite, apart from masked ones and the positives of anchors without negatives.
fn all_finite(scores: &Scores, counted: &[bool]) -> bool {
    let positives = match &scores.positives_mask {
        Some(mask) => scores.positives.clone().mask_fill(mask.clone().bool_not(), 0.0),
        None => scores.positives.clone(),
    };
    let (positives, negatives) = (host(positives), host(scores.negatives.clone()));
    let rows = negatives
        .chunks(scores.num_negatives())
        .zip(counted.chunks(scores.num_negatives()));
    rows.zip(positives.chunks(scores.num_positives()))
        .all(|((row, counted), positives)| {
            let mut unmasked = row.iter().zip(counted).filter(|(_, counts)| **counts).peekable();
            let are_finite = |positives: &[f64]| positives.iter().all(|positive| positive.is_finite());
            unmasked.peek().is_none() || are_finite(positives) && unmasked.all(|(score, _)| score.is_finite())
        })
}

/// Mean over rows of (Σω)² / (n Σω²), where n is the number of unmasked negatives: 1 for equal weights, 1/n if one negative has all the
/// weight. Rows without weights are left out.
fn effective_sample_size(weights: &[f64], counted: &[bool], num_negatives: usize) -> Option<f64> {
    let of_row = |(row, counted): (&[f64], &[bool])| {
        let (sum, squares) = row.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        let num_counted = counted.iter().filter(|counts| **counts).count();
        (squares > 0.0).then(|| sum * sum / (squares * num_counted as f64))
    };
    let rows = weights.chunks(num_negatives).zip(counted.chunks(num_negatives));
    let of_rows: Vec<f64> = rows.filter_map(of_row).collect();
    (!of_rows.is_empty()).then(|| of_rows.iter().sum::<f64>() / of_rows.len() as f64)
}

/// Mean over rows of the standard deviation of the unmasked similarities, for rows with two or more.
fn score_spread(scores: &Scores, counted: &[bool]) -> Option<f64> {
    let similarities = host(scores.negatives.clone());
    let num_negatives = scores.num_negatives();
    let of_row = |(row, counted): (&[f64], &[bool])| {
        let unmasked: Vec<f64> = row
            .iter()
            .zip(counted)
            .filter_map(|(s, counts)| counts.then_some(*s))
            .collect();
        let count = unmasked.len() as f64;
        let mean = unmasked.iter().sum::<f64>() / count;
        let squares: f64 = unmasked.iter().map(|s| (s - mean).powi(2)).sum();
        (unmasked.len() > 1).then(|| (squares / (count - 1.0)).sqrt())
    };
    let rows = similarities.chunks(num_negatives).zip(counted.chunks(num_negatives));
    let of_rows: Vec<f64> = rows.filter_map(of_row).collect();
    (!of_rows.is_empty()).then(|| of_rows.iter().sum::<f64>() / of_rows.len() as f64)
}

/// Share of floored anchors among those with a negative and a positive.
fn floored(scores: &Scores, side: &SideInformation, counted: &[bool], estimator: &dyn Estimator) -> Option<f64> {
    let marks = estimator.floored(scores, side)?.into_data();
    let positives = match &scores.positives_mask {
        Some(mask) => mask.clone().into_data().iter::<bool>().collect(),
        None => vec![true; scores.num_anchors() * scores.num_positives()],
    };
    let rows = counted
        .chunks(scores.num_negatives())
        .zip(positives.chunks(scores.num_positives()));
    let with_loss = rows.filter(|(negatives, positives)| negatives.contains(&true) && positives.contains(&true));
    let (num_floored, num_anchors) = (marks.iter::<bool>().filter(|&floored| floored).count(), with_loss.count());
    (num_anchors > 0).then(|| num_floored as f64 / num_anchors as f64)
}

/// The weights at [`QUANTILES`]; empty without weights.
fn quantiles(mut weights: Vec<f64>) -> Vec<f64> {
    if weights.is_empty() {
        return weights;
    }
    weights.sort_by(f64::total_cmp);
    let last = weights.len() as f64 - 1.0;
    QUANTILES.iter().map(|q| weights[(q * last).round() as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::{EstimatorConfig, posterior::Posterior};
    use burn::tensor::{Device, TensorData};

    #[test]
    fn equal_weights_have_full_effective_sample_size_and_one_weight_has_the_least() {
        assert_eq!(effective_sample_size(&[2.0; 8], &[true; 8], 4), Some(1.0));
        assert_eq!(effective_sample_size(&[0.0, 0.0, 5.0, 0.0], &[true; 4], 4), Some(0.25));
    }

    #[test]
    fn masked_negatives_do_not_count_towards_the_effective_sample_size() {
        let counted = [true, true, false, false, false, false, false, false];
        assert_eq!(
            effective_sample_size(&[2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &counted, 4),
            Some(1.0),
            "neither entries nor anchors"
        );
        assert_eq!(effective_sample_size(&[0.0; 4], &[false; 4], 4), None);
    }

    fn scores(negatives: [f32; 6], keep: [bool; 6]) -> Scores {
        let device = Device::flex();
        let marks = |marks: [bool; 6]| Tensor::from_data(TensorData::new(marks.to_vec(), [2, 3]), &device);
        Scores::new(
            Tensor::from_data([0.5, 0.6], &device),
            Tensor::from_data(TensorData::new(negatives.to_vec(), [2, 3]), &device),
        )
        .with_mask(marks(keep))
    }

    fn side() -> SideInformation {
        let device = Device::flex();
        SideInformation::none()
            .with_same_class(Tensor::from_data([[true, false, false], [false, true, false]], &device))
            .with_noise(Tensor::ones([2], &device))
    }

    const FINITE: [f32; 6] = [0.4, 0.3, -0.1, 0.2, 0.5, 0.1];

    fn measured(scores: &Scores) -> Vec<Diagnostics> {
        let predictors = Predictors {
            posterior: Some(Posterior::new(0.9, 0.9, 0.1).unwrap()),
            same_cluster: None,
        };
        let measured = |config: &EstimatorConfig| Diagnostics::measure(scores, &side(), config.init().as_ref(), &predictors);
        EstimatorConfig::all().iter().map(measured).collect()
    }

    #[test]
    fn a_batch_whose_negatives_are_all_masked_has_no_diagnostics() {
        for found in measured(&scores(FINITE, [false; 6])) {
            let histogram = vec![0; histogram::BINS];
            let expected = Diagnostics {
                omega_histogram: histogram,
                ..Diagnostics::default()
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn anchors_whose_negatives_are_all_masked_are_left_out() {
        let some = measured(&scores(FINITE, [true, true, true, false, false, false]));
        assert_eq!(some[0].effective_sample_size, Some(1.0));
        assert_eq!(some[0].omega_quantiles, [1.0; 7]);
        assert_eq!(some[0].auc_unlabelled, Some(1.0));
    }

    #[test]
    fn the_spread_of_scores_is_the_standard_deviation_of_unmasked_negatives() {
        // 0.4, 0.3 and -0.1 differ from their mean by 0.2, 0.1 and -0.3; 0.2 and 0.5 by 0.15 each.
        let expected = f64::midpoint((0.14_f64 / 2.0).sqrt(), 0.045_f64.sqrt());
        let keep = [true, true, true, true, true, false];
        let spread = measured(&scores(FINITE, keep))[0].score_spread.unwrap();
        assert!((spread - expected).abs() < 1e-6, "{spread}, not {expected}");
        let single = [true, false, false, false, false, true];
        assert_eq!(measured(&scores(FINITE, single))[0].score_spread, None);
    }

    #[test]
    fn scores_that_are_not_finite_have_no_diagnostics() {
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut negatives = FINITE;
            negatives[4] = broken;
            for found in measured(&scores(negatives, [true; 6])) {
                assert_eq!(found, Diagnostics::default());
            }
            // Masked scores may have any value.
            for found in measured(&scores(negatives, [true, true, true, true, false, true])) {
                assert!(found.effective_sample_size.is_some_and(f64::is_finite));
            }
        }
    }

    /// Positives of 0.6 and negatives around 0 with a standard deviation of 0.2.
    fn separated() -> Scores {
        let (device, options) = (Device::flex(), [16, 64]);
        let negatives: Vec<f32> = (0..16 * 64).map(|i| 0.28 * (1.7 * i as f32).sin()).collect();
        let negatives = Tensor::from_data(TensorData::new(negatives, options), &device);
        Scores::new(Tensor::full([16], 0.6, &device), negatives).with_least_similarity(-1.0)
    }

    #[test]
    fn separated_anchors_are_at_the_floor_at_low_temperatures_only() {
        for kind in ["debiased", "hard", "positive_unlabelled"] {
            for (temperature, expected) in [(0.07, 1.0), (0.5, 0.0)] {
                let mut config = EstimatorConfig::all()
                    .into_iter()
                    .find(|config| config.name() == kind)
                    .unwrap();
                config.set_parameter("temperature", temperature);
                let found = Diagnostics::measure(
                    &separated(),
                    &SideInformation::none(),
                    config.init().as_ref(),
                    &Predictors::default(),
                );
                assert_eq!(found.floored, Some(expected), "{kind} at {temperature}");
            }
        }
        let info_nce = bcl_core::InfoNceLossConfig::new().with_temperature(0.07).init();
        let found = Diagnostics::measure(&separated(), &SideInformation::none(), &info_nce, &Predictors::default());
        assert_eq!(found.floored, None, "InfoNCE has no floor");
    }

    #[test]
    fn anchors_without_a_loss_are_no_part_of_the_share_at_the_floor() {
        let half: Vec<bool> = (0..16 * 64).map(|i| i < 8 * 64).collect();
        let mask = Tensor::from_data(TensorData::new(half, [16, 64]), &Device::flex());
        let debiased = bcl_core::DebiasedLossConfig::new().with_temperature(0.07).init();
        let found = Diagnostics::measure(
            &separated().with_mask(mask),
            &SideInformation::none(),
            &debiased,
            &Predictors::default(),
        );
        assert_eq!(found.floored, Some(1.0));
    }

    #[test]
    fn quantiles_run_from_the_least_to_the_largest_weight() {
        let weights = (0..=100).rev().map(f64::from).collect();
        assert_eq!(quantiles(weights), [0.0, 5.0, 25.0, 50.0, 75.0, 95.0, 100.0]);
    }
}
