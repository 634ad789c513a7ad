//! BYOL: predicts what a momentum encoder projects from the other view, without negatives.

use super::{
    Counter, Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MethodSettings, MethodSizes, MethodStart, Momentum,
    MomentumSchedule, Objective, Precision,
    image::raw_projections_of_views,
    momentum,
    predictor::{self, cross_predictions, predictor},
};
use crate::batches::ImageBatch;
use bcl_core::ParameterError;
use bcl_models::vision::{ImageEncoder, ProjectionHead, ema_target};
use burn::module::Module;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`Byol`], as in recipes. The defaults are lightly's for CIFAR-10.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ByolConfig {
    /// Hidden size of the predictor.
    pub hidden: usize,
    /// Momentum of the target encoder, in [0, 1]; of the first step if it has a schedule.
    pub momentum: f64,
    /// How the momentum changes.
    pub momentum_schedule: MomentumSchedule,
}

impl Default for ByolConfig {
    fn default() -> Self {
        Self {
            hidden: 1024,
            momentum: 0.99,
            momentum_schedule: MomentumSchedule::Constant,
        }
    }
}

impl MethodSettings for ByolConfig {
    fn check(&self) -> Result<(), ParameterError> {
        predictor::check(self.hidden)?;
        momentum::check(self.momentum)
    }

    fn spread_over_epochs(&self) -> Option<&'static str> {
        self.momentum_schedule.spread_over_epochs()
    }

    fn is_recordable(&self) -> bool {
        self.momentum_schedule == MomentumSchedule::Constant
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        sizes.parameters + predictor::memory(self.hidden, sizes)
    }
}

impl ImageMethodConfig for ByolConfig {
    type Method = Byol;

    fn init(&self, start: MethodStart) -> Byol {
        Byol {
            predictor: predictor(self.hidden, &start),
            target_encoder: ema_target(&start.encoder),
            steps: Counter::new(&start.device),
            momentum: Momentum::new(self.momentum, self.momentum_schedule, &start),
            precision: start.precision,
            encoder: start.encoder,
        }
    }
}

/// A predictor maps the projection of one view to the target encoder's projection of the other view. The target encoder follows the encoder
/// with momentum:
///
/// ```text
/// loss = -cos(predictor(z), z')
/// target_encoder <- momentum · target_encoder + (1 - momentum) · encoder
/// ```
///
/// for either view of each image. The authors' loss is `2 + 2 · loss` per view, which is another learning rate.
///
/// Source: Grill et al., [Bootstrap Your Own Latent](https://arxiv.org/abs/2006.07733), equations 1 and 2.
#[derive(Module, Debug)]
pub struct Byol {
    /// The encoder, whose projections are mapped to predictions.
    pub encoder: ImageEncoder,
    /// Maps projections to predictions.
    pub predictor: ProjectionHead,
    /// The encoder of targets.
    pub target_encoder: ImageEncoder,
    /// Number of optimizer steps so far.
    steps: Counter,
    #[module(skip)]
    momentum: Momentum,
    #[module(skip)]
    precision: Precision,
}

impl ImageMethod for Byol {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let [projections, targets] =
            [&self.encoder, &self.target_encoder].map(|encoder| raw_projections_of_views(encoder, part, 0..2, self.precision));
        predictor::embed(|view| {
            let predictions = self.predictor.forward(projections[view].clone(), part.mode);
            [predictions, targets[view].clone()]
        })
    }

    fn objective(&self, _: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        cross_predictions(embeddings, anchors)
    }

    fn is_recordable(&self, _: &ImageBatch) -> bool {
        self.momentum.is_constant()
    }

    fn after_update(self) -> Self {
        Self {
            target_encoder: self.momentum.update(self.target_encoder, &self.encoder, &self.steps),
            steps: self.steps.plus(1),
            ..self
        }
    }
}
