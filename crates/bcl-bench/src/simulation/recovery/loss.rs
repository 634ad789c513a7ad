//! A loss with pairs that a detector takes for one class: eliminated from the negatives, and attracted.

use bcl_core::{Estimator, Reduction, Scores, SideInformation};
use burn::tensor::{Bool, Device, Tensor, TensorData};

/// What a loss does with detected pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Leaves them out of the negatives.
    Eliminate,
    /// Also makes them positives.
    Attract,
}

/// λP of every negative, `[2 · batch, 2 · (batch - 1)]`, in the order of [`Pairs::from_views`](bcl_core::Pairs::from_views).
pub(super) struct Detected {
    shares: Vec<f32>,
    batch_size: usize,
}

impl Detected {
    /// From λP of two places in the batch. `None` if it is 0 everywhere.
    pub(super) fn of(batch_size: usize, share: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let mut shares = Vec::with_capacity(4 * batch_size * (batch_size - 1));
        for anchor in 0..batch_size {
            let others = (0..batch_size).filter(|&other| other != anchor);
            let row: Vec<f32> = others.map(|other| share(anchor, other) as f32).collect();
            // Of both views of the others.
            shares.extend_from_slice(&row);
            shares.extend_from_slice(&row);
        }
        // Of anchors of the second view.
        shares.extend_from_within(..);
        shares.iter().any(|share| *share > 0.0).then_some(Self { shares, batch_size })
    }

    fn shape(&self) -> [usize; 2] {
        [2 * self.batch_size, 2 * (self.batch_size - 1)]
    }

    fn tensor(&self, device: &Device, value: impl Fn(f32) -> f32) -> Tensor<2> {
        let values: Vec<f32> = self.shares.iter().map(|share| value(*share)).collect();
        Tensor::from_data(TensorData::new(values, self.shape()), device)
    }

    /// Multiplies the weight of each negative with `1 - λP`.
    fn eliminate(&self, scores: Scores) -> Scores {
        let device = scores.negatives.device();
        let kept: Vec<bool> = self.shares.iter().map(|share| *share < 1.0).collect();
        let kept = Tensor::<2, Bool>::from_data(TensorData::new(kept, self.shape()), &device);
        let log_weights = self.tensor(&device, |share| if share < 1.0 { (-share).ln_1p() } else { 0.0 });
        scores.with_mask(kept).with_log_weights(log_weights)
    }
}

/// The mean over anchors of
///
/// ```text
/// l_i = -Σ_j a_ij log(x_ij / (x_ij + n_i)),    x_ij = exp(s_ij / t)
/// n_i = Σ_j (1 - λP_ij) w_ij x_ij              over the negatives, w: the estimator's weights
/// a_ij ∝ 1 for the other view, and λP_ij for negatives if they are attracted;  Σ_j a_ij = 1
/// ```
///
/// P, w and a have no gradient. Without detected pairs this is the estimator's loss.
pub(super) fn loss(estimator: &dyn Estimator, scores: Scores, detected: Option<&Detected>, what: Use) -> Tensor<1> {
    let none = SideInformation::none();
    let Some(detected) = detected else {
        return estimator.losses(scores.into(), &none).reduce(Reduction::Mean);
    };
    let scores = detected.eliminate(scores);
    let own = estimator.losses(scores.clone().into(), &none);
    if what == Use::Eliminate {
        return own.reduce(Reduction::Mean);
    }
    let attracted = detected.tensor(&scores.negatives.device(), |share| share);
    let weights = estimator.weights(&scores, &none).detach();
    let similarities = scores.negatives / estimator.temperature();
    // Cosines at temperatures of 0.1 and more: no exponential overflows. An anchor without negatives has no loss.
    let log_mass = (weights * similarities.clone().exp()).sum_dim(1).clamp_min(1e-30).log();
    let losses = (log_mass - similarities).exp().log1p();
    let sum = own.values().unsqueeze_dim::<2>(1) + (attracted.clone() * losses).sum_dim(1);
    (sum / (attracted.sum_dim(1) + 1.0)).mean()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::{BayesianLossConfig, InfoNceLossConfig, Pairs, Similarity, SupervisedLossConfig};

    const BATCH: usize = 6;
    const T: f64 = 0.3;

    fn views() -> [Tensor<2>; 2] {
        [0.0, 0.9].map(|phase| {
            let values: Vec<f32> = (0..BATCH * 4).map(|index| (1.7 * index as f32 + phase).sin()).collect();
            Tensor::from_data(TensorData::new(values, [BATCH, 4]), &Device::flex())
        })
    }

    fn scores() -> Scores {
        let [first, second] = views();
        Pairs::from_views(first, second, Similarity::Cosine).into_scores()
    }

    fn same_class(first: usize, second: usize) -> bool {
        first % 3 == second % 3
    }

    fn value(loss: Tensor<1>) -> f64 {
        f64::from(loss.into_scalar::<f32>())
    }

    #[test]
    fn without_detected_pairs_the_loss_has_the_bits_of_the_estimator() {
        let estimator = InfoNceLossConfig::new().with_temperature(T).init();
        assert!(Detected::of(BATCH, |_, _| 0.0).is_none());
        let expected = value(estimator.forward(scores(), Reduction::Mean));
        for what in [Use::Eliminate, Use::Attract] {
            assert_eq!(value(loss(&estimator, scores(), None, what)), expected);
        }
    }

    #[test]
    fn with_true_labels_elimination_is_the_supervised_loss() {
        let detected = Detected::of(BATCH, |first, second| f64::from(u8::from(same_class(first, second))));
        let estimator = InfoNceLossConfig::new().with_temperature(T).init();
        let found = value(loss(&estimator, scores(), detected.as_ref(), Use::Eliminate));
        let labels: Vec<bool> = (0..2 * BATCH)
            .flat_map(|anchor| {
                let others = (0..BATCH).filter(move |other| *other != anchor % BATCH);
                others
                    .clone()
                    .chain(others)
                    .map(move |other| same_class(anchor % BATCH, other))
            })
            .collect();
        let labels = Tensor::<2, Bool>::from_data(TensorData::new(labels, [2 * BATCH, 2 * BATCH - 2]), &Device::flex());
        let side = SideInformation::none().with_same_class(labels);
        let supervised = SupervisedLossConfig::new().with_temperature(T).init();
        let expected = value(supervised.forward_with(scores(), &side, Reduction::Mean));
        assert!((found - expected).abs() < 1e-6, "{found} and {expected}");
    }

    /// The loss by its formula, over all pairs of views.
    fn slow(share: impl Fn(usize, usize) -> f64, what: Use) -> f64 {
        let rows: Vec<Vec<f64>> = views()
            .into_iter()
            .flat_map(|view| {
                let values: Vec<f64> = view.into_data().iter::<f64>().collect();
                values.chunks(4).map(<[f64]>::to_vec).collect::<Vec<_>>()
            })
            .map(|row| {
                let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                row.into_iter().map(|value| value / length).collect()
            })
            .collect();
        let score = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum::<f64>() / T;
        let of_anchor = |i: usize| {
            let share = |j: usize| share(i % BATCH, j % BATCH);
            let negatives = || (0..2 * BATCH).filter(move |j| j % BATCH != i % BATCH);
            let mass: f64 = negatives().map(|j| (1.0 - share(j)) * score(i, j).exp()).sum();
            let term = |j: usize| -(score(i, j).exp() / (score(i, j).exp() + mass)).ln();
            let own = term((i + BATCH) % (2 * BATCH));
            match what {
                Use::Eliminate => own,
                Use::Attract => {
                    let sum: f64 = negatives().map(|j| share(j) * term(j)).sum();
                    (own + sum) / (1.0 + negatives().map(share).sum::<f64>())
                }
            }
        };
        (0..2 * BATCH).map(of_anchor).sum::<f64>() / (2 * BATCH) as f64
    }

    #[test]
    fn shares_weigh_negatives_and_positives_as_the_formula_says() {
        let share = |first: usize, second: usize| {
            if same_class(first, second) {
                0.7
            } else {
                0.1 * ((first + second) % 2) as f64
            }
        };
        let estimator = InfoNceLossConfig::new().with_temperature(T).init();
        let detected = Detected::of(BATCH, share);
        for what in [Use::Eliminate, Use::Attract] {
            let found = value(loss(&estimator, scores(), detected.as_ref(), what));
            let expected = slow(share, what);
            assert!((found - expected).abs() < 1e-5, "{what:?}: {found} and {expected}");
        }
    }

    #[test]
    fn weights_of_an_estimator_multiply_with_the_detector() {
        let detected = Detected::of(BATCH, |first, second| if same_class(first, second) { 0.5 } else { 0.0 });
        let estimator = BayesianLossConfig::new().with_temperature(T).with_beta(0.5).init();
        let eliminated = detected.as_ref().unwrap().eliminate(scores());
        let expected = value(estimator.forward(eliminated, Reduction::Mean));
        assert_eq!(value(loss(&estimator, scores(), detected.as_ref(), Use::Eliminate)), expected);
        assert!(value(loss(&estimator, scores(), detected.as_ref(), Use::Attract)).is_finite());
    }
}
