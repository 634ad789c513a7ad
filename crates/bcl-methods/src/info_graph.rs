//! InfoGraph: nodes against the graph that they belong to.

use super::{
    Embeddings, Method, Objective,
    graph::{ENCODER, GraphMethodSettings},
    rows_of,
};
use crate::batches::{GraphBatch, NamedTensors};
use bcl_core::{Scores, Similarity, matmul};
use bcl_data::Seed;
use bcl_models::graphs::{Gin, GinConfig, ResidualHead};
use burn::{
    module::Module,
    tensor::{Bool, Device, Int, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};
use std::{iter, ops::Range};

/// The parameters of [`InfoGraph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfoGraphConfig {
    /// How nodes and graphs are compared. InfoGraph itself uses dot products, with `loss.objective = "jsd"` and a temperature of 1.
    pub similarity: Similarity,
}

impl Default for InfoGraphConfig {
    fn default() -> Self {
        Self {
            similarity: Similarity::Cosine,
        }
    }
}

impl InfoGraphConfig {
    /// Builds the method with random weights.
    pub fn init(&self, encoder: &GinConfig, num_features: usize, seed: Seed, device: &Device) -> InfoGraph {
        let head = |name| ResidualHead::new(encoder.dim(), seed.named(name).0, device);
        InfoGraph {
            encoder: encoder.init(num_features, seed.named(ENCODER).0, device),
            node_head: head("node head"),
            graph_head: head("graph head"),
            similarity: self.similarity,
        }
    }
}

impl GraphMethodSettings for InfoGraphConfig {
    fn num_anchors(&self, num_nodes: u64, _: u64) -> u64 {
        num_nodes
    }

    fn num_negatives(&self, num_graphs: usize) -> usize {
        num_graphs.saturating_sub(1)
    }

    fn num_encoded(&self, num_nodes: u64) -> u64 {
        num_nodes
    }

    fn num_heads(&self) -> usize {
        2
    }

    fn head_parameters(&self, encoder: &GinConfig) -> u64 {
        2 * ResidualHead::num_parameters(encoder.dim())
    }
}

/// The positive of a node is the graph that it belongs to; the other graphs of the batch are its negatives.
///
/// Nodes and graphs are compared after a head each. The encoder alone is evaluated.
///
/// Source: Sun et al., [InfoGraph](https://arxiv.org/abs/1908.01000), for dot products and the objective
/// [`JensenShannonLoss`](bcl_core::JensenShannonLoss); Robinson et al., [Contrastive Learning with Hard Negative
/// Samples](https://arxiv.org/abs/2010.04592), for other weights of the negatives.
#[derive(Module, Debug)]
pub struct InfoGraph {
    /// The encoder.
    pub encoder: Gin,
    /// The head of node embeddings.
    pub node_head: ResidualHead,
    /// The head of graph embeddings.
    pub graph_head: ResidualHead,
    /// How nodes and graphs are compared.
    #[module(skip)]
    pub similarity: Similarity,
}

impl InfoGraph {
    /// Names of the tables: projections of the anchors, `[num_anchors, dim]`, and of the graphs, `[num_graphs, dim]`; unit rows for cosines.
    pub const TABLES: [&'static str; 2] = ["nodes", "graphs"];
}

impl Method for InfoGraph {
    type Encoder = Gin;
    type Batch = GraphBatch;
    type Part = GraphBatch;

    const EMBEDS_WHOLE_BATCH: bool = true;

    fn encoder(&self) -> &Gin {
        &self.encoder
    }

    /// Returns the whole batch as the only part, so that batch normalisation covers all its nodes.
    fn parts(batch: &GraphBatch, _: usize) -> impl Iterator<Item = GraphBatch> {
        iter::once(batch.clone())
    }

    fn embed(&self, batch: &GraphBatch) -> Embeddings {
        let embeddings = self.encoder.forward(&batch.input, batch.mode);
        let nodes = match &batch.anchors {
            Some(anchors) => embeddings.nodes.select(0, anchors.clone()),
            None => embeddings.nodes,
        };
        let projected = [self.node_head.forward(nodes), self.graph_head.forward(embeddings.graphs)];
        let [nodes, graphs] = projected.map(|rows| self.similarity.prepare(rows));
        Embeddings::new().with(Self::TABLES[0], nodes).with(Self::TABLES[1], graphs)
    }

    fn num_anchors(&self, batch: &GraphBatch) -> usize {
        batch.num_anchors()
    }

    /// Cuts the own graph out of each row, so that every anchor has the same number of negatives and none is masked: estimators that rank
    /// then need one table of weights. The order of negatives does not matter, so the last graph takes the place of the own one.
    fn objective(&self, batch: &GraphBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let [nodes, graphs] = Self::TABLES.map(|name| embeddings.rows(name));
        let num_negatives = batch.num_graphs() - 1;
        let own = batch.own_graphs(anchors.clone(), &nodes.device());
        let scores = matmul(rows_of(nodes, anchors), graphs.transpose());
        let positives = scores.clone().gather(1, own.clone());
        let last = scores.clone().slice_dim(1, num_negatives..=num_negatives);
        let columns = Tensor::<1, Int>::arange(0..num_negatives as i64, &own.device()).unsqueeze::<2>();
        let [num_anchors, _] = own.dims();
        let is_own = own
            .expand([num_anchors, num_negatives])
            .equal(columns.expand([num_anchors, num_negatives]));
        let negatives = scores
            .slice_dim(1, 0..num_negatives)
            .mask_where(is_own, last.expand([num_anchors, num_negatives]));
        let scores = Scores::multi_positive(positives, negatives).with_least_similarity(self.similarity.least());
        Objective::Pairs(scores.into())
    }

    fn same_class(&self, batch: &GraphBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        batch.same_class(anchors, device)
    }

    fn tensors(batch: &GraphBatch) -> NamedTensors {
        let graphs: Vec<i64> = batch.graphs.iter().map(|&graph| graph.into()).collect();
        NamedTensors::default()
            .with("graphs", TensorData::from(&*graphs))
            .with("features", batch.input.features.to_data())
    }
}

#[cfg(test)]
mod tests;
