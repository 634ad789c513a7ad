//! Ranking evaluation: every item a user has not trained on is ranked, and the held-out ones should come first.
//!
//! Whatever can score items is a [`Scorer`]: a trained encoder, [`Popularity`](crate::baselines::Popularity),
//! [`Ease`](crate::baselines::Ease). [`RankingEvaluator`] turns one into [`Metrics`](bcl_report::result::Metrics), and [`top_items`]
//! lists what one user should see.
//!
//! # Invariants
//! - Scores of all users at once never exist: users come in blocks of about 32 MB of scores.
//! - Equal scores rank by item id, and sums run in the order of the users, so figures are the same bits on any number of threads.
//! - A score that is not a number is an error and never a place in a ranking.

mod error;
mod evaluator;
mod recommend;
mod scorer;
mod spread;
#[cfg(test)]
mod tests;
mod top_k;
mod user_metrics;

pub use error::RankingError;
pub use evaluator::RankingEvaluator;
pub use recommend::top_items;
pub use scorer::Scorer;
pub use top_k::RankedItem;
