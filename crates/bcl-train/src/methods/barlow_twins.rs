//! Barlow Twins: features of two views are equal, and different features are not correlated.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MethodSettings, MethodStart, Objective, Precision,
    image::{projected_views, views_of},
};
use crate::batches::ImageBatch;
use bcl_core::{ParameterError, joint_embedding::BarlowTwinsConfig};
use bcl_models::vision::ImageEncoder;
use burn::module::Module;
use std::ops::Range;

impl MethodSettings for BarlowTwinsConfig {
    fn check(&self) -> Result<(), ParameterError> {
        Self::check(self)
    }
}

impl ImageMethodConfig for BarlowTwinsConfig {
    type Method = BarlowTwins;

    fn init(&self, start: MethodStart) -> BarlowTwins {
        BarlowTwins {
            encoder: start.encoder,
            config: self.clone(),
            precision: start.precision,
        }
    }
}

/// Trains an encoder with the [`BarlowTwins`](bcl_core::joint_embedding::BarlowTwins) loss of its projections.
///
/// The loss is a statistic of the batch, no mean over images, so gradient caching computes it at once.
#[derive(Module, Debug)]
pub struct BarlowTwins {
    /// The encoder.
    pub encoder: ImageEncoder,
    #[module(skip)]
    config: BarlowTwinsConfig,
    #[module(skip)]
    precision: Precision,
}

impl ImageMethod for BarlowTwins {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn num_anchors(&self, _: usize) -> usize {
        1
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        projected_views(&self.encoder, part, self.precision)
    }

    fn objective(&self, _: &ImageBatch, embeddings: &Embeddings, _: Range<usize>) -> Objective {
        let [first, second] = views_of(embeddings);
        Objective::of_batch(self.config.init().forward(first, second))
    }
}
