//! Ranking evaluation: ranks all items except a user's training items, and measures how high the held-out items are.
//!
//! Anything that scores items for users is a [`Scorer`]: [embeddings](EmbeddingScorer), [`Popularity`](crate::baselines::Popularity),
//! [`Ease`](crate::baselines::Ease). [`RankingEvaluator`] computes its [`Metrics`](bcl_report::result::Metrics), [`top_items`]
//! recommends items to one user, and [`TopItems`] to many.
//!
//! # Invariants
//! - The scores of all users never exist at once: users are processed in blocks of about 32 MB of scores, or, if scores are dot products on
//!   the CPU, in tiles of 256 KiB per thread.
//! - Ties are ordered by an [`ItemOrder`], by default the items' numbers, and sums are taken in the order of the users, so results are
//!   bit-identical on any number of threads.
//! - A NaN score is an error; it never enters a ranking.

mod blocks;
mod config;
mod coverage;
mod dot_products;
mod embeddings;
mod error;
mod evaluator;
mod item_order;
mod macro_auc;
mod on_processes;
mod recommend;
mod scorer;
#[cfg(test)]
mod tests;
mod user_metrics;
mod wanted;

pub use crate::top_k::RankedItem;
pub use blocks::TopItems;
pub use config::{BaselineKind, RankingEvaluationConfig, check_cutoffs};
pub use dot_products::DotProducts;
pub use embeddings::EmbeddingScorer;
pub use error::RankingError;
pub use evaluator::RankingEvaluator;
pub use item_order::ItemOrder;
pub use recommend::top_items;
pub use scorer::Scorer;
