//! The noise-contrastive loss of CMC's memory bank.

use crate::{Losses, Scores, config::configuration, margins::over, parameter::temperature};
use burn::tensor::Tensor;

configuration! {
    NoiseContrastiveLossConfig => NoiseContrastiveLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.07,
    }

    check(config) {
        temperature(config.temperature)
    }

    init(config) {
        NoiseContrastiveLoss { temperature: config.temperature }
    }
}

/// Noise-contrastive estimation: tells the positive from N entries drawn uniformly from n stored ones, with `e = exp(s/t) / Z`,
/// `c = N/n` and `ε = 1e-7`:
///
/// ```text
/// L = - log( e+ / (e+ + c + ε) ) - Σ_k log( c / (e_k + c + ε) )
/// ```
///
/// The normaliser Z is set by the first batch ([`log_normaliser`](Self::log_normaliser)) and then stays: keep it with the bank, since a
/// trained encoder would set another. This is not an [`Estimator`](crate::Estimator), because its loss is not of the form `log(1 + Ng / x+)`.
/// All is computed from logarithms, so nothing overflows at small temperatures.
///
/// Source: Tian, Krishnan, Isola, [Contrastive Multiview Coding](https://arxiv.org/abs/1906.05849), and the authors' code; Wu et al.,
/// [Unsupervised Feature Learning via Non-Parametric Instance Discrimination](https://arxiv.org/abs/1805.01978), Eq. 4 to 8.
///
/// ```
/// use bcl_core::{NoiseContrastiveLossConfig, Reduction, Scores};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.9], &device), Tensor::from_data([[0.1, 0.0, -0.2]], &device));
/// let loss = NoiseContrastiveLossConfig::new().init();
/// let log_normaliser = loss.log_normaliser(&scores, 1_000);
/// let value = loss.losses(&scores, log_normaliser, 1_000).reduce(Reduction::Mean);
/// // The positive makes up nearly all of Z, so e+ is 4/1000 and c is 3/1000.
/// assert!((value.into_scalar::<f32>() - (7f32 / 4.0).ln()).abs() < 1e-3);
/// ```
#[derive(Debug, Clone)]
pub struct NoiseContrastiveLoss {
    temperature: f64,
}

/// The authors add it to the denominators.
const EPSILON: f64 = 1e-7;

impl NoiseContrastiveLoss {
    /// Computes `log Z` of a batch, `Z = n · mean(exp(s/t))` over all positives and negatives that count. Constant in the gradient.
    ///
    /// # Shapes
    /// - output: `[1]`
    ///
    /// # Panics
    /// Panics if anchors have several positives.
    pub fn log_normaliser(&self, scores: &Scores, num_stored: usize) -> Tensor<1> {
        let [positives, negatives] = self.logits(scores).map(Tensor::detach);
        let num_anchors = scores.num_anchors() as f64;
        let counts = scores.counts();
        // Without masks, one count stands for all anchors.
        let num_negatives = counts.clone().sum() * (num_anchors / counts.dims()[0] as f64);
        let num_entries = num_negatives + num_anchors;
        let shift = positives.clone().max().max_pair(negatives.clone().max());
        let exponentials = |logits: Tensor<2>| (logits - shift.clone().unsqueeze::<2>()).exp();
        let sum = exponentials(positives).sum() + scores.weighted(exponentials(negatives)).sum();
        (sum * num_stored as f64 / num_entries).log() + shift
    }

    /// Computes the loss of each anchor. An anchor without negatives has none.
    ///
    /// # Shapes
    /// - scores:           one positive per anchor
    /// - `log_normaliser`: `[1]`
    ///
    /// # Panics
    /// Panics if anchors have several positives.
    pub fn losses(&self, scores: &Scores, log_normaliser: Tensor<1>, num_stored: usize) -> Losses {
        let [positives, negatives] = self.logits(scores);
        let log_normaliser = log_normaliser.detach().unsqueeze::<2>();
        let noise = scores.counts() * (num_stored as f64).recip();
        let log_raised = (noise.clone() + EPSILON).log();
        // With c' = c + ε: -log(e / (e + c')) = softplus(log c' - log e), and -log(c / (e + c')) = softplus(log e - log c') + log(c' / c).
        let of_positive = softplus(log_raised.clone() - (positives - log_normaliser.clone()));
        let of_negatives = softplus(negatives - log_normaliser - log_raised) + bcl_kernels::log1p(noise.recip() * EPSILON);
        let losses = of_positive + scores.weighted(of_negatives).sum_dim(1);
        let counted = scores.mask.clone().map(|mask| mask.any_dim(1).squeeze_dim(1));
        Losses::new(losses.squeeze_dim(1), counted)
    }

    /// `s/t` of positives and negatives; 0 where masked out.
    fn logits(&self, scores: &Scores) -> [Tensor<2>; 2] {
        let num_positives = scores.num_positives();
        assert_eq!(num_positives, 1, "the noise-contrastive loss needs one positive per anchor");
        let negatives = crate::scores::masked(scores.negatives.clone(), scores.mask.as_ref());
        [scores.positives.clone(), negatives].map(|similarities| over(similarities, self.temperature))
    }
}

/// `log(1 + e^x)`. Above 40 it is x in every precision.
fn softplus(x: Tensor<2>) -> Tensor<2> {
    let is_large = x.clone().greater_scalar(40.0);
    bcl_kernels::log1p(x.clone().clamp_max(40.0).exp()).mask_where(is_large, x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reduction;
    use burn::tensor::{Bool, DType, Device, TensorData};

    const NUM_STORED: usize = 50;

    fn scores() -> Scores {
        let values =
            |count: usize, phase: f64| -> Vec<f64> { (0..count).map(|i| (1.7 * i as f64 + phase).sin() * 0.9).collect() };
        let options = (&Device::flex(), DType::F64);
        let negatives = Tensor::from_data(TensorData::new(values(3 * 5, 1.1), [3, 5]), options);
        Scores::new(Tensor::from_data(values(3, 0.3).as_slice(), options), negatives)
    }

    fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
        tensor.into_data().iter::<f64>().collect()
    }

    fn assert_close(left: &[f64], right: &[f64]) {
        assert_eq!(left.len(), right.len());
        for (l, r) in left.iter().zip(right) {
            assert!((l - r).abs() <= 1e-12 * (1.0 + r.abs()), "{l} is not {r}");
        }
    }

    #[test]
    fn losses_are_those_of_the_definition() {
        let (loss, scores) = (NoiseContrastiveLossConfig::new().with_temperature(0.5).init(), scores());
        let x = |similarities: Tensor<2>| host((similarities / 0.5).exp());
        let (positives, negatives) = (x(scores.positives.clone()), x(scores.negatives.clone()));
        let normaliser = 50.0 * positives.iter().chain(&negatives).sum::<f64>() / 18.0;
        let noise = 5.0 / 50.0;
        let expected: Vec<f64> = (0..3)
            .map(|row| {
                let of_positive = positives[row] / normaliser;
                let of_negative = |x: &f64| -(noise / (x / normaliser + noise + 1e-7)).ln();
                -(of_positive / (of_positive + noise + 1e-7)).ln()
                    + negatives[5 * row..5 * row + 5].iter().map(of_negative).sum::<f64>()
            })
            .collect();
        let log_normaliser = loss.log_normaliser(&scores, NUM_STORED);
        assert_close(&host(log_normaliser.clone()), &[normaliser.ln()]);
        assert_close(&host(loss.losses(&scores, log_normaliser, NUM_STORED).values()), &expected);
    }

    #[test]
    fn masked_entries_are_left_out_of_loss_and_normaliser() {
        let (loss, whole) = (NoiseContrastiveLossConfig::new().init(), scores());
        let mut short = whole.clone();
        short.negatives = whole.negatives.clone().slice([0..3, 0..4]);
        let keep: Vec<bool> = (0..15).map(|entry| entry % 5 < 4).collect();
        let mask = Tensor::<2, Bool>::from_data(TensorData::new(keep, [3, 5]), &Device::flex());
        let masked = whole.with_mask(mask);
        let of = |scores: &Scores| {
            let log_normaliser = loss.log_normaliser(scores, NUM_STORED);
            [
                host(log_normaliser.clone()),
                host(loss.losses(scores, log_normaliser, NUM_STORED).values()),
            ]
            .concat()
        };
        assert_close(&of(&masked), &of(&short));
    }

    #[test]
    fn an_anchor_without_negatives_has_no_loss() {
        let keep = TensorData::new((0..15).map(|entry| entry >= 5).collect::<Vec<_>>(), [3, 5]);
        let scores = scores().with_mask(Tensor::<2, Bool>::from_data(keep, &Device::flex()));
        let loss = NoiseContrastiveLossConfig::new().init();
        let losses = loss.losses(&scores, loss.log_normaliser(&scores, NUM_STORED), NUM_STORED);
        assert_eq!(host(losses.num_counted().expect("a mask")), [2.0]);
        assert!(host(losses.values())[0] == 0.0);
    }

    #[test]
    fn a_tiny_temperature_leaves_loss_and_gradients_finite_in_f32() {
        let device = Device::flex().autodiff();
        let positives = Tensor::<1>::from_data([0.9, -0.9], &device).require_grad();
        let negatives = Tensor::<2>::from_data([[0.8, -0.7], [0.7, -0.8]], &device).require_grad();
        let scores = Scores::new(positives.clone(), negatives.clone());
        let loss = NoiseContrastiveLossConfig::new().with_temperature(1e-3).init();
        let log_normaliser = loss.log_normaliser(&scores, 1_000_000);
        let value = loss.losses(&scores, log_normaliser, 1_000_000).reduce(Reduction::Mean);
        let gradients = value.clone().backward();
        let [of_positives, of_negatives] = [
            host(positives.grad(&gradients).expect("a gradient")),
            host(negatives.grad(&gradients).expect("a gradient")),
        ];
        assert!(
            [host(value), of_positives.clone(), of_negatives]
                .concat()
                .iter()
                .all(|value| value.is_finite())
        );
        assert!(
            of_positives[1] < -100.0,
            "the worse positive is still pulled: {of_positives:?}"
        );
    }
}
