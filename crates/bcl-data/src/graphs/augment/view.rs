//! One view of a graph.

use crate::graphs::Graph;

/// A changed copy of a graph, with its nodes numbered from 0.
///
/// Each edge is stored in both directions, without self-loops and repeats, as in [`GraphData`](crate::graphs::GraphData).
#[derive(Debug, Clone, PartialEq)]
pub struct GraphView {
    /// `[num_nodes + 1]`
    edge_offsets: Vec<usize>,
    /// `[num_directed_edges]`, ascending within each node
    neighbours: Vec<u32>,
    /// `[num_nodes, num_features]`
    features: Vec<f32>,
    num_features: usize,
}

impl GraphView {
    /// The whole graph, unchanged.
    pub(super) fn of(graph: Graph<'_>) -> Self {
        let nodes: Vec<u32> = (0..graph.num_nodes() as u32).collect();
        Self::induced(graph, &nodes)
    }

    /// Some nodes, in ascending order, with the edges between them.
    pub(super) fn induced(graph: Graph<'_>, nodes: &[u32]) -> Self {
        let num_features = graph.num_features();
        let mut number = vec![None; graph.num_nodes()];
        for (new, &node) in (0..).zip(nodes) {
            number[node as usize] = Some(new);
        }
        let (mut edge_offsets, mut neighbours) = (vec![0], Vec::new());
        let mut features = vec![0.0; nodes.len() * num_features];
        for (new, &node) in nodes.iter().enumerate() {
            neighbours.extend(graph.neighbours(node).iter().filter_map(|&other| number[other as usize]));
            edge_offsets.push(neighbours.len());
            graph.write_features(node, &mut features[new * num_features..(new + 1) * num_features]);
        }
        Self {
            edge_offsets,
            neighbours,
            features,
            num_features,
        }
    }

    /// Replaces the edges by others, each given once.
    pub(super) fn with_edges(self, edges: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut directed: Vec<(u32, u32)> = edges.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        directed.sort_unstable();
        let ends = (0..self.num_nodes() as u32).map(|node| directed.partition_point(|&(row, _)| row <= node));
        Self {
            edge_offsets: [0].into_iter().chain(ends).collect(),
            neighbours: directed.into_iter().map(|(_, column)| column).collect(),
            ..self
        }
    }

    /// Number of nodes, at least 1.
    pub fn num_nodes(&self) -> usize {
        self.edge_offsets.len() - 1
    }

    /// Number of undirected edges.
    pub fn num_edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The neighbours of `node`, in ascending order.
    ///
    /// # Panics
    /// Panics if `node` is not below [`num_nodes`](Self::num_nodes).
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.edge_offsets[node]..self.edge_offsets[node + 1]]
    }

    /// The features of all nodes, row by row. `[num_nodes, num_features]`
    pub fn features(&self) -> &[f32] {
        &self.features
    }

    pub(super) fn features_mut(&mut self, node: usize) -> &mut [f32] {
        &mut self.features[node * self.num_features..(node + 1) * self.num_features]
    }
}
