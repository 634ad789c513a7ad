//! Barlow Twins and VICReg: statistics of the features of two views.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MethodSettings, MethodStart, Objective, Precision,
    image::{projected_views, views_of},
};
use crate::batches::ImageBatch;
use bcl_core::{
    ParameterError,
    joint_embedding::{BarlowTwinsLoss, BarlowTwinsLossConfig, VicRegLoss, VicRegLossConfig},
};
use bcl_models::vision::ImageEncoder;
use burn::module::Module;
use std::ops::Range;

/// A loss of the features of both views of a batch.
#[derive(Debug, Clone)]
enum Loss {
    BarlowTwins(BarlowTwinsLoss),
    VicReg(VicRegLoss),
}

/// Trains an encoder with the [Barlow Twins](BarlowTwinsLoss) or the [VICReg](VicRegLoss) loss of its projections.
///
/// The losses are statistics of the batch, no means over images, so gradient caching computes them at once.
#[derive(Module, Debug)]
pub struct JointEmbedding {
    /// The encoder.
    pub encoder: ImageEncoder,
    #[module(skip)]
    loss: Loss,
    #[module(skip)]
    precision: Precision,
}

impl JointEmbedding {
    fn new(start: MethodStart, loss: Loss) -> Self {
        Self {
            encoder: start.encoder,
            loss,
            precision: start.precision,
        }
    }
}

impl MethodSettings for BarlowTwinsLossConfig {
    fn check(&self) -> Result<(), ParameterError> {
        Self::check(self)
    }

    fn is_recordable(&self) -> bool {
        true
    }
}

impl ImageMethodConfig for BarlowTwinsLossConfig {
    type Method = JointEmbedding;

    fn init(&self, start: MethodStart) -> JointEmbedding {
        JointEmbedding::new(start, Loss::BarlowTwins(Self::init(self)))
    }
}

impl MethodSettings for VicRegLossConfig {
    fn check(&self) -> Result<(), ParameterError> {
        Self::check(self)
    }

    fn is_recordable(&self) -> bool {
        true
    }
}

impl ImageMethodConfig for VicRegLossConfig {
    type Method = JointEmbedding;

    fn init(&self, start: MethodStart) -> JointEmbedding {
        JointEmbedding::new(start, Loss::VicReg(Self::init(self)))
    }
}

impl ImageMethod for JointEmbedding {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn num_anchors(&self, _: usize) -> usize {
        1
    }

    fn is_recordable(&self, _: &ImageBatch) -> bool {
        true
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        projected_views(&self.encoder, part, self.precision)
    }

    fn objective(&self, _: &ImageBatch, embeddings: &Embeddings, _: Range<usize>) -> Objective {
        let [first, second] = views_of(embeddings);
        Objective::of_batch(match &self.loss {
            Loss::BarlowTwins(loss) => loss.forward(first, second),
            Loss::VicReg(loss) => loss.forward(first, second),
        })
    }
}
