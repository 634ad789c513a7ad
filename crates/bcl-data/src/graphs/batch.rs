//! A batch of graphs as one graph with block-diagonal adjacency.

use super::data::GraphData;

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
        let nodes: usize = graphs.iter().map(|&graph| data.nodes_of(graph)).sum();
        let edges: usize = graphs.iter().map(|&graph| 2 * data.graph(graph).num_edges()).sum();
        assert!(
            u32::try_from(nodes).is_ok(),
            "the batch has {nodes} nodes, but may have at most {}",
            u32::MAX
        );
        let num_features = data.num_features();
        let mut batch = Self {
            graphs: graphs.to_vec(),
            node_offsets: Vec::with_capacity(graphs.len() + 1),
            node_graph: Vec::with_capacity(nodes),
            edge_offsets: Vec::with_capacity(nodes + 1),
            neighbours: Vec::with_capacity(edges),
            features: vec![0.0; nodes * num_features],
            num_features,
            labels: graphs.iter().filter_map(|&graph| data.graph(graph).class()).collect(),
        };
        batch.node_offsets.push(0);
        batch.edge_offsets.push(0);
        let mut first = 0;
        for (position, &graph) in (0..).zip(graphs) {
            let start = data.node_offsets[graph as usize];
            for node in start..data.node_offsets[graph as usize + 1] {
                let of_node = &data.neighbours[data.edge_offsets[node]..data.edge_offsets[node + 1]];
                batch.neighbours.extend(of_node.iter().map(|neighbour| neighbour + first));
                batch.edge_offsets.push(batch.neighbours.len());
                let row = batch.node_graph.len() * num_features;
                let row = &mut batch.features[row..row + num_features];
                data.columns.write(data.attributes.as_ref(), node, row);
                batch.node_graph.push(position);
            }
            first = batch.node_graph.len() as u32;
            batch.node_offsets.push(batch.node_graph.len());
        }
        batch
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
