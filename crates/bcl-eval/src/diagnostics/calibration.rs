//! Calibration of the predicted P(TN|x) against the true classes.

use super::host;
use bcl_core::{Scores, SideInformation, posterior::Posterior};
use bcl_report::result::CalibrationBin;
use burn::tensor::Tensor;

/// Number of bins of the reliability diagram.
const BINS: usize = 10;

/// What predicts P(TN|x), the probability that a negative is a true one.
///
/// Both are factors, as they are in the loss.
#[derive(Debug, Clone, Default)]
pub struct Predictors {
    /// The posterior of the Bayesian loss, which reads the rank of the score.
    pub posterior: Option<Posterior>,
    /// The probability that each negative is false by its cluster, `[num_anchors, num_negatives]`.
    pub same_cluster: Option<Tensor<2>>,
}

/// Bins the predicted P(TN|x) in equal widths and compares each bin with its share of true negatives.
pub(super) fn calibration(
    scores: &Scores,
    side: &SideInformation,
    counted: &[bool],
    predictors: &Predictors,
) -> Vec<CalibrationBin> {
    let Some(same_class) = &side.same_class else {
        return Vec::new();
    };
    if predictors.posterior.is_none() && predictors.same_cluster.is_none() {
        return Vec::new();
    }
    let same_cluster = predictors.same_cluster.clone().map(host);
    let same_class: Vec<bool> = same_class.clone().into_data().iter::<bool>().collect();
    let negatives = host(scores.negatives.clone());
    let mut bins = [(0.0, 0u64, 0u64); BINS];
    let width = scores.num_negatives();
    for (row, similarities) in negatives.chunks(width).enumerate() {
        let at: Vec<usize> = (row * width..(row + 1) * width).filter(|&i| counted[i]).collect();
        let kept: Vec<f64> = at.iter().map(|&i| similarities[i - row * width]).collect();
        for (&i, ecdf) in at.iter().zip(bcl_core::posterior::ecdf(&kept)) {
            let by_rank = predictors.posterior.map_or(1.0, |posterior| posterior.p_true_negative(ecdf));
            let by_cluster = same_cluster.as_ref().map_or(1.0, |probabilities| 1.0 - probabilities[i]);
            let predicted = by_rank * by_cluster;
            let bin = ((predicted * BINS as f64) as usize).min(BINS - 1);
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
    use burn::tensor::Device;

    #[test]
    fn a_bin_compares_the_prediction_with_the_share_of_true_negatives() {
        let device = Device::flex();
        let positives = Tensor::from_data([0.9], &device);
        let negatives = Tensor::<2>::from_data([[0.4, 0.3, 0.2, 0.1]], &device);
        let truth = Tensor::<2>::from_data([[1, 0, 0, 0]], &device).bool();
        let scores = Scores::new(positives, negatives);
        let side = SideInformation::none().with_same_class(truth);
        let posterior = Posterior::new(0.95, 0.5, 0.25).unwrap();
        let counted = [true, true, true, false];

        let by_rank = Predictors {
            posterior: Some(posterior),
            same_cluster: None,
        };
        let bins = calibration(&scores, &side, &counted, &by_rank);
        assert_eq!(
            bins.iter().map(|bin| bin.count).sum::<u64>(),
            3,
            "masked negatives are left out"
        );
        // The highest score is the likeliest false negative, and is one.
        let highest = posterior.p_true_negative(1.0);
        let bin = bins.iter().find(|bin| bin.observed == 0.0).unwrap();
        assert_eq!((bin.predicted, bin.count), (highest, 1));
        assert_eq!(calibration(&scores, &SideInformation::none(), &counted, &by_rank), []);
        assert_eq!(calibration(&scores, &side, &counted, &Predictors::default()), []);

        let by_cluster = Predictors {
            posterior: None,
            same_cluster: Some(Tensor::from_data([[0.75, 0.0, 0.75, 0.0]], &device)),
        };
        let bins = calibration(&scores, &side, &counted, &by_cluster);
        let found: Vec<_> = bins.iter().map(|bin| (bin.predicted, bin.observed, bin.count)).collect();
        assert_eq!(found, [(0.25, 0.5, 2), (1.0, 1.0, 1)]);

        let both = Predictors {
            same_cluster: by_cluster.same_cluster,
            ..by_rank
        };
        let bins = calibration(&scores, &side, &counted, &both);
        assert!((bins[0].predicted - 0.25 * highest).abs() < 1e-12, "{bins:?}");
    }
}
