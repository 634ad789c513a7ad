//! Losses of nodes against graphs.

use super::{batch::node_offsets, checks::table};
use crate::{Array, Estimator, Gradient};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Embeddings of nodes and graphs, after their heads.
#[derive(Debug)]
pub struct NodesAndGraphs {
    /// The graph of each node, `[num_nodes]`.
    pub node_graph: Vec<usize>,
    /// `[num_nodes, dim]`
    pub nodes: Array,
    /// `[num_graphs, dim]`
    pub graphs: Array,
}

/// A loss of each node: its own graph is the positive, the other graphs are the negatives.
#[derive(Debug)]
pub struct GraphLoss {
    /// `nce`, `jsd` or `jsd_official`.
    pub objective: String,
    /// Whether scores are cosines instead of dot products.
    pub is_cosine: bool,
    /// The estimator that weights negatives. Objectives without a temperature have one of 1.
    pub estimator: Estimator,
}

/// A loss of given embeddings.
#[derive(Debug)]
pub struct GraphLossCase {
    /// Its name.
    pub id: String,
    pub(super) shape: String,
    /// The loss.
    pub loss: GraphLoss,
    /// Mean over nodes.
    pub value: f64,
    /// The mean minus `2 log 2`, as the code of `InfoGraph` prints it, if it is its loss.
    pub printed: Option<f64>,
    /// Number of nodes at the floor of the estimator, if counted.
    pub floored: Option<usize>,
    /// Gradients with respect to nodes and graphs.
    pub gradients: [Gradient; 2],
}

#[derive(Deserialize)]
pub(super) struct RawEmbeddings {
    graph_sizes: Vec<usize>,
    node_graph: Vec<usize>,
    nodes: Vec<Vec<f64>>,
    graphs: Vec<Vec<f64>>,
}

/// A loss of a pipeline.
#[derive(Deserialize)]
pub(super) struct RawLoss {
    objective: String,
    similarity: String,
    #[serde(rename = "loss")]
    pub(super) value: f64,
    pub(super) scores: Vec<Vec<f64>>,
    pub(super) local: Vec<Vec<f64>>,
    pub(super) whole: Vec<Vec<f64>>,
    pub(super) gradients: BTreeMap<String, Gradient>,
    #[serde(flatten)]
    estimator: Estimator,
}

#[derive(Deserialize)]
pub(super) struct RawCase {
    id: String,
    shape: String,
    objective: String,
    similarity: String,
    #[serde(rename = "loss")]
    value: f64,
    #[serde(rename = "loss_infograph")]
    printed: Option<f64>,
    #[serde(rename = "active_floors")]
    floored: Option<usize>,
    grad_1: Gradient,
    grad_2: Gradient,
    #[serde(flatten)]
    estimator: Estimator,
}

impl NodesAndGraphs {
    pub(super) fn new(raw: RawEmbeddings) -> Result<Self, String> {
        node_offsets(&raw.graph_sizes, &raw.node_graph)?;
        let dim = raw.nodes.first().map_or(0, Vec::len);
        let num_graphs = raw.graph_sizes.len();
        if dim == 0 || num_graphs < 2 {
            return Err("it needs at least 2 graphs and embeddings of at least 1 number".to_owned());
        }
        Ok(Self {
            nodes: table("nodes", raw.nodes, [raw.node_graph.len(), dim])?,
            graphs: table("graphs", raw.graphs, [num_graphs, dim])?,
            node_graph: raw.node_graph,
        })
    }
}

impl RawLoss {
    pub(super) fn loss(&self) -> Result<GraphLoss, String> {
        GraphLoss::new(&self.objective, &self.similarity, self.estimator.clone())
    }
}

impl GraphLoss {
    fn new(objective: &str, similarity: &str, mut estimator: Estimator) -> Result<Self, String> {
        let mut objective = objective.to_owned();
        if objective == "jsd" {
            estimator.beside.entry("t").or_insert_with(|| 1.0.into());
            if estimator.est == "hcl_official" {
                "hcl".clone_into(&mut estimator.est);
                objective.push_str("_official");
            }
        }
        let is_cosine = match similarity {
            "cosine" => true,
            "dot" => false,
            other => return Err(format!("its similarity `{other}` is unknown; known are cosine, dot")),
        };
        Ok(Self {
            objective,
            is_cosine,
            estimator,
        })
    }
}

impl GraphLossCase {
    pub(super) fn new(raw: RawCase, embeddings: &BTreeMap<String, NodesAndGraphs>) -> Result<Self, String> {
        let Some(of_shape) = embeddings.get(&raw.shape) else {
            return Err(format!("its shape `{}` is not among `shapes`", raw.shape));
        };
        raw.grad_1.check("grad_1", of_shape.nodes.values.len())?;
        raw.grad_2.check("grad_2", of_shape.graphs.values.len())?;
        Ok(Self {
            loss: GraphLoss::new(&raw.objective, &raw.similarity, raw.estimator)?,
            id: raw.id,
            shape: raw.shape,
            value: raw.value,
            printed: raw.printed,
            floored: raw.floored,
            gradients: [raw.grad_1, raw.grad_2],
        })
    }
}
