//! LightGCN: embeddings are averaged over rounds of propagation along the interactions.

use crate::{Similarity, Tables};
use bcl_kernels::{SparseMatrix, sparse_matmul};
use burn::{module::Module, tensor::Tensor};

/// LightGCN: with `E^(0)` the trained tables and `Â = D^-1/2 A D^-1/2` the normalised graph,
///
/// ```text
/// E^(k+1) = Â E^(k),    E = (E^(0) + … + E^(K)) / (K + 1)
/// ```
///
/// Source: He et al., LightGCN: Simplifying and Powering Graph Convolution Network for Recommendation.
#[derive(Module, Debug)]
pub struct LightGcn {
    /// The tables `E^(0)`.
    pub tables: Tables,
    /// `Â`, over users followed by items.
    #[module(skip)]
    pub adjacency: SparseMatrix,
    /// K, the number of propagation layers.
    #[module(skip)]
    pub layers: usize,
    /// How a user and an item are compared.
    #[module(skip)]
    pub similarity: Similarity,
}

impl LightGcn {
    /// The propagated embeddings of users and items, not yet normalised.
    ///
    /// # Shapes
    /// - output: `[num_users, dim]`, `[num_items, dim]`
    pub fn propagate(&self) -> (Tensor<2>, Tensor<2>) {
        let (users, items) = (self.tables.users.val(), self.tables.items.val());
        let ([num_users, dim], [num_items, _]) = (users.dims(), items.dims());
        let mut layer = Tensor::cat(vec![users, items], 0);
        let mut sum = layer.clone();
        for _ in 0..self.layers {
            layer = sparse_matmul(&self.adjacency, layer);
            sum = sum + layer.clone();
        }
        let mean = sum / (self.layers + 1) as f64;
        let users = mean.clone().slice([0..num_users, 0..dim]);
        let items = mean.slice([num_users..num_users + num_items, 0..dim]);
        (users, items)
    }
}
