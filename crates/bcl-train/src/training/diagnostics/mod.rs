//! What the weights do, measured on one batch at the end of each epoch.

mod calibration;
mod false_negatives;
pub mod histogram;

use crate::result::{CalibrationBin, FalseNegatives};
use bcl_core::{Estimator, Scores, auc, posterior::Posterior};
use burn::tensor::Tensor;

/// The quantiles of the weights that a record holds.
pub const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// Figures of one batch of scores under an estimator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diagnostics {
    /// Mean over anchors of (Σω)² / (n Σω²).
    pub effective_sample_size: f64,
    /// The weights at [`QUANTILES`].
    pub omega_quantiles: Vec<f64>,
    /// How many weights lie in each bin of [`histogram`].
    pub omega_histogram: Vec<u64>,
    /// `P(x+ > x_unlabelled)`, ties counting half; `None` where no negative counts.
    pub auc_unlabelled: Option<f64>,
    /// P(false negative > true negative), where truth is known: the α that the Bayesian weight means.
    pub alpha_labels: Option<f64>,
    /// P(TN|x) against truth, where truth is known and the estimator has a posterior.
    pub calibration: Vec<CalibrationBin>,
    /// Where the gradient goes, where truth is known.
    pub false_negatives: Option<FalseNegatives>,
}

impl Diagnostics {
    /// Measures scores under an estimator.
    pub fn measure(scores: &Scores, estimator: &dyn Estimator, posterior: Option<Posterior>) -> Self {
        let num_negatives = scores.num_negatives();
        let weights = host(estimator.weights(scores));
        let counted = counted(scores);
        let that_count: Vec<f64> = weights
            .iter()
            .zip(&counted)
            .filter_map(|(w, counts)| counts.then_some(*w))
            .collect();
        Self {
            effective_sample_size: effective_sample_size(&weights, num_negatives),
            omega_histogram: histogram::histogram(that_count.iter().copied()),
            omega_quantiles: quantiles(that_count),
            auc_unlabelled: auc::auc_unlabelled(scores),
            alpha_labels: scores.same_class.as_ref().and_then(|_| auc::auc_of_classes(scores)),
            calibration: posterior
                .map(|posterior| calibration::calibration(scores, &counted, posterior))
                .unwrap_or_default(),
            false_negatives: false_negatives::false_negatives(scores, &counted, estimator),
        }
    }
}

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Which entries count, row-major.
fn counted(scores: &Scores) -> Vec<bool> {
    match &scores.mask {
        Some(mask) => mask.clone().into_data().iter::<bool>().collect(),
        None => vec![true; scores.num_anchors() * scores.num_negatives()],
    }
}

/// Mean over rows of (Σω)² / (n Σω²): 1 for equal weights, 1/n where one negative has all the weight.
fn effective_sample_size(weights: &[f64], num_negatives: usize) -> f64 {
    let rows = weights.chunks(num_negatives);
    let num_rows = rows.len();
    let of_row = |row: &[f64]| {
        let (sum, squares) = row.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        if squares > 0.0 {
            sum * sum / (squares * row.len() as f64)
        } else {
            0.0
        }
    };
    rows.map(of_row).sum::<f64>() / num_rows as f64
}

fn quantiles(mut weights: Vec<f64>) -> Vec<f64> {
    weights.sort_by(f64::total_cmp);
    let last = weights.len() as f64 - 1.0;
    QUANTILES.iter().map(|q| weights[(q * last).round() as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_have_full_effective_sample_size_and_one_weight_has_the_least() {
        assert_eq!(effective_sample_size(&[2.0; 8], 4), 1.0);
        assert_eq!(effective_sample_size(&[0.0, 0.0, 5.0, 0.0], 4), 0.25);
    }

    #[test]
    fn quantiles_run_from_the_least_to_the_largest_weight() {
        let weights = (0..=100).rev().map(f64::from).collect();
        assert_eq!(quantiles(weights), [0.0, 5.0, 25.0, 50.0, 75.0, 95.0, 100.0]);
    }
}
