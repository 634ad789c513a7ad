//! InfoNCE: all negatives have the same weight.

use super::{Estimator, Kernel, config::estimator};
use crate::{Losses, Pairs, Scores, SideInformation, margins::PositiveMargins, parameter::temperature};
use bcl_kernels::{Correction, Weighing};
use burn::tensor::Tensor;

estimator! {
    InfoNceLossConfig => InfoNceLoss {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
    }

    check(config) {
        temperature(config.temperature)
    }

    init(config) {
        InfoNceLoss { temperature: config.temperature }
    }
}

/// InfoNCE, the loss of `SimCLR` (NT-Xent): `Ng = Σ x_i`.
///
/// Source: van den Oord et al., Representation Learning with Contrastive Predictive Coding; Chen et al., A Simple Framework for
/// Contrastive Learning of Visual Representations.
///
/// ```
/// use bcl_core::{InfoNceLossConfig, Reduction, Scores};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0, 0.0]], &device));
/// let loss = InfoNceLossConfig::new().init().forward(scores, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 4f32.ln()).abs() < 1e-6); // one positive among four equal scores
/// ```
#[derive(Debug)]
pub struct InfoNceLoss {
    temperature: f64,
}

impl Estimator for InfoNceLoss {
    fn losses(&self, pairs: Pairs, _: &SideInformation) -> Losses {
        pairs.losses(self, |scores| {
            let margins = PositiveMargins::new(&scores, self.temperature);
            margins.losses(margins.loss(margins.mass(None)))
        })
    }

    fn kernel(&self, _: &Pairs) -> Option<Kernel> {
        Some(Kernel(Weighing::Equal, Correction::None))
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.ones_like())
    }

    fn temperature(&self) -> f64 {
        self.temperature
    }
}
