//! SimCLR: two views of an image are positives, the rest of the batch are negatives.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MethodSettings, MethodStart, Objective, Precision,
    image::projections_of_views,
};
use crate::batches::ImageBatch;
use bcl_core::{Pairs, Similarity};
use bcl_models::vision::ImageEncoder;
use burn::{
    module::Module,
    tensor::{Bool, Device, Tensor},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// SimCLR has no parameters of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimClrConfig {}

impl MethodSettings for SimClrConfig {
    fn num_negatives(&self, batch_size: usize) -> Option<usize> {
        Some((2 * batch_size).saturating_sub(2))
    }
}

impl ImageMethodConfig for SimClrConfig {
    type Method = SimClr;

    fn init(&self, start: MethodStart) -> SimClr {
        SimClr {
            encoder: start.encoder,
            precision: start.precision,
        }
    }
}

/// The views of an image are each other's positives; both views of all other images of the batch are their negatives.
///
/// Source: Chen et al., [A Simple Framework for Contrastive Learning of Visual Representations](https://arxiv.org/abs/2002.05709).
#[derive(Module, Debug)]
pub struct SimClr {
    /// The encoder.
    pub encoder: ImageEncoder,
    /// Precision of the encoder.
    #[module(skip)]
    pub precision: Precision,
}

impl SimClr {
    /// Names of the tables: projections of either view, `[batch_size, out]`.
    pub const TABLES: [&'static str; 2] = ["first", "second"];
}

impl ImageMethod for SimClr {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let projections = projections_of_views(&self.encoder, part, 0..2, self.precision);
        let views = Self::TABLES.into_iter().zip(projections);
        views.fold(Embeddings::new(), |embeddings, (name, rows)| embeddings.with(name, rows))
    }

    fn objective(&self, _: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let [first, second] = Self::TABLES.map(|name| embeddings.rows(name));
        // Projections are already unit rows, so the dot product is the cosine.
        let pairs = Pairs::from_views_of(first, second, Similarity::Dot, anchors);
        Objective::Pairs(pairs.with_least_similarity(Similarity::Cosine.least()))
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        batch.same_class(anchors, device)
    }
}
