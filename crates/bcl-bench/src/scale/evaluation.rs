//! Measures the time to rank all items for users, beside the time of the matrix products.

use bcl_data::InteractionData;
use bcl_eval::ranking::{EmbeddingScorer, RankingEvaluator};
use bcl_models::Recommender;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use std::{hint::black_box, time::Instant};

/// Users per matrix product: their scores fit into the caches.
const USERS_PER_PRODUCT: usize = 64;

/// Ranking cutoff.
const CUTOFF: usize = 20;

/// Times of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EvaluationTime {
    /// Number of users for whom all items were ranked.
    pub users: usize,
    /// Time to rank them in seconds.
    pub seconds: f64,
    /// Time of the matrix products of the same users with all items in seconds.
    pub product_seconds: f64,
}

/// Ranks the items for all users with test interactions.
pub(super) fn measure(encoder: &Recommender, data: &InteractionData) -> Result<EvaluationTime, String> {
    let embeddings = encoder.embeddings();
    let evaluator = RankingEvaluator::new(&[CUTOFF], &data.train, &data.test);
    let scorer = EmbeddingScorer::new(embeddings.clone());
    let started = Instant::now();
    black_box(evaluator.evaluate(&scorer).map_err(|error| error.to_string())?);
    let seconds = started.elapsed().as_secs_f64();
    let users = evaluator.num_evaluated_users();
    Ok(EvaluationTime {
        users,
        seconds,
        product_seconds: products(embeddings.users, embeddings.items, users),
    })
}

/// Seconds to multiply the first `num_users` users with all items.
fn products(users: Tensor<2>, items: Tensor<2>, num_users: usize) -> f64 {
    let items = items.transpose();
    let started = Instant::now();
    for start in (0..num_users).step_by(USERS_PER_PRODUCT) {
        let block = users.clone().slice_dim(0, start..(start + USERS_PER_PRODUCT).min(num_users));
        black_box(block.matmul(items.clone()));
    }
    started.elapsed().as_secs_f64()
}
