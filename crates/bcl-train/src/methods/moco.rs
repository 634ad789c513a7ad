//! MoCo: queries against a queue of keys from a momentum encoder.

use super::{Embeddings, ImageMethod, ImagePart, KeyQueue, Objective, Precision, image::projections, rows_of};
use crate::batches::ImageBatch;
use bcl_core::{
    ParameterError,
    parameter::{count_in, in_closed},
};
use bcl_models::vision::{ImageEncoder, ema_target, ema_update};
use burn::{
    module::Module,
    tensor::{Bool, Device, Tensor},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`MoCo`], as in recipes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MoCoConfig {
    /// Size of the queue, which is the number of negatives once it is full.
    pub queue: usize,
    /// Momentum of the key encoder, in [0, 1].
    pub momentum: f64,
    /// Whether both views are queries, each against the other's key; otherwise only the first view is a query.
    pub symmetric: bool,
}

/// The settings of the authors' CIFAR-10 example.
impl Default for MoCoConfig {
    fn default() -> Self {
        Self {
            queue: 4096,
            momentum: 0.99,
            symmetric: false,
        }
    }
}

impl MoCoConfig {
    /// Largest queue.
    const MOST: usize = 1 << 24;

    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns an error that names the parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("queue", self.queue, 1, Self::MOST)?;
        in_closed("momentum", self.momentum, 0.0, 1.0)
    }

    /// Builds the method around an encoder with embedding size `dim`.
    pub fn init(&self, encoder: ImageEncoder, dim: usize, precision: Precision, device: &Device) -> MoCo {
        MoCo {
            momentum_encoder: ema_target(&encoder),
            queue: KeyQueue::new(self.queue, dim, device),
            encoder,
            config: self.clone(),
            precision,
        }
    }
}

/// The positive of a query is the key of the image's other view; negatives are the keys of earlier batches.
///
/// Keys come from a momentum encoder, which is updated after each step,
///
/// ```text
/// momentum_encoder <- momentum · momentum_encoder + (1 - momentum) · encoder
/// ```
///
/// and then enter the [queue](KeyQueue), so no query has a key of its own batch as a negative, not even in a symmetric step.
///
/// Source: He et al., [Momentum Contrast for Unsupervised Visual Representation Learning](https://arxiv.org/abs/1911.05722).
#[derive(Module, Debug)]
pub struct MoCo {
    /// The encoder of queries.
    pub encoder: ImageEncoder,
    /// The encoder of keys.
    pub momentum_encoder: ImageEncoder,
    /// Keys of earlier batches.
    pub queue: KeyQueue,
    #[module(skip)]
    config: MoCoConfig,
    #[module(skip)]
    precision: Precision,
}

impl MoCo {
    /// Names of the tables of either view: queries of the encoder and keys of the momentum encoder.
    pub const TABLES: [[&'static str; 2]; 2] = [["first_queries", "first_keys"], ["second_queries", "second_keys"]];

    /// The views that are queries. The key is the other view.
    fn query_views(&self) -> Range<usize> {
        0..if self.config.symmetric { 2 } else { 1 }
    }

    /// Stacks the tables of the views.
    fn stacked(embeddings: &Embeddings, names: impl Iterator<Item = &'static str>) -> Tensor<2> {
        let mut tables: Vec<_> = names.map(|name| embeddings.rows(name)).collect();
        match tables.len() {
            1 => tables.remove(0),
            _ => Tensor::cat(tables, 0),
        }
    }
}

impl ImageMethod for MoCo {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        self.query_views().fold(Embeddings::new(), |embeddings, view| {
            let queries = projections(&self.encoder, part, view, self.precision);
            let keys = projections(&self.momentum_encoder, part, 1 - view, self.precision);
            embeddings
                .with(Self::TABLES[view][0], queries)
                .with_constant(Self::TABLES[1 - view][1], keys)
        })
    }

    fn objective(&self, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let queries = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[view][0]));
        let keys = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[1 - view][1]));
        Objective::Scores(self.queue.scores(rows_of(queries, anchors.clone()), rows_of(keys, anchors)))
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let classes = batch.classes.as_deref()?;
        let of_anchors: Vec<u32> = anchors.map(|anchor| classes[anchor % classes.len()]).collect();
        Some(self.queue.same_class(&of_anchors, device))
    }

    fn after_step(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        let keys = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[1 - view][1]));
        let classes = batch
            .classes
            .as_deref()
            .map(|classes| classes.repeat(self.query_views().len()));
        Self {
            momentum_encoder: ema_update(self.momentum_encoder, &self.encoder, self.config.momentum),
            queue: self.queue.with_keys(keys, classes.as_deref()),
            ..self
        }
    }

    fn anchors_per_image(&self) -> usize {
        self.query_views().len()
    }

    fn remembers_classes(&self) -> bool {
        true
    }
}
