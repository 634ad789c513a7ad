//! The interface that all encoders of users and items share.

use crate::{LightGcn, MatrixFactorisation, Similarity, Tables, compare_sampled, compare_shared};
use bcl_kernels::gather_rows;
use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

/// An encoder of users and items, of any kind.
#[derive(Module, Debug)]
#[non_exhaustive]
pub enum Recommender {
    /// Matrix factorisation.
    Mf(MatrixFactorisation),
    /// LightGCN.
    LightGcn(LightGcn),
}

/// Embeddings whose dot product is the similarity.
#[derive(Debug, Clone)]
pub struct Embeddings {
    /// `[num_users, dim]`
    pub users: Tensor<2>,
    /// `[num_items, dim]`
    pub items: Tensor<2>,
}

impl Recommender {
    /// The embeddings of all users and items, L2-normalised if the similarity is cosine.
    pub fn embeddings(&self) -> Embeddings {
        let (users, items) = self.encode();
        let similarity = self.similarity();
        Embeddings {
            users: similarity.prepare(users),
            items: similarity.prepare(items),
        }
    }

    /// The embeddings of the given users and of all items, L2-normalised if the similarity is cosine. [`compare_sampled`] and
    /// [`compare_shared`] compute scores from them.
    ///
    /// All items are normalised because a batch has many more negatives, most of them drawn several times.
    ///
    /// # Shapes
    /// - users:  `[batch_size]`
    /// - output: `[batch_size, dim]`, `[num_items, dim]`
    pub fn anchors_and_items(&self, users: Tensor<1, Int>) -> [Tensor<2>; 2] {
        let (user_table, items) = self.encode();
        let similarity = self.similarity();
        [similarity.prepare(gather_rows(user_table, users)), similarity.prepare(items)]
    }

    /// Similarities of users with their positives and with each user's own negatives.
    ///
    /// # Shapes
    /// - users, positives: `[batch_size]`
    /// - negatives:        `[batch_size, num_negatives]`
    /// - output:           `[batch_size]`, `[batch_size, num_negatives]`
    pub fn score_batch(
        &self,
        users: Tensor<1, Int>,
        positives: Tensor<1, Int>,
        negatives: Tensor<2, Int>,
    ) -> (Tensor<1>, Tensor<2>) {
        let [anchors, items] = self.anchors_and_items(users);
        compare_sampled(anchors, items, positives, negatives)
    }

    /// Similarities of users with their positives and with negatives that all users share.
    ///
    /// # Shapes
    /// - users, positives: `[batch_size]`
    /// - negatives:        `[num_negatives]`
    /// - output:           `[batch_size]`, `[batch_size, num_negatives]`
    pub fn score_shared(
        &self,
        users: Tensor<1, Int>,
        positives: Tensor<1, Int>,
        negatives: Tensor<1, Int>,
    ) -> (Tensor<1>, Tensor<2>) {
        let [anchors, items] = self.anchors_and_items(users);
        compare_shared(anchors, items, positives, negatives)
    }

    /// Rows of the trained tables, before any propagation, for example for an L2 penalty.
    ///
    /// # Shapes
    /// - users, items: `[num_read]`
    /// - output:       `[num_read, dim]` each
    pub fn table_rows(&self, users: Tensor<1, Int>, items: Tensor<1, Int>) -> (Tensor<2>, Tensor<2>) {
        self.tables().rows(users, items)
    }

    /// The similarity of a user and an item.
    pub fn similarity(&self) -> Similarity {
        match self {
            Self::Mf(model) => model.similarity,
            Self::LightGcn(model) => model.similarity,
        }
    }

    /// The trained tables.
    pub fn tables(&self) -> &Tables {
        match self {
            Self::Mf(model) => &model.tables,
            Self::LightGcn(model) => &model.tables,
        }
    }

    /// The output of the encoder before normalisation.
    fn encode(&self) -> (Tensor<2>, Tensor<2>) {
        match self {
            Self::Mf(model) => (model.tables.users.val(), model.tables.items.val()),
            Self::LightGcn(model) => model.propagate(),
        }
    }
}
