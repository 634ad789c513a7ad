//! Ring loss: only negatives of middling difficulty count.

use super::{
    Estimator, Kernel,
    config::estimator,
    ranked::{RankTable, RankWeight},
};
use crate::{
    Losses, Pairs, Scores, SideInformation,
    parameter::{in_closed, in_half_open, temperature},
};
use bcl_kernels::Correction;
use burn::tensor::Tensor;

estimator! {
    RingLossConfig => RingLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
        /// Share of the anchor's lowest scores that is left out, in [0, upper).
        lower / with_lower: f64 = 0.0,
        /// Share of the anchor's scores up to which they count, in (lower, 1]; the rest are probably false negatives.
        upper / with_upper: f64 = 0.9,
    }

    check(config) {
        temperature(config.temperature)?;
        in_closed("upper", config.upper, f64::MIN_POSITIVE, 1.0)?;
        in_half_open("lower", config.lower, 0.0, config.upper)
    }

    init(config) {
        RingLoss {
            config: config.clone(),
            table: RankTable::default(),
        }
    }
}

/// Ring loss: `Ng = Σ x_i` over the negatives whose eCDF within the row is in `(lower, upper]`.
///
/// If no rank of a short row is in the ring (`num_negatives · (upper - lower) < 1`), the anchor has no negatives and so no loss.
///
/// Source: Wu et al., Conditional Negative Sampling for Contrastive Learning of Visual Representations.
///
/// ```
/// use bcl_core::{Estimator, RingLossConfig, Scores, SideInformation};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.5], &device), Tensor::from_data([[0.6, 0.1, -0.2, 0.3]], &device));
/// let ring = RingLossConfig::new().with_lower(0.25).with_upper(0.75).init();
/// let weights = ring.weights(&scores, &SideInformation::none());
/// assert_eq!(weights.into_data().iter::<f32>().collect::<Vec<_>>(), [0.0, 1.0, 0.0, 1.0]);
/// ```
#[derive(Debug)]
pub struct RingLoss {
    config: RingLossConfig,
    table: RankTable,
}

impl Estimator for RingLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        pairs.losses(self, |scores| {
            self.table.losses(&scores, self.config.temperature, &self.config)
        })
    }

    fn kernel(&self, pairs: &Pairs) -> Option<Kernel> {
        let weighing = self.table.of(pairs, self.config.temperature, &self.config)?;
        Some(Kernel(weighing, Correction::None))
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(self.table.weights(scores, &self.config))
    }

    fn temperature(&self) -> f64 {
        self.config.temperature
    }
}

impl RankWeight for RingLossConfig {
    fn by_rank(&self, num_negatives: usize) -> Vec<f64> {
        let counts = |rank: usize| {
            let ecdf = rank as f64 / num_negatives as f64;
            f64::from(u8::from(self.lower < ecdf && ecdf <= self.upper))
        };
        (1..=num_negatives).map(counts).collect()
    }

    fn by_ecdf(&self, ecdf: Tensor<2>) -> Tensor<2> {
        let inside = ecdf
            .clone()
            .greater_scalar(self.lower)
            .bool_and(ecdf.clone().lower_equal_scalar(self.upper));
        ecdf.zeros_like().mask_fill(inside, 1.0)
    }
}
