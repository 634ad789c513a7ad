//! The nodes and edges of several graphs.

use bcl_kernels::SparseMatrix;
use burn::tensor::Tensor;

/// Several undirected graphs as one: the nodes of one graph after the other.
#[derive(Debug, Clone)]
pub struct GraphInput {
    /// Features of each node, `[num_nodes, num_features]`.
    pub features: Tensor<2>,
    /// 1 for each pair of neighbours, `[num_nodes, num_nodes]`; symmetric, without the diagonal.
    pub adjacency: SparseMatrix,
    /// 1 for each graph and each of its nodes, `[num_graphs, num_nodes]`: multiplying by it adds up the nodes of each graph.
    pub readout: SparseMatrix,
}

impl GraphInput {
    /// Builds both matrices with all that the backward pass needs, so that the thread that prepares batches does the work.
    ///
    /// # Shapes
    /// With `G` graphs, `n` nodes and `m` directed edges (each edge counts twice):
    /// - features:       `[n, num_features]`
    /// - `node_offsets`: `[G + 1]`, the first node of each graph, then `n`
    /// - `edge_offsets`: `[n + 1]`, the first entry of each node in `neighbours`, then `m`
    /// - neighbours:     `[m]`, the neighbours of each node, increasing within each node
    ///
    /// # Panics
    /// Panics if the lengths do not match, offsets decrease or do not start at 0, the neighbours of a node do not increase, or a neighbour is
    /// not mutual.
    pub fn new(features: Tensor<2>, node_offsets: &[usize], edge_offsets: Vec<usize>, neighbours: Vec<u32>) -> Self {
        let [num_nodes, _] = features.dims();
        assert!(!node_offsets.is_empty(), "without graphs, node_offsets must be [0]");
        assert_eq!(
            edge_offsets.len(),
            num_nodes + 1,
            "{num_nodes} nodes need {} edge offsets, but there are {}",
            num_nodes + 1,
            edge_offsets.len()
        );
        let nodes = (0..num_nodes as u32).collect();
        Self {
            features,
            adjacency: SparseMatrix::symmetric_ones(edge_offsets, neighbours),
            readout: SparseMatrix::ones(node_offsets.len() - 1, num_nodes, node_offsets.to_vec(), nodes).with_transpose(),
        }
    }

    /// Number of nodes of all graphs.
    pub fn num_nodes(&self) -> usize {
        self.features.dims()[0]
    }

    /// Number of graphs.
    pub fn num_graphs(&self) -> usize {
        self.readout.shape()[0]
    }
}
