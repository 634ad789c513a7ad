//! A batch of graphs as one graph with block-diagonal adjacency.

use super::data::{Graph, GraphData};

/// Several graphs as one: their nodes one after the other, and a block-diagonal adjacency matrix in compressed sparse rows (CSR).
///
/// All entries of the matrix are 1. It is symmetric, so the same arrays are also its transpose.
///
/// # Shapes
/// With `G` graphs, `n` nodes, `m` directed edges and `F` features:
/// - `graphs`:       `[G]`
/// - `node_offsets`: `[G + 1]`
/// - `node_graph`:   `[n]`
/// - `edge_offsets`: `[n + 1]`
/// - `neighbours`:   `[m]`
/// - `features`:     `[n, F]`, row by row
/// - `labels`:       `[G]`; `[0]` without labels
///
/// ```
/// use bcl_data::graphs::{GraphData, LabelledGraph};
///
/// let edge = LabelledGraph { num_nodes: 2, edges: vec![(0, 1)], node_labels: vec![0, 1], class: 0 };
/// let node = LabelledGraph { num_nodes: 1, node_labels: vec![1], ..LabelledGraph::default() };
/// let batch = GraphData::from_graphs("small", ["only"], [edge, node]).batch(&[1, 0, 0]);
///
/// assert_eq!(batch.node_offsets, [0, 1, 3, 5]);
/// assert_eq!(batch.node_graph, [0, 1, 1, 2, 2]);
/// assert_eq!(batch.edge_offsets, [0, 0, 1, 2, 3, 4]);
/// assert_eq!(batch.neighbours, [2, 1, 4, 3]);
/// assert_eq!(batch.features[..4], [0.0, 1.0, 1.0, 0.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GraphBatch {
    /// Indices of the graphs in their collection.
    pub graphs: Vec<u32>,
    /// The first node of each graph, then the number of nodes.
    pub node_offsets: Vec<usize>,
    /// The position in the batch of each node's graph; ascending.
    pub node_graph: Vec<u32>,
    /// The first entry of each node in `neighbours`, then their number.
    pub edge_offsets: Vec<usize>,
    /// The neighbours of each node, numbered within the batch; ascending within each node.
    pub neighbours: Vec<u32>,
    /// The features of each node.
    pub features: Vec<f32>,
    /// Number of feature columns.
    pub num_features: usize,
    /// The class of each graph; empty without labels.
    pub labels: Vec<u32>,
}

impl GraphData {
    /// All graphs as one batch with block-diagonal adjacency, in the order of `graphs`.
    ///
    /// # Panics
    /// Panics if an index is not below [`num_graphs`](Self::num_graphs), or if the batch would have more than `u32::MAX` nodes.
    pub fn batch(&self, graphs: &[u32]) -> GraphBatch {
        GraphBatch::new(self, graphs)
    }
}

impl GraphBatch {
    fn new(data: &GraphData, graphs: &[u32]) -> Self {
        let all = || graphs.iter().map(|&graph| data.graph(graph));
        let num_nodes = all().map(Graph::num_nodes).sum();
        let mut batch = Self::with_room(data, graphs, num_nodes);
        batch.neighbours.reserve(all().map(|graph| 2 * graph.num_edges()).sum());
        batch.features = vec![0.0; num_nodes * batch.num_features];
        let mut rows = batch.features.chunks_mut(batch.num_features.max(1));
        for graph in all() {
            for (node, row) in (0..graph.num_nodes() as u32).zip(&mut rows) {
                graph.write_features(node, row);
            }
        }
        for graph in all() {
            batch.push((0..graph.num_nodes() as u32).map(|node| graph.neighbours(node)));
        }
        batch
    }

    /// A batch of these graphs before their nodes are added, with room for so many.
    ///
    /// # Panics
    /// Panics if there are more than `u32::MAX` nodes.
    pub(super) fn with_room(data: &GraphData, graphs: &[u32], num_nodes: usize) -> Self {
        assert!(
            u32::try_from(num_nodes).is_ok(),
            "the batch has {num_nodes} nodes, but may have at most {}",
            u32::MAX
        );
        let num_features = data.num_features();
        let mut batch = Self {
            graphs: graphs.to_vec(),
            node_offsets: Vec::with_capacity(graphs.len() + 1),
            node_graph: Vec::with_capacity(num_nodes),
            edge_offsets: Vec::with_capacity(num_nodes + 1),
            neighbours: Vec::new(),
            features: Vec::new(),
            num_features,
            labels: graphs.iter().filter_map(|&graph| data.graph(graph).class()).collect(),
        };
        batch.node_offsets.push(0);
        batch.edge_offsets.push(0);
        batch
    }

    /// Adds the nodes of the next graph, by the neighbours of each, which are numbered within the graph.
    pub(super) fn push<'a>(&mut self, nodes: impl Iterator<Item = &'a [u32]>) {
        let first = self.node_graph.len() as u32;
        let position = self.node_offsets.len() as u32 - 1;
        for neighbours in nodes {
            self.neighbours.extend(neighbours.iter().map(|neighbour| neighbour + first));
            self.edge_offsets.push(self.neighbours.len());
            self.node_graph.push(position);
        }
        self.node_offsets.push(self.node_graph.len());
    }

    /// Number of graphs.
    pub fn num_graphs(&self) -> usize {
        self.graphs.len()
    }

    /// Number of nodes of all graphs.
    pub fn num_nodes(&self) -> usize {
        self.node_graph.len()
    }
}
