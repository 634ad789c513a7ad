//! LightGCN: averages embeddings over layers of propagation along the interactions.

use crate::{Similarity, Tables};
use bcl_kernels::{SparseMatrix, propagate};
use burn::{module::Module, tensor::Tensor};

/// LightGCN, with the trained tables `E^(0)` and the normalised graph `Â = D^-1/2 A D^-1/2`:
///
/// ```text
/// E^(k+1) = Â E^(k),    E = (E^(0) + … + E^(K)) / (K + 1)
/// ```
///
/// Source: He et al., [LightGCN: Simplifying and Powering Graph Convolution Network for
/// Recommendation](https://arxiv.org/abs/2002.02126).
#[derive(Module, Debug)]
pub struct LightGcn {
    /// The trained embeddings `E^(0)`.
    pub tables: Tables,
    /// The block of `Â` from items to users, `[num_users, num_items]`; its transpose leads back.
    #[module(skip)]
    pub interactions: SparseMatrix,
    /// K, the number of propagation layers.
    #[module(skip)]
    pub layers: usize,
    /// The similarity of a user and an item.
    #[module(skip)]
    pub similarity: Similarity,
}

impl LightGcn {
    /// The propagated embeddings of users and items, before normalisation.
    ///
    /// # Shapes
    /// - output: `[num_users, dim]`, `[num_items, dim]`
    pub fn propagate(&self) -> (Tensor<2>, Tensor<2>) {
        propagate(
            &self.interactions,
            self.tables.users.val(),
            self.tables.items.val(),
            self.layers,
        )
    }
}
