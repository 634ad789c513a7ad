//! SimSiam: predicts the projection of the other view, without negatives.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MethodSettings, MethodSizes, MethodStart, Objective, Precision,
    image::raw_projections_of_views,
    predictor::{self, cross_predictions, predictor},
};
use crate::batches::ImageBatch;
use bcl_core::ParameterError;
use bcl_models::vision::{ImageEncoder, ProjectionHead};
use burn::module::Module;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`SimSiam`], as in recipes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimSiamConfig {
    /// Hidden size of the predictor.
    pub hidden: usize,
}

impl Default for SimSiamConfig {
    fn default() -> Self {
        Self { hidden: 512 }
    }
}

impl MethodSettings for SimSiamConfig {
    fn check(&self) -> Result<(), ParameterError> {
        predictor::check(self.hidden)
    }

    fn is_recordable(&self) -> bool {
        true
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        predictor::memory(self.hidden, sizes)
    }
}

impl ImageMethodConfig for SimSiamConfig {
    type Method = SimSiam;

    fn init(&self, start: MethodStart) -> SimSiam {
        SimSiam {
            predictor: predictor(self.hidden, &start),
            encoder: start.encoder,
            precision: start.precision,
        }
    }
}

/// A predictor maps the projection of one view to the projection of the other view, which gets no gradient:
///
/// ```text
/// loss = -cos(predictor(z), z'.detach())
/// ```
///
/// for either view of each image. Without the predictor, or with a gradient to z', all projections would collapse to one.
///
/// Source: Chen, He, [Exploring Simple Siamese Representation Learning](https://arxiv.org/abs/2011.10566), equations 1 to 4.
#[derive(Module, Debug)]
pub struct SimSiam {
    /// The encoder, whose projections are predicted.
    pub encoder: ImageEncoder,
    /// Maps projections to predictions.
    pub predictor: ProjectionHead,
    #[module(skip)]
    precision: Precision,
}

impl ImageMethod for SimSiam {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let of_views = raw_projections_of_views(&self.encoder, part, 0..2, self.precision);
        predictor::embed(|view| {
            let projections = of_views[view].clone();
            let predictions = self.predictor.forward(projections.clone(), part.mode);
            [predictions, projections]
        })
    }

    fn objective(&self, _: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        cross_predictions(embeddings, anchors)
    }

    fn is_recordable(&self, _: &ImageBatch) -> bool {
        true
    }
}
