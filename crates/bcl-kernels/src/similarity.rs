//! The choice between cosine similarity and dot product.

use crate::unit_rows;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How two embeddings are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Similarity {
    /// Dot product of the L2-normalised embeddings, in [-1, 1].
    #[default]
    Cosine,
    /// Plain dot product.
    Dot,
}

impl Similarity {
    /// Transforms embeddings so that their dot product is this similarity: [`unit_rows`] for [`Similarity::Cosine`].
    ///
    /// # Shapes
    /// - embeddings: `[num_embeddings, dim]`
    /// - output:     `[num_embeddings, dim]`
    pub fn prepare(self, embeddings: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Cosine => unit_rows(embeddings),
            Self::Dot => embeddings,
        }
    }

    /// The smallest value this similarity can take: -1 for cosine, `None` for the dot product.
    pub fn least(self) -> Option<f64> {
        match self {
            Self::Cosine => Some(-1.0),
            Self::Dot => None,
        }
    }
}
