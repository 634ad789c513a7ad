//! InfoNCE: every negative counts alike.

use super::{
    Estimator, Losses,
    config::{estimator_config, expect_checked},
};
use crate::{
    ParameterError, Scores,
    margins::{Margins, masked},
    parameter::temperature,
};
use burn::tensor::Tensor;

estimator_config! {
    /// Configuration of [`InfoNce`].
    pub struct InfoNceConfig {
        /// Temperature t, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.5,
    }
}

impl InfoNceConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the parameter out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        temperature(self.temperature)
    }

    /// Builds the estimator.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn init(&self) -> InfoNce {
        expect_checked(self.check());
        InfoNce {
            temperature: self.temperature,
        }
    }
}

/// InfoNCE, the loss of `SimCLR` (NT-Xent): `Ng = Σ x_i`.
///
/// Source: van den Oord et al., Representation Learning with Contrastive Predictive Coding; Chen et al., A Simple Framework for
/// Contrastive Learning of Visual Representations.
///
/// ```
/// use bcl_core::{Estimator, InfoNceConfig, Reduction, Scores};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Scores::new(Tensor::from_data([0.0], &device), Tensor::from_data([[0.0, 0.0, 0.0]], &device));
/// let loss = InfoNceConfig::new().init().forward(scores, Reduction::Mean).into_scalar::<f32>();
/// assert!((loss - 4f32.ln()).abs() < 1e-6); // one positive among four equal scores
/// ```
#[derive(Debug)]
pub struct InfoNce {
    temperature: f64,
}

impl Estimator for InfoNce {
    fn name(&self) -> &'static str {
        "info_nce"
    }

    fn losses(&self, scores: Scores) -> Losses {
        let margins = Margins::new(&scores, self.temperature);
        Losses::new(margins.loss(margins.mass(None)), margins.has_negatives())
    }

    fn weights(&self, scores: &Scores) -> Tensor<2> {
        masked(scores.negatives.ones_like(), scores.mask.as_ref())
    }
}
