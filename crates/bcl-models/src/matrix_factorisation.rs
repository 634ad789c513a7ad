//! Matrix factorisation: every user and item has a trained vector.

use crate::{Similarity, Tables};
use burn::module::Module;

/// Matrix factorisation: the embeddings of users and items are the rows of two trained tables.
#[derive(Module, Debug)]
pub struct MatrixFactorisation {
    /// The trained embeddings.
    pub tables: Tables,
    /// The similarity of a user and an item.
    #[module(skip)]
    pub similarity: Similarity,
}
