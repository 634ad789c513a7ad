//! How the embeddings of a user and an item are compared.

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
            // The square is bounded from below, not the root: the root's slope at zero is infinite.
            Self::Cosine => {
                let norms = embeddings.clone().square().sum_dim(1).clamp_min(1e-24).sqrt();
                embeddings / norms
            }
            Self::Dot => embeddings,
        }
    }
}
