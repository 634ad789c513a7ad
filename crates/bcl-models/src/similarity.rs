//! How the embeddings of a user and an item are compared.

use bcl_kernels::unit_rows;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How the embeddings of a user and an item are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Similarity {
    /// Dot product of the L2-normalised embeddings, in [-1, 1].
    #[default]
    Cosine,
    /// Plain dot product.
    Dot,
}

impl Similarity {
    /// Brings embeddings into the form in which a dot product is this similarity.
    ///
    /// # Shapes
    /// - embeddings: `[num_embeddings, dim]`
    /// - output:     `[num_embeddings, dim]`, rows of unit length for [`Similarity::Cosine`], rows of zeros kept
    pub fn prepare(self, embeddings: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Cosine => unit_rows(embeddings),
            Self::Dot => embeddings,
        }
    }
}
