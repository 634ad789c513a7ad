//! Decoupled contrastive loss: InfoNCE without the positive in the denominator.

use super::{Estimator, config::estimator};
use crate::{Losses, Scores, SideInformation, margins::PositiveMargins, parameter::temperature};
use burn::tensor::Tensor;

estimator! {
    DecoupledConfig => Decoupled {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
    }

    check(config) {
        temperature(config.temperature)
    }

    init(config) {
        Decoupled { temperature: config.temperature }
    }
}

/// Decoupled contrastive loss: `Ng = Σ x_i`, and the loss is `log(Ng / x+)`, which may be negative.
///
/// The field abbreviates this loss and the debiased one alike: DCL.
///
/// Source: Yeh et al., Decoupled Contrastive Learning.
///
/// ```
/// use bcl_core::{DecoupledConfig, Estimator, Reduction, Scores};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0, 0.0]], &device));
/// let loss = DecoupledConfig::new().init().forward(scores, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 3f32.ln()).abs() < 1e-6); // three negatives as high as the positive
/// ```
#[derive(Debug)]
pub struct Decoupled {
    temperature: f64,
}

impl Estimator for Decoupled {
    fn losses(&self, scores: Scores, _: &SideInformation) -> Losses {
        let margins = PositiveMargins::around_hardest(&scores, self.temperature);
        margins.losses(margins.decoupled_loss(margins.mass(None)))
    }

    fn weights(&self, scores: &Scores, _: &SideInformation) -> Tensor<2> {
        scores.weighted(scores.negatives.ones_like())
    }

    fn temperature(&self) -> f64 {
        self.temperature
    }
}
