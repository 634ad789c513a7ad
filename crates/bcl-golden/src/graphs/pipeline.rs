//! An encoder with its heads and losses.

use super::{
    batch::GraphBatch,
    checks::{check_gradients, table},
    loss::{GraphLoss, RawLoss},
    network::{Gin, Head, RawGin, RawHead, batch},
};
use crate::{Array, Gradient};
use serde::Deserialize;
use std::collections::BTreeMap;

/// An encoder, its heads, and losses on a batch, with gradients for all weights.
#[derive(Debug)]
pub struct Pipeline {
    /// Its name.
    pub id: String,
    pub(super) batch: String,
    /// The encoder, in train mode.
    pub encoder: Gin,
    /// The head of nodes.
    pub local: Head,
    /// The head of graphs.
    pub whole: Head,
    /// What they lead to.
    pub losses: Vec<PipelineLoss>,
}

/// A loss of a [`Pipeline`].
#[derive(Debug)]
pub struct PipelineLoss {
    /// The loss.
    pub loss: GraphLoss,
    /// Mean over nodes.
    pub value: f64,
    /// The output of the head of nodes, `[num_nodes, dim]`.
    pub local: Array,
    /// The output of the head of graphs, `[num_graphs, dim]`.
    pub whole: Array,
    /// Dot products of each node with each graph, `[num_nodes, num_graphs]`, also where the loss compares cosines.
    pub products: Array,
    /// Gradients by the names of weights, `layers.0.w1` or `local.shortcut_bias`.
    pub gradients: BTreeMap<String, Gradient>,
}

#[derive(Deserialize)]
pub(super) struct RawPipeline {
    id: String,
    batch: String,
    #[serde(flatten)]
    encoder: RawGin,
    local: RawHead,
    whole: RawHead,
    losses: Vec<RawLoss>,
}

impl Pipeline {
    pub(super) fn new(raw: RawPipeline, batches: &BTreeMap<String, GraphBatch>) -> Result<Self, String> {
        let batch = batch(batches, &raw.batch)?;
        let encoder = Gin::new(raw.encoder, batch.features.shape[1])?;
        let dim = encoder.dim();
        let [local, whole] = [("local", raw.local), ("whole", raw.whole)].map(|(name, head)| Head::new(head, name, dim));
        let (local, whole) = (local?, whole?);
        let mut lengths = encoder.lengths();
        lengths.extend(local.lengths("local"));
        lengths.extend(whole.lengths("whole"));
        let (nodes, graphs) = (batch.num_nodes(), batch.num_graphs());
        if graphs < 2 {
            return Err("a loss needs a batch of at least 2 graphs".to_owned());
        }
        let loss = |raw: RawLoss| -> Result<PipelineLoss, String> {
            let loss = raw.loss()?;
            check_gradients(&raw.gradients, &lengths)?;
            Ok(PipelineLoss {
                local: table("local", raw.local, [nodes, dim])?,
                whole: table("whole", raw.whole, [graphs, dim])?,
                products: table("scores", raw.scores, [nodes, graphs])?,
                value: raw.value,
                gradients: raw.gradients,
                loss,
            })
        };
        Ok(Self {
            losses: raw.losses.into_iter().map(loss).collect::<Result<_, _>>()?,
            id: raw.id,
            batch: raw.batch,
            encoder,
            local,
            whole,
        })
    }
}
