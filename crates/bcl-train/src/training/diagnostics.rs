//! What the weights do, measured on one batch at the end of each epoch.

use crate::result::CalibrationBin;
use bcl_core::{Estimator, Scores, auc, posterior::Posterior};
use burn::tensor::Tensor;

/// The quantiles of the weights that a record holds.
pub const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// Number of bins of the reliability diagram.
const CALIBRATION_BINS: usize = 10;

/// Figures of one batch of scores under an estimator.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Mean over anchors of (Σω)² / (n Σω²).
    pub effective_sample_size: f64,
    /// The weights at [`QUANTILES`].
    pub omega_quantiles: Vec<f64>,
    /// `P(x+ > x_unlabelled)`, ties counting half; `None` where no negative counts.
    pub auc_unlabelled: Option<f64>,
    /// P(false negative > true negative), where truth is known: the α that the Bayesian weight means.
    pub alpha_labels: Option<f64>,
    /// P(TN|x) against truth, where truth is known and the estimator has a posterior.
    pub calibration: Vec<CalibrationBin>,
}

impl Diagnostics {
    /// Measures scores under an estimator.
    pub fn measure(scores: &Scores, estimator: &dyn Estimator, posterior: Option<Posterior>) -> Self {
        let num_negatives = scores.num_negatives();
        let weights = host(estimator.weights(scores));
        let counted = counted(scores);
        Self {
            effective_sample_size: effective_sample_size(&weights, num_negatives),
            omega_quantiles: quantiles(
                weights
                    .iter()
                    .zip(&counted)
                    .filter(|(_, counts)| **counts)
                    .map(|(w, _)| *w)
                    .collect(),
            ),
            auc_unlabelled: auc::auc_unlabelled(scores),
            alpha_labels: scores.same_class.as_ref().and_then(|_| auc::auc_of_classes(scores)),
            calibration: posterior
                .map(|posterior| calibration(scores, &counted, posterior))
                .unwrap_or_default(),
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

/// Predicted P(TN|x) in equal-width bins, beside the share of true negatives in each.
fn calibration(scores: &Scores, counted: &[bool], posterior: Posterior) -> Vec<CalibrationBin> {
    let Some(same_class) = &scores.same_class else {
        return Vec::new();
    };
    let same_class: Vec<bool> = same_class.clone().into_data().iter::<bool>().collect();
    let negatives = host(scores.negatives.clone());
    let mut bins = [(0.0, 0u64, 0u64); CALIBRATION_BINS];
    let width = scores.num_negatives();
    for (row, similarities) in negatives.chunks(width).enumerate() {
        let at: Vec<usize> = (row * width..(row + 1) * width).filter(|&i| counted[i]).collect();
        let kept: Vec<f64> = at.iter().map(|&i| similarities[i - row * width]).collect();
        for (&i, ecdf) in at.iter().zip(bcl_core::posterior::ecdf(&kept)) {
            let predicted = posterior.p_true_negative(ecdf);
            let bin = ((predicted * CALIBRATION_BINS as f64) as usize).min(CALIBRATION_BINS - 1);
            bins[bin].0 += predicted;
            bins[bin].1 += u64::from(!same_class[i]);
            bins[bin].2 += 1;
        }
    }
    bins.iter()
        .filter(|(_, _, count)| *count > 0)
        .map(|&(predicted, observed, count)| CalibrationBin {
            predicted: predicted / count as f64,
            observed: observed as f64 / count as f64,
            count,
        })
        .collect()
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
