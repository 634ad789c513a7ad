//! Scores items by embeddings.

use super::{DotProducts, Scorer};
use bcl_core::matmul;
use bcl_models::Embeddings;
use burn::{
    backend::DispatchDevice,
    tensor::{DType, Int, Tensor, TensorData},
};

/// Scores items for users by the dot product of their embeddings.
#[derive(Debug)]
pub struct EmbeddingScorer {
    users: Tensor<2>,
    items_transposed: Tensor<2>,
    num_items: usize,
    /// On the CPU, in single precision.
    on_host: Option<DotProducts>,
}

impl EmbeddingScorer {
    /// Creates a scorer from embeddings that are prepared so that their dot product is the similarity.
    pub fn new(embeddings: Embeddings) -> Self {
        let [num_items, _] = embeddings.items.dims();
        Self {
            on_host: on_host(&embeddings),
            users: embeddings.users,
            items_transposed: embeddings.items.transpose(),
            num_items,
        }
    }
}

/// The vectors themselves, if the CPU computes. A GPU computes whole rows of scores.
fn on_host(embeddings: &Embeddings) -> Option<DotProducts> {
    let device = embeddings.users.device().without_autodiff();
    let [_, dim] = embeddings.users.dims();
    let is_host = matches!(device.as_dispatch(), DispatchDevice::Flex(_)) && embeddings.users.dtype() == DType::F32 && dim > 0;
    let values = |table: &Tensor<2>| table.to_data().iter::<f32>().collect();
    is_host.then(|| DotProducts::new(values(&embeddings.users), values(&embeddings.items), dim))
}

impl Scorer for EmbeddingScorer {
    fn num_items(&self) -> usize {
        self.num_items
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        let ids: Vec<i32> = users.iter().map(|&user| user as i32).collect();
        let ids = Tensor::<1, Int>::from_data(TensorData::from(ids.as_slice()), &self.users.device());
        let users = self.users.clone().select(0, ids);
        let scores = matmul(users, self.items_transposed.clone()).into_data();
        out.clear();
        match scores.as_slice::<f32>() {
            Ok(values) => out.extend_from_slice(values),
            Err(_) => out.extend(scores.iter::<f32>()),
        }
    }

    fn dot_products(&self) -> Option<&DotProducts> {
        self.on_host.as_ref()
    }
}
