//! GraphCL: two views of a graph are positives, the rest of the batch are negatives.

use super::{
    Embeddings, Method, Objective,
    graph::{ENCODER, GraphMethodSettings},
};
use crate::batches::{GraphViewsBatch, NamedTensors};
use bcl_core::{Pairs, Similarity};
use bcl_data::{DataError, Seed, graphs::GraphViewsConfig};
use bcl_models::graphs::{Gin, GinConfig, TwoLayerHead};
use burn::{
    module::Module,
    tensor::{Bool, Device, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};
use std::{iter, ops::Range};

/// The parameters of [`GraphCl`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphClConfig {
    /// The random views.
    pub views: GraphViewsConfig,
}

impl GraphClConfig {
    /// Builds the method with random weights.
    pub fn init(&self, encoder: &GinConfig, num_features: usize, seed: Seed, device: &Device) -> GraphCl {
        GraphCl {
            encoder: encoder.init(num_features, seed.named(ENCODER).0, device),
            head: TwoLayerHead::new(encoder.dim(), seed.named("head").0, device),
        }
    }
}

impl GraphMethodSettings for GraphClConfig {
    fn check(&self) -> Result<(), DataError> {
        self.views.check()
    }

    fn num_anchors(&self, _: u64, num_graphs: u64) -> u64 {
        2 * num_graphs
    }

    fn num_negatives(&self, num_graphs: usize) -> usize {
        (2 * num_graphs).saturating_sub(2)
    }

    fn num_encoded(&self, num_nodes: u64) -> u64 {
        (2.0 * (1.0 - self.views.ratio) * num_nodes as f64) as u64
    }

    fn num_heads(&self) -> usize {
        1
    }

    fn head_parameters(&self, encoder: &GinConfig) -> u64 {
        TwoLayerHead::num_parameters(encoder.dim())
    }
}

/// The views of a graph are each other's positives; both views of all other graphs of the batch are their negatives. Views are compared by cosines,
/// after a head. The encoder alone is evaluated.
///
/// With the loss [`InfoNceLoss`](bcl_core::InfoNceLoss) this is the normalised cross-entropy of SimCLR. The released code leaves the positive out
/// of the denominator, as the [decoupled loss](bcl_core::DecoupledLoss) does, and compares first views only with second ones.
///
/// Source: You et al., [Graph Contrastive Learning with Augmentations](https://arxiv.org/abs/2010.13902), Section 3.2.
#[derive(Module, Debug)]
pub struct GraphCl {
    /// The encoder.
    pub encoder: Gin,
    /// The head of graph embeddings.
    pub head: TwoLayerHead,
}

impl GraphCl {
    /// Names of the tables: projections of either view, `[num_graphs, dim]`, unit rows.
    pub const TABLES: [&'static str; 2] = ["first", "second"];
}

impl Method for GraphCl {
    type Encoder = Gin;
    type Batch = GraphViewsBatch;
    type Part = GraphViewsBatch;

    const EMBEDS_WHOLE_BATCH: bool = true;

    fn encoder(&self) -> &Gin {
        &self.encoder
    }

    /// Returns the whole batch as the only part, so that batch normalisation covers all nodes of a view.
    fn parts(batch: &GraphViewsBatch, _: usize) -> impl Iterator<Item = GraphViewsBatch> {
        iter::once(batch.clone())
    }

    /// Embeds each view in a forward pass of its own, so that batch statistics never cover both views.
    fn embed(&self, batch: &GraphViewsBatch) -> Embeddings {
        let views = Self::TABLES.into_iter().zip(&batch.views);
        views.fold(Embeddings::new(), |embeddings, (name, view)| {
            let graphs = self.encoder.forward(view, batch.mode).graphs;
            embeddings.with(name, Similarity::Cosine.prepare(self.head.forward(graphs)))
        })
    }

    fn num_anchors(&self, batch: &GraphViewsBatch) -> usize {
        batch.num_anchors()
    }

    fn objective(&self, _: &GraphViewsBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let [first, second] = Self::TABLES.map(|name| embeddings.rows(name));
        // Projections are already unit rows, so the dot product is the cosine.
        let pairs = Pairs::from_views_of(first, second, Similarity::Dot, anchors);
        Objective::Pairs(pairs.with_least_similarity(Similarity::Cosine.least()))
    }

    fn same_class(&self, batch: &GraphViewsBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        batch.same_class(anchors, device)
    }

    fn tensors(batch: &GraphViewsBatch) -> NamedTensors {
        let graphs: Vec<i64> = batch.graphs.iter().map(|&graph| graph.into()).collect();
        let [first, second] = &batch.views;
        NamedTensors::default()
            .with("graphs", TensorData::from(&*graphs))
            .with("features_1", first.features.to_data())
            .with("features_2", second.features.to_data())
    }
}

#[cfg(test)]
mod tests;
