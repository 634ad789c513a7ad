//! A batch of graphs.

use super::checks::table;
use crate::Array;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Several undirected graphs, whose nodes are numbered one graph after the other.
#[derive(Debug)]
pub struct GraphBatch {
    /// The first node of each graph, then the number of nodes, `[num_graphs + 1]`.
    pub node_offsets: Vec<usize>,
    /// The graph of each node, `[num_nodes]`.
    pub node_graph: Vec<usize>,
    /// The first entry of each node in `neighbours`, then their number, `[num_nodes + 1]`.
    pub edge_offsets: Vec<usize>,
    /// The neighbours of each node, ascending.
    pub neighbours: Vec<u32>,
    /// `[num_nodes, num_features]`
    pub features: Array,
}

#[derive(Deserialize)]
pub(super) struct RawBatch {
    graph_sizes: Vec<usize>,
    node_graph: Vec<usize>,
    edges: Vec<[u32; 2]>,
    features: Vec<Vec<f64>>,
}

impl GraphBatch {
    pub(super) fn new(raw: RawBatch) -> Result<Self, String> {
        let num_nodes = raw.node_graph.len();
        let num_features = raw.features.first().map_or(0, Vec::len);
        if num_nodes == 0 || num_features == 0 {
            return Err("it needs at least one node with one feature".to_owned());
        }
        let node_offsets = node_offsets(&raw.graph_sizes, &raw.node_graph)?;
        let edges: BTreeSet<[u32; 2]> = raw.edges.iter().copied().collect();
        if edges.len() != raw.edges.len() {
            return Err("an edge occurs twice".to_owned());
        }
        let mut edge_offsets = vec![0; num_nodes + 1];
        for &[source, target] in &edges {
            if source.max(target) as usize >= num_nodes {
                return Err(format!("the edge ({source}, {target}) is outside its {num_nodes} nodes"));
            }
            if !edges.contains(&[target, source]) {
                return Err(format!("the edge ({source}, {target}) has no reverse"));
            }
            edge_offsets[source as usize + 1] += 1;
        }
        for node in 0..num_nodes {
            edge_offsets[node + 1] += edge_offsets[node];
        }
        Ok(Self {
            features: table("features", raw.features, [num_nodes, num_features])?,
            node_graph: raw.node_graph,
            neighbours: edges.into_iter().map(|[_, target]| target).collect(),
            node_offsets,
            edge_offsets,
        })
    }

    /// Number of nodes of all graphs.
    pub fn num_nodes(&self) -> usize {
        self.node_graph.len()
    }

    /// Number of graphs.
    pub fn num_graphs(&self) -> usize {
        self.node_offsets.len() - 1
    }
}

/// The first node of each graph, then the number of nodes.
pub(super) fn node_offsets(graph_sizes: &[usize], node_graph: &[usize]) -> Result<Vec<usize>, String> {
    let num_nodes = node_graph.len();
    let sum = graph_sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
    let sizes = graph_sizes.iter().enumerate();
    if sum != Some(num_nodes)
        || !sizes
            .flat_map(|(graph, &size)| vec![graph; size])
            .eq(node_graph.iter().copied())
    {
        return Err("`graph_sizes` and `node_graph` contradict each other".to_owned());
    }
    let mut offsets = vec![0];
    for size in graph_sizes {
        offsets.push(offsets[offsets.len() - 1] + size);
    }
    Ok(offsets)
}
