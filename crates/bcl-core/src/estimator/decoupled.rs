//! Decoupled contrastive loss: InfoNCE without the positive in the denominator.

use super::{Estimator, Kernel, Requirements, config::estimator};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    margins::{PositiveMargins, over},
    parameter::{in_closed, temperature},
};
use bcl_kernels::{Correction, Weighing};
use burn::tensor::Tensor;

estimator! {
    DecoupledLossConfig => DecoupledLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Temperature σ of the positives' weights, in [1e-6, 1e6]; without it, all weigh 1. The authors use 0.5.
        #[serde(skip_serializing_if = "Option::is_none")]
        sigma / with_sigma: Option<f64> = None,
    }

    check(config) {
        temperature(config.temperature)?;
        config.sigma.map_or(Ok(()), |sigma| in_closed("sigma", sigma, 1e-6, 1e6))
    }

    init(config) {
        DecoupledLoss { config: config.clone() }
    }
}

/// Decoupled contrastive loss: `Ng = Σ x_i`, and the loss is `log(Ng / x+)`, which may be negative.
///
/// The field abbreviates this loss and the debiased one alike: DCL.
///
/// With σ it is the weighted form, DCLW: easy positives weigh less, without a gradient through the weights,
///
/// ```text
/// L_i = log Σ_k x_ik - w_i s+_i / t,    w_i = 2 - n · softmax_i(s+ / σ)
/// ```
///
/// over the n positives of the batch, so that weights average to 1. Their order does not matter. For two views of B samples, where each
/// pair is the positive of two anchors, this is the paper's softmax over B pairs. The loss of an anchor then
/// [depends on the others](Requirements::whole_batch).
///
/// Source: Yeh et al., [Decoupled Contrastive Learning](https://arxiv.org/abs/2110.06848), Eq. 5 to 7.
///
/// ```
/// use bcl_core::{DecoupledLossConfig, Reduction, Scores};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0, 0.0]], &device));
/// let loss = DecoupledLossConfig::new().init().forward(scores, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 3f32.ln()).abs() < 1e-6); // three negatives as high as the positive
/// ```
#[derive(Debug)]
pub struct DecoupledLoss {
    config: DecoupledLossConfig,
}

impl DecoupledLoss {
    /// Computes the weight of each positive: 1 without σ. Positives that are masked out have any weight. Constant in the gradient.
    ///
    /// # Shapes
    /// - output: `[num_anchors, num_positives]`
    pub fn positive_weights(&self, scores: &Scores) -> Tensor<2> {
        let Some(sigma) = self.config.sigma else {
            return scores.positives.ones_like();
        };
        // σ is a width of similarities, at any temperature.
        let positives = over(scores.unscaled(scores.counted_positives().detach()), sigma);
        let left_out = |values: Tensor<2>, by: f64| match &scores.positives_mask {
            Some(mask) => values.mask_fill(mask.clone().bool_not(), by),
            None => values,
        };
        let positives = left_out(positives, f64::from(f32::MIN));
        let exponentials = (positives.clone() - positives.max().unsqueeze::<2>()).exp();
        let num_counted = left_out(exponentials.ones_like(), 0.0).sum();
        let share = exponentials.clone() / exponentials.sum().unsqueeze::<2>();
        -share * num_counted.unsqueeze::<2>() + 2.0
    }
}

impl Estimator for DecoupledLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        pairs.losses(self, |scores| {
            let margins = PositiveMargins::around_hardest(&scores, self.config.temperature);
            let losses = margins.decoupled_loss(margins.mass(None));
            margins.losses(if self.config.sigma.is_some() {
                losses + margins.log_positive() * (-self.positive_weights(&scores) + 1.0)
            } else {
                losses
            })
        })
    }

    fn kernel(&self, _: &Pairs) -> Option<Kernel> {
        let is_plain = self.config.sigma.is_none();
        is_plain.then_some(Kernel(Weighing::Equal, Correction::Decoupled))
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.ones_like())
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            whole_batch: self.config.sigma.is_some(),
            ..Requirements::default()
        }
    }
}
