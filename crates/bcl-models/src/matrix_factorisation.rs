//! Matrix factorisation: an embedding is its row of a table.

use crate::{Similarity, Tables};
use burn::module::Module;

/// Matrix factorisation: users and items are rows of two trained tables.
#[derive(Module, Debug)]
pub struct MatrixFactorisation {
    /// The tables.
    pub tables: Tables,
    /// How a user and an item are compared.
    #[module(skip)]
    pub similarity: Similarity,
}
