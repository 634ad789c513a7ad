//! MoCo: queries against a queue of keys from a momentum encoder.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, KeyQueue, MethodSettings, MethodSizes, MethodStart, Needs, Objective,
    Precision, StoredKeys, image::projections, rows_of,
};
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
    /// Number of groups of a batch that batch normalisation treats as batches of their own, in place of the shuffling between GPUs.
    pub norm_groups: usize,
}

/// The settings of the authors' CIFAR-10 example, in its symmetric variant.
impl Default for MoCoConfig {
    fn default() -> Self {
        Self {
            queue: 4096,
            momentum: 0.99,
            symmetric: true,
            norm_groups: 8,
        }
    }
}

impl MoCoConfig {
    /// Largest queue.
    const MOST: usize = 1 << 24;
    /// Largest number of groups of a batch.
    const MOST_GROUPS: usize = 1024;
}

impl MethodSettings for MoCoConfig {
    fn check(&self) -> Result<(), ParameterError> {
        count_in("queue", self.queue, 1, Self::MOST)?;
        in_closed("momentum", self.momentum, 0.0, 1.0)?;
        count_in("norm_groups", self.norm_groups, 1, Self::MOST_GROUPS)
    }

    fn num_negatives(&self, _: usize) -> Option<usize> {
        Some(self.queue)
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        sizes.parameters + self.queue as u64 * sizes.dim
    }

    fn needs(&self) -> Needs {
        Needs {
            group: self.norm_groups,
            ..Needs::default()
        }
    }
}

impl ImageMethodConfig for MoCoConfig {
    type Method = MoCo;

    fn init(&self, start: MethodStart) -> MoCo {
        let encoder = start.encoder.with_split_norms(self.norm_groups);
        MoCo {
            momentum_encoder: ema_target(&encoder),
            queue: KeyQueue::new(self.queue, start.dim, &start.device),
            encoder,
            config: self.clone(),
            precision: start.precision,
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
/// and then enter the [queue](KeyQueue), so no query has a key of its own batch as a negative, not even in a symmetric step. Earlier
/// keys of the anchor's image, which a queue holds if it is large for the data set, are masked out.
///
/// The authors shuffle each batch between GPUs, so that the batch statistics of a query and its key cover different images: otherwise
/// the network can recognise the key by them. On one device `norm_groups` has that effect: the trunk normalises sample n of a batch
/// with the samples of group `n mod norm_groups` alone.
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

    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let queries = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[view][0]));
        let keys = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[1 - view][1]));
        let images: Vec<usize> = anchors.clone().map(|anchor| batch.image_of(anchor)).collect();
        let scores = self.queue.scores(rows_of(queries, anchors.clone()), rows_of(keys, anchors));
        Objective::Scores(self.queue.without_own_keys(scores, &images))
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let classes = batch.classes.as_deref()?;
        let of_anchors: Vec<u32> = anchors.map(|anchor| classes[anchor % classes.len()]).collect();
        Some(self.queue.same_class(&of_anchors, device))
    }

    fn after_step(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        let keys = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[1 - view][1]));
        let stored = StoredKeys::of_batch(batch, self.query_views().len());
        Self {
            momentum_encoder: ema_update(self.momentum_encoder, &self.encoder, self.config.momentum),
            queue: self.queue.with_keys(keys, &stored),
            ..self
        }
    }

    fn num_anchors(&self, batch_size: usize) -> usize {
        self.query_views().len() * batch_size
    }

    fn remembers_classes(&self) -> bool {
        true
    }
}
